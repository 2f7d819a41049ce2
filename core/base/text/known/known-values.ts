/** Finds every occurrence of many values in one pass over a text, however many values there are. */
import { createLongValues, headLength, type Reading } from './long-values.js'
import { createHeads } from './heads.js'
import { shortestValue } from './kin.js'
import type { Spans } from './spans.js'

export interface KnownValues {
  /**
   * Values shorter than six code units are ignored: they would match ordinary words. What is added twice is known until
   * it was let go twice: the answer lets go, once.
   */
  add(value: string): () => void
  /** Where values stand in the text; those that overlap are one. */
  spans(text: string): Spans
  isEmpty(): boolean
}

/** Places that are looked at in one go, and those of them where a value may begin. */
const [portion, mostBegins] = [256 * 1024, 500]

/** True where a value that stands in a text between two places is meant. */
type Fits = (text: string, begin: number, end: number) => boolean

export const createKnownValues = (fits: Fits = () => true): KnownValues => {
  const longs = createLongValues()
  const heads = createHeads()
  const remove = (value: string): void => {
    if (value.length >= headLength) longs.remove(value)
    heads.remove(value.slice(0, headLength))
  }
  const add = (value: string): (() => void) => {
    if (value.length < shortestValue) return () => {}
    heads.add(value.slice(0, headLength))
    if (value.length >= headLength) longs.add(value)
    let known = true
    return () => {
      if (known) remove(value)
      known = false
    }
  }
  /** The length of the longest value that stands there and fits; 0 if none does. */
  const lengthAt = (text: string, at: number, reading: Reading): number => {
    const isMeant = (length: number): boolean => fits(text, at, at + length)
    let entry = heads.longestAt(text, at)
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
    for (let from = 0; from < last && !heads.isEmpty(); from += portion) {
      const stop = Math.min(last, from + portion)
      for (let at = heads.next(text, [from, stop]); at < stop; at = heads.next(text, [at + 1, stop])) {
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
  return { add, spans, isEmpty: heads.isEmpty }
}
