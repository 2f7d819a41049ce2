/** Text that every JSON reader takes: half of a surrogate pair, which models and cuts leave, becomes U+FFFD. */
import { unsafeCast } from '../schema.js'

const half = /\p{Surrogate}/u
const halves = /\p{Surrogate}/gu

/** The same of one text. */
export const wellFormed = (text: string): string => (half.test(text) ? text.replace(halves, '\uFFFD') : text)

/** The same for every text and name in a value; the value itself where nothing is to be changed. */
export const wellFormedJson = <T>(value: T): T => (isWellFormed(value) ? value : unsafeCast<T>(mend(value)))

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return !half.test(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isWellFormed)
  return Object.entries(value).every(([name, one]) => !half.test(name) && isWellFormed(one))
}

const mend = (value: unknown): unknown => {
  if (typeof value === 'string') return wellFormed(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(mend)
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [wellFormed(name), mend(one)]))
}

/** The first `most` UTF-16 code units of a text, not cut between the halves of a character. */
export const beginningOf = (text: string, most: number): string =>
  text.length > most ? text.slice(0, most).replace(/[\uD800-\uDBFF]$/u, '') : text

// A mark of the order of bytes is a part of the text.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** The text of these bytes; undefined where they are not UTF-8. */
export const utf8Text = (bytes: Uint8Array): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
