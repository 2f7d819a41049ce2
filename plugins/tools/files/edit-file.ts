import {
  boolean,
  defaulted,
  doc,
  inTurns,
  object,
  optional,
  string,
  type Infer,
  type Portions,
} from '../../../core/plugin.js'
import { defineTool, type Tool } from '../../execution/tools/contract.js'
import { answer } from './answer.js'
import { isText, maxFileBytes, sha256 } from './content.js'
import { fileErrors } from './errors.js'
import { expectDigest, replaceFile } from './replace.js'
import { countFinds, replaceFinds } from './replace-bytes.js'
import type { FileSurroundings } from './surroundings.js'

const EditInput = object({
  path: doc(string({ min: 1, max: 4096 }), 'File, relative to the workspace.'),
  old_string: doc(
    string({ min: 1 }),
    'Text to replace, exactly as in the file. Must be there once, unless replace_all is true.',
  ),
  new_string: doc(string(), 'Text to put in its place.'),
  replace_all: doc(defaulted(boolean(), false), 'Replace every occurrence.'),
  expected_sha256: optional(doc(string({ pattern: '^[0-9a-f]{64}$' }), 'Edit only if the file now has this SHA-256.')),
})
type EditInput = Infer<typeof EditInput>

export interface Edited {
  readonly bytes: Buffer
  readonly count: number
}

/** Throws `text_unchanged`, `text_not_found`, `text_not_unique` or `file_too_large`. */
export function* editBytes(
  bytes: Uint8Array,
  { old_string, new_string, replace_all }: Pick<EditInput, 'old_string' | 'new_string' | 'replace_all'>,
): Portions<Edited> {
  if (old_string === new_string) throw fileErrors.text_unchanged()
  const [wanted, instead] = [Buffer.from(old_string), Buffer.from(new_string)]
  // Half a character is in no file, but what stands for it as bytes may be.
  const count = wanted.toString() === old_string ? yield* countFinds(bytes, wanted) : 0
  if (count === 0) throw fileErrors.text_not_found()
  if (count > 1 && !replace_all) throw fileErrors.text_not_unique({ details: { count } })
  const length = bytes.length + count * (instead.length - wanted.length)
  if (length > maxFileBytes) throw fileErrors.file_too_large({ details: { bytes: length, limit: maxFileBytes } })
  return { bytes: yield* replaceFinds(bytes, { wanted, instead, count }), count }
}

/** `once`: a repetition would replace again where the new text holds the old one. */
export const editFileTool = ({ locateToChange, locks }: FileSurroundings): Tool =>
  defineTool({
    name: 'edit_file',
    description:
      'Replaces a piece of text in a file of the workspace. Read the file first; old_string must match it exactly.',
    input: EditInput,
    effect: 'once',
    parallel: false,
    timeout_ms: 5_000,
    sandbox: 'workspace_write',
    subject: ({ path }) => ({ kind: 'path', value: path }),
    run: (input, call) =>
      answer(async () => {
        const place = await locateToChange(call, input.path)
        let replacements = 0
        const bytes = await locks.hold(place.real, () =>
          replaceFile({
            place,
            make: false,
            key: call.key,
            change: async (old) => {
              if (old === undefined) throw fileErrors.path_not_found()
              expectDigest(input.expected_sha256, old)
              if (!isText(old.bytes)) throw fileErrors.file_not_text()
              const edited = await inTurns(editBytes(old.bytes, input))
              replacements = edited.count
              return edited.bytes
            },
          }),
        )
        return { path: place.shown, replacements, bytes_written: bytes.length, sha256: sha256(bytes) }
      }),
  })
