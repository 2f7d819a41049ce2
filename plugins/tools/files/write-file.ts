import { doc, object, optional, string, type Infer } from '../../../core/plugin.js'
import { defineTool, type Tool } from '../../execution/tools/contract.js'
import { answer } from './answer.js'
import { maxFileBytes, sha256 } from './content.js'
import { fileErrors } from './errors.js'
import { expectDigest, replaceFile } from './replace.js'
import type { FileSurroundings } from './surroundings.js'

const WriteInput = object({
  path: doc(string({ min: 1, max: 4096 }), 'File, relative to the workspace; missing folders are created.'),
  content: optional(doc(string(), 'The whole new text. Give either this or content_base64.')),
  content_base64: optional(doc(string(), 'The whole new bytes in base64.')),
  expected_sha256: optional(doc(string({ pattern: '^[0-9a-f]{64}$' }), 'Write only if the file now has this SHA-256.')),
})
type WriteInput = Infer<typeof WriteInput>

const decode = (text: string): Buffer => {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64').replaceAll('=', '') !== text.replaceAll('=', '')) throw fileErrors.content_not_base64()
  return bytes
}

const bytesOf = ({ content, content_base64 }: WriteInput): Buffer => {
  if ((content === undefined) === (content_base64 === undefined)) throw fileErrors.content_ambiguous()
  const bytes = content === undefined ? decode(content_base64 ?? '') : Buffer.from(content)
  if (bytes.length > maxFileBytes)
    throw fileErrors.file_too_large({ details: { bytes: bytes.length, limit: maxFileBytes } })
  return bytes
}

/**
 * `idempotent`: the input holds the whole new content, so a repetition ends in
 * the same file. A file that already is the new content meets any expectation.
 */
export const writeFileTool = ({ locateToChange, locks }: FileSurroundings): Tool =>
  defineTool({
    name: 'write_file',
    description:
      'Creates a file of the workspace or replaces it whole. The file is never seen half-written. To change a ' +
      'part of a file use edit_file.',
    input: WriteInput,
    effect: 'idempotent',
    parallel: false,
    timeout_ms: 5_000,
    sandbox: 'workspace_write',
    subject: ({ path }) => ({ kind: 'path', value: path }),
    run: (input, call) =>
      answer(async () => {
        const bytes = bytesOf(input)
        const digest = sha256(bytes)
        const place = await locateToChange(call, input.path)
        await locks.hold(place.real, () =>
          replaceFile({
            place,
            make: true,
            key: call.key,
            change: (old) => {
              if (old !== undefined && sha256(old.bytes) === digest) return undefined
              expectDigest(input.expected_sha256, old)
              return bytes
            },
          }),
        )
        return { path: place.shown, bytes_written: bytes.length, sha256: digest }
      }),
  })
