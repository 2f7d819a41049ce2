/** Text in lines that a terminal need not fold: it would begin the rest of one where lines of ours begin. */
import { visible, visibleLine } from '../../base/text/visible.js'

/** Signs that take no column of their own, and those that take two, or do on some terminals. */
const none = /^[\p{Mn}\p{Me}\u200c\u200d]$/u
const wideSigns = [
  String.raw`\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe1f\ufe30-\ufe6f`,
  String.raw`\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18d8f}\u{1aff0}-\u{1b2ff}\u{1f000}-\u{1faff}\u{20000}-\u{3ffff}`,
  String.raw`\p{Extended_Pictographic}`,
]
const two = new RegExp(`^[${wideSigns.join('')}]$`, 'u')

const columnsOf = (sign: string): number => (sign < '\u0300' ? 1 : none.test(sign) ? 0 : two.test(sign) ? 2 : 1)
/** Columns that a text of one line takes on a terminal, at most. */
export const widthOf = (text: string): number => {
  let width = 0
  for (const sign of text) width += columnsOf(sign)
  return width
}

const tab = '    '

/** Rows in which a terminal shows one line that it folds itself, wherever a word stands. */
export const rowsIn = (line: string, columns: number): readonly string[] => {
  const rows: string[] = []
  let [now, used] = ['', 0]
  for (const sign of line.replaceAll('\t', tab)) {
    const width = columnsOf(sign)
    if (used > 0 && used + width > columns) {
      rows.push(now)
      ;[now, used] = ['', 0]
    }
    now += sign
    used += width
  }
  return [...rows, now]
}

/** One line, which may begin with blanks, in lines of so many columns; those after the first stand in by `indent`. */
export const folded = (line: string, columns: number, indent = 4): string => {
  const margin = ' '.repeat(Math.min(indent, Math.max(0, columns - 2)))
  const lines: string[] = []
  let [now, used] = ['', 0]
  const end = (): void => {
    lines.push(now.trimEnd())
    ;[now, used] = [margin, margin.length]
  }
  const add = (piece: string, width: number): void => {
    now += piece
    used += width
  }
  for (const [piece] of line.replaceAll('\t', tab).matchAll(/ +|[^ ]+/gu)) {
    const width = widthOf(piece)
    if (used + width <= columns) add(piece, width)
    else if (piece.startsWith(' ')) end()
    else {
      if (now.trim() !== '') end()
      if (used + width <= columns) add(piece, width)
      else
        for (const sign of piece) {
          if (used + columnsOf(sign) > columns) end()
          add(sign, columnsOf(sign))
        }
    }
  }
  return [...lines, now.trimEnd()].join('\n')
}

/** Where the next sign of a text stands that comes in pieces. */
export interface Flow {
  /** A new line has begun, with so many columns in use. */
  begin(width: number): void
  /** The piece as it is to be written. */
  add(text: string): string
}

/** For text that comes in pieces: as `folded`, but that a word whose beginning is written stays where it begins. */
export const createFlow = (columns: () => number, indent: number): Flow => {
  let [used, out] = [0, '']
  const end = (): void => {
    const margin = Math.min(indent, Math.max(0, columns() - 2))
    out = `${out}\n${' '.repeat(margin)}`
    used = margin
  }
  const add = (piece: string): void => {
    const isBlank = piece.startsWith(' ')
    const fits = used + widthOf(piece) <= columns()
    if (!fits && used > indent) end()
    if (!fits && isBlank) return
    for (const sign of piece) {
      if (used + columnsOf(sign) > columns()) end()
      out += sign
      used += columnsOf(sign)
    }
  }
  return {
    begin(width) {
      used = width
    },
    add(text) {
      out = ''
      for (const [at, line] of visible(text).split('\n').entries()) {
        if (at > 0) end()
        for (const [piece] of line.replaceAll('\t', tab).matchAll(/ +|[^ ]+/gu)) add(piece)
      }
      return out
    },
  }
}

/** What others wrote, whole, under a heading: each of its lines stands in. */
export const foldedBlock = (text: string, columns: number): string =>
  visible(text)
    .split('\n')
    .map((line) => folded(`  ${line}`, columns, 2))
    .join('\n')

/** The beginning of what others wrote, in one line of ours. */
export const beginning = (text: string, most: number): string =>
  visibleLine(
    Array.from(text.slice(0, 2 * most))
      .slice(0, most)
      .join(''),
  )
