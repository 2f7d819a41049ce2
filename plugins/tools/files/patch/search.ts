/** Where numbers stand in a row of numbers, in linear time (Knuth, Morris, Pratt). */
import type { Portions } from '../../../../core/plugin.js'

/** For each beginning of what is wanted, how many of its last members are a beginning too. */
export const bordersOf = (wanted: ArrayLike<number>): Int32Array => {
  const borders = new Int32Array(wanted.length)
  let length = 0
  for (let at = 1; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1] ?? 0
    if (wanted[at] === wanted[length]) length += 1
    borders[at] = length
  }
  return borders
}

export interface Finds {
  /** In order; they may overlap. */
  readonly places: readonly number[]
  /** The longest beginning of what is wanted that is there, and where it ends. */
  readonly longest: number
  readonly longestEnd: number
}

const portion = 200_000

/** What is wanted has at least one member. */
export function* findNumbers(row: Int32Array, wanted: Int32Array, from: number): Portions<Finds> {
  const borders = bordersOf(wanted)
  const places: number[] = []
  let [matched, longest, longestEnd] = [0, 0, from]
  for (let at = from; at < row.length; at += 1) {
    if ((at + 1) % portion === 0) yield
    while (matched > 0 && row[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0
    if (row[at] === wanted[matched]) matched += 1
    if (matched > longest) [longest, longestEnd] = [matched, at + 1]
    if (matched < wanted.length) continue
    places.push(at + 1 - matched)
    matched = borders[matched - 1] ?? 0
  }
  return { places, longest, longestEnd }
}
