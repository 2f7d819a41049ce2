/**
 * Long values, by their first code units. A text may begin like one at each of its places, so that comparing them anew
 * takes their product: what a comparison has read is not read again.
 */
import { sharedOf } from './shared.js'

/** Code units of the heads by which long values are known; they have as many or more. */
export const headLength = 64

interface Long {
  readonly value: string
  times: number
  repeats: Int32Array | undefined
}
/** Where a text was seen to begin as a value does. */
interface Read {
  begin: number
  end: number
}
/** What was read of a text for each value; places are asked for in order. */
export type Reading = Map<Long, Read>

export interface LongValues {
  add(value: string): void
  remove(value: string): void
  /** The lengths of those with that head that stand at a place where the head does, the longest first. */
  lengthsAt(head: string, text: string, at: readonly [at: number, reading: Reading]): number[]
}

/** For each place of a value how much of its beginning stands there again (its Z-function). */
const repeatsOf = (value: string): Int32Array => {
  const repeats = new Int32Array(value.length)
  let [begin, end] = [0, 0]
  for (let at = 1; at < value.length; at += 1) {
    let shared = at < end ? Math.min(end - at, repeats[at - begin] ?? 0) : 0
    while (value.charCodeAt(shared) === value.charCodeAt(at + shared)) shared += 1
    repeats[at] = shared
    if (at + shared > end) [begin, end] = [at, at + shared]
  }
  return repeats
}

const standsAt = (long: Long, text: string, [at, reading]: readonly [number, Reading]): boolean => {
  const read = reading.get(long) ?? { begin: at, end: at }
  const left = read.end - at
  if (left > headLength) {
    long.repeats ??= repeatsOf(long.value)
    if ((long.repeats[at - read.begin] ?? 0) < left) return false
  } else reading.set(long, read)
  const shared = sharedOf(long.value, text, [at, Math.max(left, headLength)])
  read.begin = at
  read.end = at + shared
  return shared === long.value.length
}

export const createLongValues = (): LongValues => {
  const heads = new Map<string, Long[]>()
  const add = (value: string): void => {
    const head = value.slice(0, headLength)
    const longs = heads.get(head) ?? []
    const known = longs.find((long) => long.value === value)
    heads.set(head, longs)
    if (known !== undefined) known.times += 1
    else longs.splice(behindLonger(longs, value), 0, { value, times: 1, repeats: undefined })
  }
  const remove = (value: string): void => {
    const head = value.slice(0, headLength)
    const longs = heads.get(head) ?? []
    const known = longs.find((long) => long.value === value)
    if (known === undefined) return
    known.times -= 1
    const left = longs.filter(({ times }) => times > 0)
    if (left.length > 0) heads.set(head, left)
    else heads.delete(head)
  }
  const lengthsAt: LongValues['lengthsAt'] = (head, text, at) =>
    (heads.get(head) ?? []).filter((long) => standsAt(long, text, at)).map(({ value }) => value.length)
  return { add, remove, lengthsAt }
}
/** To sort them anew for each would take long where very many begin alike. */
const behindLonger = (longs: readonly Long[], value: string): number => {
  const shorter = longs.findIndex((long) => long.value.length < value.length)
  return shorter < 0 ? longs.length : shorter
}
