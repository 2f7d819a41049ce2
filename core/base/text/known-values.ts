/** Finds every occurrence of many values in one pass over a text, however many values there are. */
import type { Portions } from '../turns.js'

export interface KnownValues {
  /** Values shorter than six code units are ignored: they would match ordinary words. */
  add(value: string): void
  /** The text with each occurrence replaced; those that overlap become one. */
  replacing(text: string, mark: string): Portions<string>
}

const shortest = 6
/** Places that are looked at in one go. */
const portion = 256 * 1024

/** Values with the same first six code units. */
interface Kin {
  readonly values: Set<string>
  /** Their lengths, the longest first. */
  readonly lengths: number[]
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
  const add = (value: string): void => {
    if (value.length < shortest) return
    const begin = value.slice(0, shortest)
    const { values, lengths } = kin.get(begin) ?? { values: new Set(), lengths: [] }
    kin.set(begin, { values, lengths })
    begins[hashAt(value, 0)] = 1
    values.add(value)
    if (lengths.includes(value.length)) return
    lengths.push(value.length)
    lengths.sort((a, b) => b - a)
  }
  /** The length of the longest value that stands there; 0 if none does. */
  const lengthAt = (text: string, at: number): number => {
    const found = kin.get(text.slice(at, at + shortest))
    return found?.lengths.find((length) => found.values.has(text.slice(at, at + length))) ?? 0
  }
  /** Where values stand, in order; those that overlap are one. */
  function* spans(text: string): Generator<readonly [begin: number, end: number] | undefined> {
    const last = text.length - shortest + 1
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
