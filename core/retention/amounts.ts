/** Ages and sizes as an operator writes and reads them: `90d`, `50GiB`. */
import * as ss from 'superstruct'
import { showTime } from '../base/time/moments.js'
import { doc, note, rule, type StructOf } from '../base/schema.js'

const msIn = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
  ['w', 7 * 86_400_000],
])
const bytesIn = new Map([
  ['B', 1],
  ['KiB', 1024],
  ['MiB', 1024 ** 2],
  ['GiB', 1024 ** 3],
  ['TiB', 1024 ** 4],
])

const amountOf = (text: string, units: ReadonlyMap<string, number>): number | undefined => {
  const [, digits, unit] = /^(\d{1,15})([A-Za-z]{1,3})$/u.exec(text) ?? []
  const size = unit === undefined ? undefined : units.get(unit)
  const amount = size === undefined ? NaN : Number(digits) * size
  return Number.isSafeInteger(amount) && amount > 0 ? amount : undefined
}

/** `45m`, `12h`, `90d`, `6w` in milliseconds; undefined for anything else. */
export const ageOf = (text: string): number | undefined => amountOf(text, msIn)
/** `500MiB`, `50GiB` in bytes; undefined for anything else. */
export const sizeOf = (text: string): number | undefined => amountOf(text, bytesIn)

/** Longer than anybody keeps anything, and short enough that a moment so long ago is a date. */
const longest = '36500d'
const largestSize = '1024TiB'

/**
 * Text that has to be of a form, such as `age such as 12h`: what is no text is told by it too. Whether text is of it a
 * `rule` says.
 */
const formed = (form: string): StructOf<string> =>
  note(
    () => ss.define<string>(form, (value) => typeof value === 'string'),
    () => ({ type: 'string' }),
  )

/** An age of at least `least`, which is one itself. */
export const age = (least: string, sentence: string): StructOf<string> => {
  const [from, to] = [ageOf(least) ?? 0, ageOf(longest) ?? 0]
  const fits = (text: string): boolean => isWithin(ageOf(text), from, to)
  const form = `age such as 12h, 90d or 52w, from ${least} to ${longest}`
  return doc(rule(formed(form), `must be an ${form}`, fits), `${sentence} From ${least} to ${longest}.`)
}
/** A size of at least `least`, which is one itself. */
export const size = (least: string, sentence: string): StructOf<string> => {
  const [from, to] = [sizeOf(least) ?? 0, sizeOf(largestSize) ?? 0]
  const fits = (text: string): boolean => isWithin(sizeOf(text), from, to)
  const form = `size such as 500MiB or 50GiB, from ${least} to ${largestSize}`
  return doc(rule(formed(form), `must be a ${form}`, fits), `${sentence} From ${least} to ${largestSize}.`)
}
const isWithin = (amount: number | undefined, from: number, to: number): boolean =>
  amount !== undefined && amount >= from && amount <= to

const largest = [...bytesIn].toReversed()
/** Bytes for a person: `1.5 GiB`. */
export const showSize = (bytes: number): string => {
  const [unit, each] = largest.find(([, least]) => Math.abs(bytes) >= least) ?? ['B', 1]
  const amount = bytes / each
  return `${Math.abs(amount) >= 100 ? Math.round(amount) : Math.round(amount * 10) / 10} ${unit}`
}
/** The day of a moment, in UTC: `2027-01-31`. */
export const showDay = (ms: number): string => showTime(ms).slice(0, 10)
