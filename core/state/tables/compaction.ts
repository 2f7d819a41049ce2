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

/** How many times as large a table may be as all that came behind it, to become one with that. */
const growth = 4
/** Of the rows of a full table: more are not written in one go. */
const mostFull = 2

/**
 * The same of a partition that gets no more but what is copied within it: each look for an id asks every table, so what
 * stays for good is in few.
 */
export const firstTakenForGood = (tables: readonly number[], { fullRows }: TableTuning): number => {
  let from = Math.max(0, tables.length - 1)
  let sum = 0
  for (const [at, rows] of [...tables.entries()].toReversed()) {
    if (sum + rows > fullRows * mostFull) break
    if (rows <= sum * growth) from = at
    sum += rows
  }
  return from
}
