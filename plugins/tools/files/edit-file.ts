import { boolean, defaulted, doc, object, optional, string, type Infer } from '../../../core/plugin.js'
import { defineTool, type Tool } from '../../execution/tools/contract.js'
import { answer } from './answer.js'
import { sha256, textOf } from './content.js'
import { fileErrors } from './errors.js'
import { expectDigest, replaceFile } from './replace.js'
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
  readonly text: string
  readonly count: number
}

/** Throws `text_unchanged`, `text_not_found` or `text_not_unique`. */
export const editText = (
  text: string,
  { old_string, new_string, replace_all }: Pick<EditInput, 'old_string' | 'new_string' | 'replace_all'>,
): Edited => {
  if (old_string === new_string) throw fileErrors.text_unchanged()
  const parts = text.split(old_string)
  const count = parts.length - 1
  if (count === 0) throw fileErrors.text_not_found()
  if (count > 1 && !replace_all) throw fileErrors.text_not_unique({ details: { count } })
  return { text: parts.join(new_string), count }
}

/** `once`: a repetition would replace again where the new text holds the old one. */
export const editFileTool = ({ locate, locks }: FileSurroundings): Tool =>
  defineTool({
    name: 'edit_file',
    description:
      'Replaces a piece of text in a file of the workspace. Read the file first; old_string must match it exactly.',
    input: EditInput,
    effect: 'once',
    parallel: false,
    timeout_ms: 5_000,
    sandbox: 'workspace_write',
    run: (input, call) =>
      answer(async () => {
        const place = await locate(call, input.path)
        let replacements = 0
        const bytes = await locks.hold(place.real, () =>
          replaceFile({
            place,
            make: false,
            key: call.key,
            change: (old) => {
              if (old === undefined) throw fileErrors.path_not_found()
              expectDigest(input.expected_sha256, old)
              const text = textOf(old.bytes)
              if (text === undefined) throw fileErrors.file_not_text()
              const edited = editText(text, input)
              replacements = edited.count
              return Buffer.from(edited.text)
            },
          }),
        )
        return { path: place.shown, replacements, bytes_written: bytes.length, sha256: sha256(bytes) }
      }),
  })
