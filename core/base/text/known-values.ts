/** Finds every occurrence of many values in one pass over a text, however many values there are. */
import type { Portions } from '../turns.js'

export interface KnownValues {
  /**
   * Values shorter than six code units are ignored: they would match ordinary words. What is added twice is known until
   * it was let go twice: the answer lets go, once.
   */
  add(value: string): () => void
  /** The text with each occurrence replaced; those that overlap become one. */
  replacing(text: string, mark: string): Portions<string>
}

/** Code units of a value at least: shorter ones would match ordinary words. */
export const shortestValue = 6
/** Places that are looked at in one go. */
const portion = 256 * 1024

/** Values with the same first six code units. */
interface Kin {
  /** How often each was added. */
  readonly values: Map<string, number>
  /** How many have each length. */
  readonly byLength: Map<number, number>
  /** Their lengths, the longest first. */
  lengths: readonly number[]
}

/** One more, or one less, of a key; nothing is kept of what there is none of. Returns how many there are now. */
const count = <K>(counts: Map<K, number>, key: K, by: 1 | -1): number => {
  const now = (counts.get(key) ?? 0) + by
  if (now > 0) counts.set(key, now)
  else counts.delete(key)
  return now
}

/** Adds a value to its kin, or takes it away. */
const change = (kin: Kin, value: string, by: 1 | -1): void => {
  const now = count(kin.values, value, by)
  if (now !== (by === 1 ? 1 : 0)) return
  const ofLength = count(kin.byLength, value.length, by)
  if (ofLength === now) kin.lengths = [...kin.byLength.keys()].sort((a, b) => b - a)
}

/** Of the first three code units: most places of a text need no more than a look at one byte. */
const hashAt = (text: string, at: number): number =>
  (text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 5) ^ (text.charCodeAt(at + 2) << 10)) & 0xffff

/** The next place before `stop` where a value may begin, else `stop`. */
const nextBegin = (begins: Uint8Array, text: string, [from, stop]: readonly [number, number]): number => {
  for (let at = from; at < stop; at += 1) if (begins[hashAt(text, at)] === 1) return at
  return stop
}

export const createKnownValues = (): KnownValues => {
  const begins = new Uint8Array(0x10000)
  const kin = new Map<string, Kin>()
  /** How many kin begin with each hash. */
  const hashes = new Map<number, number>()
  const mark = (begin: string, by: 1 | -1): void => {
    const hash = hashAt(begin, 0)
    begins[hash] = count(hashes, hash, by) > 0 ? 1 : 0
  }
  const remove = (value: string): void => {
    const begin = value.slice(0, shortestValue)
    const found = kin.get(begin)
    if (found === undefined) return
    change(found, value, -1)
    if (found.values.size > 0) return
    kin.delete(begin)
    mark(begin, -1)
  }
  const add = (value: string): (() => void) => {
    if (value.length < shortestValue) return () => {}
    const begin = value.slice(0, shortestValue)
    const found = kin.get(begin) ?? { values: new Map(), byLength: new Map(), lengths: [] }
    if (found.values.size === 0) {
      kin.set(begin, found)
      mark(begin, 1)
    }
    change(found, value, 1)
    let known = true
    return () => {
      if (known) remove(value)
      known = false
    }
  }
  /** The length of the longest value that stands there; 0 if none does. */
  const lengthAt = (text: string, at: number): number => {
    const found = kin.get(text.slice(at, at + shortestValue))
    return found?.lengths.find((length) => found.values.has(text.slice(at, at + length))) ?? 0
  }
  /** Where values stand, in order; those that overlap are one. */
  function* spans(text: string): Generator<readonly [begin: number, end: number] | undefined> {
    const last = text.length - shortestValue + 1
    let [begin, end] = [0, 0]
    for (let from = 0; from < last && kin.size > 0; from += portion) {
      const stop = Math.min(last, from + portion)
      for (let at = nextBegin(begins, text, [from, stop]); at < stop; at = nextBegin(begins, text, [at + 1, stop])) {
        const length = lengthAt(text, at)
        if (length === 0) continue
        if (at >= end && end > 0) yield [begin, end]
        if (at >= end) begin = at
        end = Math.max(end, at + length)
      }
      if (stop < last) yield undefined
    }
    if (end > 0) yield [begin, end]
  }
  function* replacing(text: string, mark: string): Portions<string> {
    let [made, copied] = ['', 0]
    for (const span of spans(text)) {
      if (span === undefined) yield
      else {
        made += text.slice(copied, span[0]) + mark
        copied = span[1]
      }
    }
    return made + text.slice(copied)
  }
  return { add, replacing }
}
