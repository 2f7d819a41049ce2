/** Finds every occurrence of many values in one pass over a text, however many values there are. */
import { createLongValues, headLength, type Reading } from './long-values.js'
import { sharedOf } from './shared.js'
import type { Spans } from './spans.js'

export interface KnownValues {
  /**
   * Values shorter than six code units are ignored: they would match ordinary words. What is added twice is known until
   * it was let go twice: the answer lets go, once.
   */
  add(value: string): () => void
  /** Where values stand in the text; those that overlap are one. */
  spans(text: string): Spans
}

/** Code units of a value at least: shorter ones would match ordinary words. */
export const shortestValue = 6
/** Places that are looked at in one go, and those of them where a value may begin. */
const [portion, mostBegins] = [256 * 1024, 500]

/** A value, or the head of long ones, how often it was added, and the longest other one that it begins with. */
interface Entry {
  readonly value: string
  times: number
  inner: Entry | undefined
}
/** Values with the same first six code units, sorted. */
type Kin = Entry[]

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
const longestAt = (kin: Kin, text: string, at: number): Entry | undefined => {
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

const insert = (kin: Kin, value: string): void => {
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

const take = (kin: Kin, value: string): void => {
  const at = rankOf(kin, value, 0) - 1
  const entry = kin[at]
  if (entry?.value !== value) return
  entry.times -= 1
  if (entry.times > 0) return
  kin.splice(at, 1)
  relink(kin, at, { value, old: entry, now: entry.inner })
}

const hashes = 0x100000
/** Of the first four code units: most places of a text need no more than a look at one byte. */
const hashAt = (text: string, at: number): number =>
  (text.charCodeAt(at) ^
    (text.charCodeAt(at + 1) << 5) ^
    (text.charCodeAt(at + 2) << 10) ^
    (text.charCodeAt(at + 3) << 15)) &
  (hashes - 1)

/** The next place before `stop` where a value may begin, else `stop`. */
const nextBegin = (begins: Uint8Array, text: string, [from, stop]: readonly [number, number]): number => {
  for (let at = from; at < stop; at += 1) if (begins[hashAt(text, at)] === 1) return at
  return stop
}

/** True where a value that stands in a text between two places is meant. */
type Fits = (text: string, begin: number, end: number) => boolean

export const createKnownValues = (fits: Fits = () => true): KnownValues => {
  const longs = createLongValues()
  let begins = new Uint8Array(0)
  const kin = new Map<string, Kin>()
  /** How many kin begin with each hash. */
  const counts = new Map<number, number>()
  let last: { readonly begin: string; readonly found: Kin | undefined } = { begin: '', found: undefined }
  const mark = (begin: string, by: 1 | -1): void => {
    last = { begin: '', found: undefined }
    if (begins.length === 0) begins = new Uint8Array(hashes)
    const hash = hashAt(begin, 0)
    const now = (counts.get(hash) ?? 0) + by
    if (now > 0) counts.set(hash, now)
    else counts.delete(hash)
    begins[hash] = now > 0 ? 1 : 0
  }
  const remove = (all: string): void => {
    if (all.length >= headLength) longs.remove(all)
    const value = all.slice(0, headLength)
    const begin = value.slice(0, shortestValue)
    const found = kin.get(begin)
    if (found === undefined) return
    take(found, value)
    if (found.length > 0) return
    kin.delete(begin)
    mark(begin, -1)
  }
  const add = (value: string): (() => void) => {
    if (value.length < shortestValue) return () => {}
    const begin = value.slice(0, shortestValue)
    const found = kin.get(begin) ?? []
    if (found.length === 0) {
      kin.set(begin, found)
      mark(begin, 1)
    }
    insert(found, value.slice(0, headLength))
    if (value.length >= headLength) longs.add(value)
    let known = true
    return () => {
      if (known) remove(value)
      known = false
    }
  }
  /** What a text repeats is not looked up again. */
  const kinAt = (text: string, at: number): Kin | undefined => {
    const begin = text.slice(at, at + shortestValue)
    if (begin !== last.begin) last = { begin, found: kin.get(begin) }
    return last.found
  }
  /** The length of the longest value that stands there and fits; 0 if none does. */
  const lengthAt = (text: string, at: number, reading: Reading): number => {
    const isMeant = (length: number): boolean => fits(text, at, at + length)
    const found = kinAt(text, at)
    let entry = found === undefined ? undefined : longestAt(found, text, at)
    if (entry?.value.length === headLength) {
      const long = longs.lengthsAt(entry.value, text, [at, reading]).find(isMeant)
      if (long !== undefined) return long
      entry = entry.inner
    }
    while (entry !== undefined && !isMeant(entry.value.length)) entry = entry.inner
    return entry?.value.length ?? 0
  }
  function* spans(text: string): Spans {
    const last = text.length - shortestValue + 1
    let [begin, end, looked] = [0, 0, 0]
    const reading: Reading = new Map()
    for (let from = 0; from < last && kin.size > 0; from += portion) {
      const stop = Math.min(last, from + portion)
      for (let at = nextBegin(begins, text, [from, stop]); at < stop; at = nextBegin(begins, text, [at + 1, stop])) {
        looked += 1
        if (looked % mostBegins === 0) yield undefined
        const length = lengthAt(text, at, reading)
        if (length === 0) continue
        if (at >= end && end > 0) yield [begin, end]
        if (at >= end) begin = at
        end = Math.max(end, at + length)
      }
      if (stop < last) yield undefined
    }
    if (end > 0) yield [begin, end]
  }
  return { add, spans }
}
