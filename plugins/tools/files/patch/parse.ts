/** The text of a patch: which files it names, and which hunks of lines change them. */
import { patchErrors } from './errors.js'

/** A line of a hunk: one that stays, goes or comes. */
export interface HunkLine {
  readonly kind: ' ' | '-' | '+'
  readonly text: string
}

/** A change of neighbouring lines. */
export interface Hunk {
  /** Lines that stand above the place, the outermost first. */
  readonly anchors: readonly string[]
  readonly lines: readonly HunkLine[]
  /** Lines at the end that may only part this section from the next: empty in the patch itself. */
  readonly blank: number
  /** Its last line is the last of the file. */
  readonly atEnd: boolean
}

/** What a patch does with one file. */
export type FilePatch =
  | { readonly type: 'add'; readonly path: string; readonly content: string }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'update'; readonly path: string; readonly to: string | undefined; readonly hunks: readonly Hunk[] }

const mostFiles = 100
const wrong = (at: number, rule: string) => patchErrors.patch_invalid({ details: { line: at + 1, rule } })

/** The lines between begin and end; a patch whose own lines end with CR LF is read without these CRs. */
interface Body {
  readonly lines: readonly string[]
  at: number
}

const bodyOf = (text: string): Body => {
  const raw = text.split('\n')
  const clean = raw.some((line) => line.trimEnd() === '*** Begin Patch' && line.endsWith('\r'))
    ? raw.map((line) => line.replace(/\r$/u, ''))
    : raw
  const [begin, end] = [
    clean.findIndex((line) => line.trim() !== ''),
    clean.findLastIndex((line) => line.trim() !== ''),
  ]
  if (clean[begin]?.trim() !== '*** Begin Patch') throw wrong(Math.max(begin, 0), 'it must be "*** Begin Patch"')
  if (clean[end]?.trim() !== '*** End Patch') throw wrong(end, 'it must be "*** End Patch"')
  return { lines: clean.slice(0, end), at: begin + 1 }
}

const header = /^\*\*\* (Add|Delete|Update) File: (.+)$/u
const isHeader = (line: string): boolean => line.startsWith('*** ')

/** Lines up to the next one that begins with three stars. */
const takeLines = (body: Body): { from: number; lines: readonly string[] } => {
  const from = body.at
  while (body.at < body.lines.length && !isHeader(body.lines[body.at] ?? '')) body.at += 1
  return { from, lines: body.lines.slice(from, body.at) }
}

const readAdd = (body: Body, path: string): FilePatch => {
  const { from, lines } = takeLines(body)
  const last = lines.findLastIndex((line) => line !== '')
  const content = lines.slice(0, last + 1).map((line, n) => {
    if (!line.startsWith('+')) throw wrong(from + n, 'each line of a new file begins with "+"')
    return `${line.slice(1)}\n`
  })
  return { type: 'add', path, content: content.join('') }
}

/** What stands behind `@@`: nothing, a line of the file, or the numbers of another format. */
const anchorOf = (line: string): string => {
  const text = line.slice(2).trim()
  return (/^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@ ?(.*)$/u.exec(text)?.[1] ?? text).trim()
}

const hunkLine = (line: string, at: number): HunkLine => {
  const text = line.slice(1).replace(/\r$/u, '')
  if (line === '' || line === '\r') return { kind: ' ', text: '' }
  const [kind] = line
  if (kind === ' ' || kind === '-' || kind === '+') return { kind, text }
  throw wrong(at, 'a line of a hunk begins with a space, "-" or "+", and a hunk with "@@"')
}

const readHunk = (body: Body): Hunk => {
  const anchors: string[] = []
  while (body.lines[body.at]?.startsWith('@@') === true) {
    const anchor = anchorOf(body.lines[body.at] ?? '')
    if (anchor !== '') anchors.push(anchor)
    body.at += 1
  }
  const from = body.at
  while (body.at < body.lines.length && !/^(?:\*\*\* |@@)/u.test(body.lines[body.at] ?? '')) body.at += 1
  const raw = body.lines.slice(from, body.at)
  if (raw.length === 0) throw wrong(from - 1, 'a hunk has no lines')
  const atEnd = body.lines[body.at]?.trim() === '*** End of File'
  if (atEnd) body.at += 1
  const blank = raw.length - 1 - raw.findLastIndex((line) => line.trim() !== '' || line.startsWith(' '))
  return { anchors, lines: raw.map((line, n) => hunkLine(line, from + n)), blank: Math.min(blank, raw.length), atEnd }
}

const readUpdate = (body: Body, path: string): FilePatch => {
  const from = body.at - 1
  const to = /^\*\*\* Move to: (.+)$/u.exec(body.lines[body.at] ?? '')?.[1]?.trim()
  if (to !== undefined) body.at += 1
  const hunks: Hunk[] = []
  while (body.at < body.lines.length) {
    const line = body.lines[body.at] ?? ''
    if (isHeader(line)) break
    // A line that only parts two sections is no hunk.
    if (line.trim() === '' && takeBlank(body)) break
    hunks.push(readHunk(body))
  }
  if (hunks.length === 0 && to === undefined) throw wrong(from, 'the section changes nothing')
  return { type: 'update', path, to, hunks }
}

/** Passes lines that are empty up to the next section or the end; stays where it is before anything else. */
const takeBlank = (body: Body): boolean => {
  const next = body.lines.findIndex((line, at) => at >= body.at && line.trim() !== '')
  if (next !== -1 && !isHeader(body.lines[next] ?? '')) return false
  body.at = next === -1 ? body.lines.length : next
  return true
}

/** Throws `patch_invalid` with the line that is wrong, or `patch_too_large`. */
export const parsePatch = (text: string): readonly FilePatch[] => {
  const body = bodyOf(text)
  const files: FilePatch[] = []
  while (body.at < body.lines.length) {
    const line = (body.lines[body.at] ?? '').trimEnd()
    body.at += 1
    if (line === '') continue
    const [, kind, path = ''] = header.exec(line) ?? []
    if (kind === undefined) throw wrong(body.at - 1, 'it is no section of a file')
    if (kind === 'Add') files.push(readAdd(body, path.trim()))
    else if (kind === 'Update') files.push(readUpdate(body, path.trim()))
    else files.push({ type: 'delete', path: path.trim() })
    if (files.length > mostFiles) throw patchErrors.patch_too_large({ details: { limit: `${mostFiles} files` } })
  }
  if (files.length === 0) throw wrong(body.at, 'the patch names no file')
  return files
}
