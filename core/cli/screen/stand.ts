/** What stands on a terminal of a block that is drawn again and again, also where the size has become another. */
import { rowsIn } from './folded.js'
import type { Screen } from './pager.js'

/** A line of an earlier drawing goes once it can be reached; one that stays is written again then. */
interface Line {
  readonly text: string
  readonly stays: boolean
}

export interface Put {
  /** Rows above the cursor that are to be erased. */
  readonly erased: number
  /** What is to be written before all else. */
  readonly again: readonly string[]
}

export interface Stand {
  /** Texts that stay and a block below them take the place of the block before. */
  put(size: Screen, stays: readonly string[], block: readonly string[]): Put
  /** Nothing of it is to be reached any more. */
  forget(): void
}

/** Lines below the rest of an earlier drawing: behind so many it stays where it is. */
const mostLeft = 1_000

const heightOf = (lines: readonly Line[], columns: number): number =>
  lines.reduce((sum, { text }) => sum + rowsIn(text, columns).length, 0)

/** What fills the first so many rows, and what is below. */
const split = (lines: readonly Line[], columns: number, rows: number): readonly [readonly Line[], readonly Line[]] => {
  const [out, below]: [Line[], Line[]] = [[], []]
  let free = rows
  for (const { text, stays } of lines) {
    const parts = rowsIn(text, columns)
    const [fits, rest] = [parts.slice(0, Math.max(0, free)), parts.slice(Math.max(0, free))]
    if (fits.length > 0) out.push({ text: fits.join(''), stays })
    if (rest.length > 0) below.push({ text: rest.join(''), stays })
    free -= parts.length
  }
  return [out, below]
}

const asLines = (texts: readonly string[], stays: boolean): Line[] => texts.map((text) => ({ text, stays }))
const textsOf = (lines: readonly Line[]): string[] => lines.map(({ text }) => text)

/**
 * A terminal folds what stands on it anew where it becomes narrower, so a drawing may be higher than it was, and as
 * high as the screen is it can be erased. What has gone out of the screen above comes back where that becomes larger,
 * and goes then, with what was written below it meanwhile, of which that is written again that stays.
 */
export const createStand = (): Stand => {
  let size: Screen | undefined
  let block: Line[] = []
  /** From the first line on that is to go: what is not in reach. */
  let left: Line[] = []
  const isResized = ({ rows, columns }: Screen): boolean =>
    size !== undefined && (size.rows !== rows || size.columns !== columns)
  const leave = (lines: readonly Line[]): void => {
    const first = lines.findIndex(({ stays }) => !stays)
    left = first < 0 || lines.length - first > mostLeft ? [] : lines.slice(first)
  }
  return {
    forget() {
      ;[size, block, left] = [undefined, [], []]
    },
    put(now, stays, next) {
      const above = asLines(stays, true)
      const reachable = isResized(now) ? [...left, ...block] : block
      const height = heightOf(reachable, now.columns)
      const most = now.rows - 1
      const [out, gone] = split(reachable, now.columns, height - most)
      const again = gone.filter((line) => line.stays)
      const before = isResized(now) ? out : [...left, ...out]
      ;[size, block] = [now, asLines(next, false)]
      const room = out.length > 0 ? most - heightOf([...again, ...above, ...block], now.columns) : 0
      // What comes back from above the screen pushes all down: the cursor stands in the last row, as far as is known.
      const gap = asLines(
        Array.from({ length: Math.max(0, room) }, () => ''),
        false,
      )
      leave(before.length > 0 ? [...before, ...gap, ...again, ...above] : [])
      return { erased: Math.min(height, most), again: [...textsOf(gap), ...textsOf(again)] }
    },
  }
}
