import {
  boolean,
  defaulted,
  doc,
  integer,
  object,
  optional,
  string,
  type Infer,
  type JsonObject,
} from '../../../core/plugin.js'
import { defineTool, type Tool } from '../../execution/tools/contract.js'
import { answer } from './answer.js'
import { readPlace, sha256, textOf } from './content.js'
import { shownOf, type ShownFile } from './shown.js'
import type { FileSurroundings } from './surroundings.js'

/** Most bytes of text in one answer. */
const maxTextBytes = 256 * 1024
/** Largest file whose bytes are given as base64. */
const maxBase64Bytes = 4 * 1024 * 1024
const newline = 10

const ReadInput = object({
  path: doc(string({ min: 1, max: 4096 }), 'File, relative to the workspace.'),
  start_line: optional(doc(integer({ min: 1 }), 'First line to return, from 1.')),
  line_count: optional(doc(integer({ min: 1 }), 'Most lines to return.')),
  raw: doc(defaulted(boolean(), false), 'The text of the file itself, where cells of a notebook would be shown.'),
  include_base64: doc(defaulted(boolean(), false), 'Also return all bytes as base64, for files up to 4 MiB.'),
})
type ReadInput = Infer<typeof ReadInput>

/** The offset where line `line` (from 1) begins; the length if there is none. */
const lineStart = (text: string, line: number): number => {
  let left = line - 1
  // A look at each unit is several times as fast as a search for each end where lines are short.
  for (let at = 0; left > 0 && at < text.length; at += 1) {
    if (text.charCodeAt(at) !== newline) continue
    left -= 1
    if (left === 0) return at + 1
  }
  return left > 0 ? text.length : 0
}

const countLines = (text: string): number => {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) === newline) lines += 1
  return lines
}

/** At most `limit` bytes, ending at a line if that is possible, and never inside a character. */
const cut = (text: string, limit: number): string => {
  // A character takes a byte at least.
  const bytes = Buffer.from(text.slice(0, limit + 1))
  if (bytes.length <= limit) return text
  let end = limit
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  const whole = bytes.toString('utf8', 0, end)
  const line = whole.lastIndexOf('\n')
  return line < 0 ? whole : whole.slice(0, line + 1)
}

/** The asked lines of a text, and whether the text has more after them. */
export const sliceLines = (
  text: string,
  first: number,
  count: number | undefined,
): { content: string; truncated: boolean } => {
  const rest = text.slice(lineStart(text, first))
  const asked = count === undefined ? rest : rest.slice(0, lineStart(rest, count + 1))
  const content = cut(asked, maxTextBytes)
  return { content, truncated: content.length < rest.length }
}

/** A file, and what is shown in place of its bytes. */
interface Read {
  readonly bytes: Buffer
  readonly as: ShownFile | undefined
}

const view = (shown: string, { bytes, as }: Read, input: ReadInput): JsonObject => {
  const text = as?.text ?? textOf(bytes)
  const first = input.start_line ?? 1
  const { content, truncated } = sliceLines(text ?? '', first, input.line_count)
  const whole = input.include_base64 && bytes.length <= maxBase64Bytes
  return {
    path: shown,
    start_line: first,
    line_count: countLines(content),
    content,
    bytes_read: bytes.length,
    sha256: sha256(bytes),
    encoding: text === undefined ? 'binary' : 'utf-8',
    binary: text === undefined,
    ...(as !== undefined && { shown_as: as.shown_as }),
    truncated: truncated || (input.include_base64 && !whole),
    ...(whole && { content_base64: bytes.toString('base64') }),
  }
}

export const readFileTool = ({ locate, normalisers }: FileSurroundings): Tool =>
  defineTool({
    name: 'read_file',
    description:
      'Reads a file of the workspace, whole or some of its lines. Says its SHA-256; `truncated` means that the ' +
      'file goes on after the returned lines (ask again with start_line). A PDF is shown as its words, a Jupyter ' +
      'notebook as its cells with the text of their outputs, unless `raw` is set.',
    input: ReadInput,
    effect: 'read',
    parallel: true,
    timeout_ms: 15_000,
    sandbox: 'read_only',
    run: (input, call) =>
      answer(async () => {
        const place = await locate(call, input.path)
        const { bytes } = await readPlace(place)
        const as = input.raw ? undefined : await shownOf({ path: place.shown, bytes }, normalisers)
        return view(place.shown, { bytes, as }, input)
      }),
  })
