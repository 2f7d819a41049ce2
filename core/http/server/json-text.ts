/**
 * Reads a JSON text more strictly than JSON.parse: bounded depth and number of
 * values, no key twice, no number or text that would be changed by being
 * stored and sent again. Reports where, never what.
 */
import { isModest, maxDepth } from '../../base/text/nesting.js'
import { utf8Text } from '../../base/text/well-formed.js'
import type { Json } from '../../base/schema.js'
import type { FieldError } from '../errors.js'

const maxValues = 100_000
const maxFields = 10_000

interface Level {
  readonly keys: Set<string> | undefined
  key: string
  index: number
  expectsKey: boolean
}
type Token = { readonly end: number; readonly rule?: string; readonly text?: string }

const twice = 'is given twice'
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/uy

/** From the opening quote to after the closing one; the end of the text if it never closes. */
const readString = (text: string, start: number): Token => {
  let end = start + 1
  let escaped = false
  for (; ; end += 1) {
    const code = text.charCodeAt(end)
    if (code === 34) break
    if (Number.isNaN(code)) return { end }
    if (code === 92) {
      escaped = true
      end += 1
    }
  }
  if (!escaped) return { end: end + 1, text: text.slice(start + 1, end) }
  const value = tryParse(text.slice(start, end + 1))
  if (typeof value !== 'string') return { end: end + 1 }
  return { end: end + 1, text: value, ...(/\p{Surrogate}/u.test(value) && { rule: 'must be well-formed Unicode' }) }
}

/** Beyond, several whole numbers are one. */
const beyondWhole = `must be from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, as a whole number`

const readNumber = (text: string, start: number): Token => {
  number.lastIndex = start
  const digits = number.exec(text)?.[0]
  if (digits === undefined) return { end: start + 1 }
  const value = Number(digits)
  const whole = /^-?\d+$/u.test(digits)
  const end = start + digits.length
  if (whole && !Number.isSafeInteger(value)) return { end, rule: beyondWhole }
  const lost = !Number.isFinite(value) || (value === 0 && /^[^eE]*[1-9]/u.test(digits))
  return { end, ...(lost && { rule: 'must be a number that a double can hold' }) }
}

const pathOf = (levels: readonly Level[]): string =>
  ['body', ...levels.map(({ keys, key, index }) => (keys === undefined ? String(index) : key))].join('.')

/** The first fault, of this rule or of any, that JSON.parse would let through; syntax is left to JSON.parse. */
const findFault = (text: string, only?: string): FieldError | undefined => {
  const levels: Level[] = []
  let values = 0
  const step = (at: number): Token => {
    const top = levels.at(-1)
    switch (text.charCodeAt(at)) {
      case 34:
        return readMember(readString(text, at), top)
      case 123:
        return enter(levels, true, at)
      case 91:
        return enter(levels, false, at)
      case 125:
      case 93:
        levels.pop()
        return { end: at + 1 }
      case 44:
        values += 1
        advance(top)
        return { end: at + 1 }
      case 45:
      case 48:
      case 49:
      case 50:
      case 51:
      case 52:
      case 53:
      case 54:
      case 55:
      case 56:
      case 57:
        return readNumber(text, at)
      default:
        return { end: at + 1 }
    }
  }
  for (let at = 0; at < text.length;) {
    const { end, rule } = step(at)
    if (rule !== undefined && (only ?? rule) === rule) return { path: pathOf(levels), rule }
    if (only === undefined && values > maxValues) return { path: 'body', rule: `must have at most ${maxValues} values` }
    at = end
  }
  return undefined
}

const enter = (levels: Level[], keyed: boolean, at: number): Token => {
  if (levels.length >= maxDepth) return { end: at + 1, rule: `must be nested at most ${maxDepth} levels deep` }
  levels.push({ keys: keyed ? new Set() : undefined, key: '', index: 0, expectsKey: keyed })
  return { end: at + 1 }
}
const advance = (top: Level | undefined): void => {
  if (top === undefined) return
  top.index += 1
  top.expectsKey = top.keys !== undefined
}
const readMember = (token: Token, top: Level | undefined): Token => {
  if (top?.keys === undefined || !top.expectsKey || token.text === undefined) return token
  top.expectsKey = false
  top.key = token.text
  if (top.keys.has(token.text)) return { ...token, rule: twice }
  top.keys.add(token.text)
  return top.keys.size > maxFields ? { ...token, rule: `is one of more than ${maxFields} fields` } : token
}

const tryParse = (text: string): Json | undefined => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export type JsonText = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly error: FieldError }

const notUtf8: JsonText = { ok: false, error: { path: 'body', rule: 'must be UTF-8' } }
const notJson: JsonText = { ok: false, error: { path: 'body', rule: 'must be JSON' } }

export const readJson = (bytes: Uint8Array): JsonText => {
  const text = utf8Text(bytes)
  if (text === undefined) return notUtf8
  const error = findFault(text)
  if (error !== undefined) return { ok: false, error }
  const value = tryParse(text)
  return value === undefined ? notJson : { ok: true, value }
}

/**
 * The path of a member that an object of this JSON has twice, of which readers take the one or the other; undefined if
 * there is none. Of what is nested deeper than bodies may be it says nothing that holds.
 */
export const givenTwice = (text: string): string | undefined => findFault(text, twice)?.path.slice('body.'.length)

const immodest: JsonText = {
  ok: false,
  error: { path: 'body', rule: `must have at most ${maxValues} values, nested at most ${maxDepth} levels deep` },
}

/** Texts, which are passed over, and whole numbers that a double may change. */
const textOrLongNumber = /"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/gsu
const asText = (found: string): string =>
  found.startsWith('"') || Number.isSafeInteger(Number(found)) ? found : `"${found}"`

/** The JSON of a platform, which is not ours to be strict about: bounded in depth and values. */
export const readLenient = (bytes: Uint8Array): JsonText => {
  const text = utf8Text(bytes)
  if (text === undefined) return notUtf8
  if (!isModest(text)) return immodest
  const value = tryParse(text.replace(textOrLongNumber, asText))
  return value === undefined ? notJson : { ok: true, value }
}

/** How a text is read, by the form that a route takes. */
export const readerOf = { strict: readJson, lenient: readLenient } as const
export type JsonForm = keyof typeof readerOf
