/** Which tables a new one takes with it. */
import type { TableRef } from '../format/manifest.js'
import type { TableTuning } from '../tuning.js'

/** The first table that a new one of so many rows takes with it; as many as there are tables: none. */
export const firstTaken = (
  tables: readonly TableRef[],
  rows: number,
  { levelRows, fanOut, fullRows }: TableTuning,
): number => {
  const levelOf = (count: number): number => Math.max(0, Math.ceil(Math.log(count / levelRows) / Math.log(fanOut)))
  let [from, sum] = [tables.length, rows]
  for (;;) {
    const level = levelOf(sum)
    let [at, taken] = [from, sum]
    while (at > 0 && levelOf(tables[at - 1]?.rows ?? 0) <= level && (tables[at - 1]?.rows ?? 0) < fullRows) {
      at -= 1
      taken += tables[at]?.rows ?? 0
    }
    if (from - at + 1 < fanOut) return from
    ;[from, sum] = [at, taken]
  }
}
