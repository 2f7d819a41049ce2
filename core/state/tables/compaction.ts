/** Which tables become one. */
import type { TableTuning } from '../tuning.js'

/** Of tables with so many rows: the first of the newest that are to become one; the last where they are few. */
export const firstTaken = (tables: readonly number[], { levelRows, fanOut, fullRows }: TableTuning): number => {
  const levelOf = (count: number): number => Math.max(0, Math.ceil(Math.log(count / levelRows) / Math.log(fanOut)))
  const rowsOf = (at: number): number => tables[at] ?? 0
  let from = Math.max(0, tables.length - 1)
  let sum = rowsOf(from)
  for (;;) {
    const level = levelOf(sum)
    let [at, taken] = [from, sum]
    while (at > 0 && levelOf(rowsOf(at - 1)) <= level && rowsOf(at - 1) < fullRows) {
      at -= 1
      taken += rowsOf(at)
    }
    if (from - at + 1 < fanOut) return from
    ;[from, sum] = [at, taken]
  }
}
