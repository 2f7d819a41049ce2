/**
 * Reads a large JSON text whose long texts, such as files in base64, stay where they are in its bytes. What is left is
 * read as any text is; each long one is told by its place, so that no thread has it twice.
 */
import { hash } from 'node:crypto'
import { hasOwnDigest } from '../../base/text/canonical-json.js'
import type { Json } from '../../base/schema.js'
import { readerOf, type JsonForm, type JsonText } from './json-text.js'

/** A text of a value: where it belongs, and from where to where its bytes are. */
export interface LongText {
  readonly path: readonly string[]
  readonly start: number
  readonly end: number
}
export interface LongRead {
  readonly text: JsonText
  /** In `text` something else stands in their places. */
  readonly longs: readonly LongText[]
  /** SHA-256 in hex of the texts that have one, in their order. */
  readonly hashes: readonly string[]
}

type Span = Omit<LongText, 'path'>

/** Bytes from which on a text is left where it is. */
const least = 64 * 1024
const [quote, backslash, colon] = [0x22, 0x5c, 0x3a]
const blanks: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** Where a text closes, if it does, and whether its bytes are what it says: visible ASCII that nothing escapes. */
const closing = (bytes: Uint8Array, start: number): { readonly end: number; readonly plain: boolean } => {
  let plain = true
  for (let at = start; at < bytes.length; at += 1) {
    const sign = bytes[at] ?? 0
    if (sign === quote) return { end: at, plain }
    if (sign === backslash) {
      plain = false
      at += 1
    } else if (sign < 0x20 || sign > 0x7e) plain = false
  }
  return { end: -1, plain }
}

const isKey = (bytes: Uint8Array, end: number): boolean => {
  let at = end + 1
  while (blanks.has(bytes[at])) at += 1
  return bytes[at] === colon
}

const spansOf = (bytes: Uint8Array): Span[] => {
  const spans: Span[] = []
  for (let at = bytes.indexOf(quote); at !== -1;) {
    const start = at + 1
    const { end, plain } = closing(bytes, start)
    if (end === -1) break
    if (plain && end - start >= least && !isKey(bytes, end)) spans.push({ start, end })
    at = bytes.indexOf(quote, end + 1)
  }
  return spans
}

/** Stands for a long text: no other text of a body is like it, or the body is read whole. */
const mark = '\u0001long text '
const written = JSON.stringify(mark).slice(1, -1)

/** The bytes with marks in the places of long texts. */
const shortened = (bytes: Uint8Array, spans: readonly Span[]): Uint8Array => {
  let from = 0
  const parts = spans.flatMap(({ start, end }, n) => {
    const before = bytes.subarray(from, start)
    from = end
    return [before, Buffer.from(`${written}${n}`)]
  })
  return Buffer.concat([...parts, bytes.subarray(from)])
}

interface Placed {
  readonly path: readonly string[]
  readonly text: string
}
const textsOf = (value: Json, path: readonly string[] = []): Placed[] => {
  if (typeof value === 'string') return [{ path, text: value }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : textsOf(inner, [...path, key])))
}

const digestOf = (part: string | Uint8Array): string[] => (hasOwnDigest(part.length) ? [hash('sha256', part)] : [])

const readWhole = (bytes: Uint8Array, form: JsonForm): LongRead => {
  const text = readerOf[form](bytes)
  return { text, longs: [], hashes: text.ok ? textsOf(text.value).flatMap((each) => digestOf(each.text)) : [] }
}

export const readLong = (bytes: Uint8Array, form: JsonForm): LongRead => {
  const spans = form === 'strict' ? spansOf(bytes) : []
  if (spans.length === 0) return readWhole(bytes, form)
  const text = readerOf[form](shortened(bytes, spans))
  if (!text.ok) return { text, longs: [], hashes: [] }
  const texts = textsOf(text.value)
  const longs = texts.flatMap(({ path, text: found }): LongText[] => {
    const span = found.startsWith(mark) ? spans[Number(found.slice(mark.length))] : undefined
    return span === undefined ? [] : [{ path, ...span }]
  })
  if (texts.filter((each) => each.text.startsWith(mark)).length !== spans.length) return readWhole(bytes, form)
  let next = 0
  const hashes = texts.flatMap((each) => {
    const long = each.text.startsWith(mark) ? longs[next++] : undefined
    return digestOf(long === undefined ? each.text : bytes.subarray(long.start, long.end))
  })
  return { text, longs, hashes }
}

/**
 * The value with its long texts, which are copied out of the bytes: as UTF-8, because a long text of Latin-1 would be
 * outside of the heap of V8, where it is not given back.
 */
export const withLongs = (value: Json, longs: readonly LongText[], bytes: Uint8Array): Json => {
  const whole = { value }
  for (const { path, start, end } of longs) {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
    const keys = ['value', ...path]
    const holder = keys.slice(0, -1).reduce<object>((inner, key) => Object(Reflect.get(inner, key)), whole)
    Reflect.set(holder, keys.at(-1) ?? '', text)
  }
  return whole.value
}
