/** A text as lines that are looked at by number, in linear time and with little memory also for millions of them. */
import type { Portions } from '../../../../core/plugin.js'

/** Lines that are looked at in one go. */
export const portion = 50_000

export interface Lines {
  /** Ends with a line end unless it is empty. */
  readonly text: string
  readonly count: number
  /** Where each line begins, and where the last one ends. */
  readonly starts: Int32Array
  /** What was put behind a last line that had no line end; undefined if there was one. */
  readonly added: string | undefined
}

export function* splitText(original: string): Portions<Lines> {
  const isWhole = original === '' || original.endsWith('\n')
  const added = isWhole ? undefined : original.includes('\r\n') ? '\r\n' : '\n'
  const text = original + (added ?? '')
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    count += 1
    if (count % portion === 0) yield
  }
  const starts = new Int32Array(count + 1)
  for (let line = 1; line <= count; line += 1) {
    starts[line] = text.indexOf('\n', starts[line - 1]) + 1
    if (line % portion === 0) yield
  }
  return { text, count, starts, added }
}

/** A line with its end; nothing beyond the last. */
export const rawLine = ({ text, starts }: Lines, line: number): string => text.slice(starts[line], starts[line + 1])
/** A line without its end. */
export const lineAt = (lines: Lines, line: number): string => rawLine(lines, line).replace(/\r?\n$/u, '')

/** How a line that comes to this place ends: as its neighbours do. */
export const endAt = (lines: Lines, line: number): string =>
  (rawLine(lines, line - 1) || rawLine(lines, line)).endsWith('\r\n') ? '\r\n' : '\n'

/** For each line the number of its text among those wanted; 0 for any other. */
export function* numberLines(
  lines: Lines,
  wanted: ReadonlyMap<string, number>,
  same: (line: string) => string,
): Portions<Int32Array> {
  const numbers = new Int32Array(lines.count)
  for (let line = 0; line < lines.count; line += 1) {
    numbers[line] = wanted.get(same(lineAt(lines, line))) ?? 0
    if ((line + 1) % portion === 0) yield
  }
  return numbers
}
