/** Blocks of text that are written in place of each other. */
import { visible } from '../../base/text/visible.js'
import { rowsIn } from './folded.js'
import type { Screen } from './pager.js'
import { createStand } from './stand.js'

/** Rows that one line may fill: commands stay whole, to be copied, and no text of others fills the screen. */
const mostRows = 3

/** How many of the lines, from the first on, fill at most so many rows. */
const fitting = (lines: readonly string[], columns: number, rows: number): number => {
  let filled = 0
  const beyond = lines.findIndex((line) => (filled += rowsIn(line, columns).length) > rows)
  return beyond < 0 ? lines.length : beyond
}

/** Lines of a text as many as a terminal of this size shows at once; it folds those that are longer. */
export const fitted = (text: string, { rows, columns }: Screen): readonly string[] => {
  const lines = visible(text)
    .split('\n')
    .map((line) => rowsIn(line, columns).slice(0, mostRows).join(''))
  if (fitting(lines, columns, rows - 1) === lines.length) return lines
  const shown = fitting(lines, columns, rows - 2)
  return [...lines.slice(0, shown), `… ${lines.length - shown} more lines`.slice(0, columns)]
}

/** Where blocks are written: what is no terminal has no size. */
export interface Sheet {
  readonly isTTY: boolean
  readonly rows: number
  readonly columns: number
  write(text: string): unknown
}

/** Rows of a terminal that are the block's where texts stay above it: half of them, but no fewer than this. */
const leastRows = 4
const shared = ({ rows, columns }: Screen): Screen => ({
  rows: Math.min(rows, Math.max(leastRows, Math.floor(rows / 2))),
  columns,
})

interface Drawn extends Screen {
  readonly block: string
  readonly lines: readonly string[]
}

const looksAs = (one: Drawn, other: Drawn): boolean =>
  one.rows === other.rows && one.columns === other.columns && one.lines.join('\n') === other.lines.join('\n')

/** Some terminals keep what is erased from their first row on to be scrolled back to: that row goes by itself. */
const erasing = (rows: number): string => (rows === 0 ? '' : `\u001b[${rows}A\r\u001b[K\n\u001b[J\u001b[A`)

type Redraw = (block: string, above?: string) => void

/**
 * What writes blocks of text, each in place of the one before; what looks the same again only where the size is
 * another, or where something is to stand above it from now on. From the first such text on it has a share of the rows.
 * `onBack` calls once when the shell had the terminal meanwhile: the block is drawn below what it has written.
 */
export const createRedraw = (sheet: Sheet, onBack: (act: () => void) => void = () => {}): Redraw => {
  const stand = createStand()
  let drawn: Drawn | undefined
  let isShared = false
  const drawAgain = (): void => {
    const block = drawn?.block
    drawn = undefined
    stand.forget()
    if (block !== undefined) redraw(block)
  }
  const redraw: Redraw = (block, above) => {
    const { rows, columns } = sheet
    const isPlain = !sheet.isTTY || !(rows > 2) || !(columns > 2)
    isShared ||= above !== undefined
    const lines = isPlain ? [visible(block)] : fitted(block, isShared ? shared(sheet) : sheet)
    const next = { block, rows, columns, lines }
    const isSame = drawn !== undefined && looksAs(drawn, next)
    if (!isSame || above !== undefined) {
      const stays = above === undefined ? [] : visible(above).split('\n')
      // Where nobody reads along the block would only be repeated.
      const drawing = isPlain && isSame ? [] : lines
      if (drawn === undefined && !isPlain) onBack(drawAgain)
      if (isPlain) stand.forget()
      const { erased, again } = isPlain ? { erased: 0, again: [] } : stand.put({ rows, columns }, stays, lines)
      sheet.write(erasing(erased) + [...again, ...stays, ...drawing].map((line) => `${line}\n`).join(''))
    }
    drawn = next
  }
  return redraw
}
