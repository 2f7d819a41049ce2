/** Values that begin alike, and which of them stands at a place of a text. */
import { sharedOf } from './shared.js'

/** Code units of a value at least: shorter ones would match ordinary words. */
export const shortestValue = 6

/** A value, or the head of long ones, how often it was added, and the longest other one that it begins with. */
export interface Entry {
  readonly value: string
  times: number
  inner: Entry | undefined
}
/** Values with the same first six code units, sorted. */
export type Kin = Entry[]

/**
 * How many values do not sort behind what stands at a place, which begins as they do. Both ends are looked at first:
 * what differs from all of them is told at once, and nothing that all share is compared twice.
 */
const rankOf = (kin: Kin, text: string, at: number): number => {
  let [low, high, lowShared, highShared] = [0, kin.length, shortestValue, shortestValue]
  for (let looks = 0; low < high; looks += 1) {
    const middle = looks > 1 ? (low + high) >>> 1 : looks === 0 ? high - 1 : low
    const value = kin[middle]?.value ?? ''
    const shared = sharedOf(value, text, [at, Math.min(lowShared, highShared)])
    if (shared === value.length || value.charCodeAt(shared) < text.charCodeAt(at + shared)) {
      low = middle + 1
      lowShared = shared
    } else {
      high = middle
      highShared = shared
    }
  }
  return low
}

/** The longest value that stands there: whatever does is a beginning of the last one that does not sort behind it. */
export const longestAt = (kin: Kin, text: string, at: number): Entry | undefined => {
  let entry = kin.length === 1 ? kin[0] : kin[rankOf(kin, text, at) - 1]
  const shared = entry === undefined ? 0 : sharedOf(entry.value, text, [at, shortestValue])
  while (entry !== undefined && entry.value.length > shared) entry = entry.inner
  return entry
}

/** Those from a place on that begin with a value have it as their longest beginning no more, or now. */
const relink = (kin: Kin, from: number, { value, old, now }: Relink): void => {
  for (let at = from; kin[at]?.value.startsWith(value) === true; at += 1) {
    const entry = kin[at]
    if (entry !== undefined && entry.inner === old) entry.inner = now
  }
}
interface Relink {
  readonly value: string
  readonly old: Entry | undefined
  readonly now: Entry | undefined
}

export const insert = (kin: Kin, value: string): void => {
  const inner = longestAt(kin, value, 0)
  if (inner?.value === value) {
    inner.times += 1
    return
  }
  const at = rankOf(kin, value, 0)
  const entry = { value, times: 1, inner }
  kin.splice(at, 0, entry)
  relink(kin, at + 1, { value, old: inner, now: entry })
}

export const take = (kin: Kin, value: string): void => {
  const at = rankOf(kin, value, 0) - 1
  const entry = kin[at]
  if (entry?.value !== value) return
  entry.times -= 1
  if (entry.times > 0) return
  kin.splice(at, 1)
  relink(kin, at, { value, old: entry, now: entry.inner })
}
