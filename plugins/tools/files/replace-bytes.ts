/**
 * Finds and replaces bytes in linear time, whatever they are: the search of strings takes the product of both lengths
 * for some, and a list of all finds may be larger than the file many times.
 */
import type { Portions } from '../../../core/plugin.js'
import { bordersOf } from './patch/search.js'

/** Bytes that are looked at in one go. */
const portion = 512 * 1024

/** Calls with the place of each find, in order; finds do not overlap. */
function* eachFind(bytes: Uint8Array, wanted: Uint8Array, take: (at: number) => void): Portions<void> {
  const borders = bordersOf(wanted)
  let matched = 0
  for (let at = 0; at < bytes.length; at += 1) {
    if ((at + 1) % portion === 0) yield
    while (matched > 0 && bytes[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0
    if (bytes[at] === wanted[matched]) matched += 1
    if (matched < wanted.length) continue
    take(at + 1 - matched)
    matched = 0
  }
}

export function* countFinds(bytes: Uint8Array, wanted: Uint8Array): Portions<number> {
  let count = 0
  yield* eachFind(bytes, wanted, () => {
    count += 1
  })
  return count
}

/** `count` is what `countFinds` says. */
export function* replaceFinds(
  bytes: Uint8Array,
  { wanted, instead, count }: { wanted: Uint8Array; instead: Uint8Array; count: number },
): Portions<Buffer> {
  const made = Buffer.allocUnsafe(bytes.length + count * (instead.length - wanted.length))
  let [from, to] = [0, 0]
  const copy = (source: Uint8Array, begin: number, end: number): void => {
    // A call for each of millions of short pieces would cost more than their bytes.
    if (end - begin > 32) made.set(source.subarray(begin, end), to)
    else for (let at = begin; at < end; at += 1) made[to + at - begin] = source[at] ?? 0
    to += end - begin
  }
  yield* eachFind(bytes, wanted, (at) => {
    copy(bytes, from, at)
    copy(instead, 0, instead.length)
    from = at + wanted.length
  })
  copy(bytes, from, bytes.length)
  return made
}
