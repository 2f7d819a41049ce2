/** The forms in which a known value may stand in a text. */
import { isRandom } from '../../words/bare-secrets.js'
import { phrasesOf } from './folded.js'

/** What of a value is secret by itself. */
export interface Parts {
  /** The value, and what it is without blanks and quotes around it. */
  readonly wholes: readonly string[]
  /** Lines of a key. */
  readonly lines: ReadonlySet<string>
  /** What names tell of, or what looks secret whatever it is called. */
  readonly values: ReadonlySet<string>
}

/** JSON of ASCII alone, as some programs write it. */
const asciiOf = (json: string): string =>
  json.replaceAll(/[^\0-\x7f]/gu, (sign) =>
    Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  )
const jsonOf = (text: string): string => JSON.stringify(text).slice(1, -1)
/** Bytes as `%c3` or `\u00e4`, in letters of the other size. */
const otherCase = (text: string): string => text.replaceAll(/%[0-9A-F]{2}/gu, (sign) => sign.toLowerCase())
const capitals = (text: string): string => text.replaceAll(/(?<=\\u)[0-9a-f]{4}/gu, (digits) => digits.toUpperCase())

/**
 * Of bytes in the middle of others, what of their base64 is the same whatever stands around them: there are three
 * ways, by how many bytes stand before. Of those at the end the padding goes with them.
 */
const base64Of = (bytes: Buffer): string[] => {
  const inner = [0, 1, 2].flatMap((before) => {
    const [begin, end] = [Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3)]
    const base64 = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    return [base64.slice(begin, end), base64.slice(begin)]
  })
  return [...inner, withoutPadding(bytes.toString('base64'))]
}
const withoutPadding = (base64: string): string => base64.replace(/=+$/u, '')

/** A text in JSON, in JSON in JSON, in URLs and forms. */
const writtenOf = (text: string): string[] => {
  const whole = Buffer.from(text).toString()
  const jsons = [jsonOf(text), asciiOf(jsonOf(text)), capitals(asciiOf(jsonOf(text)))]
  const urls = [encodeURIComponent(whole), new URLSearchParams([['', whole]]).toString().slice(1)]
  return [text, ...jsons, ...jsons.map(jsonOf), ...urls, ...urls.map(otherCase)]
}
/** Letters, digits and signs that JSON, URLs and forms write as they are. */
const plain = /^[A-Za-z0-9._-]*$/u

/** Its bytes in hex and in base64, without gaps. */
const encodingsOf = (text: string): string[] => {
  const bytes = Buffer.from(text)
  const [hex, base64] = [bytes.toString('hex'), base64Of(bytes)]
  return [hex, hex.toUpperCase(), ...base64, ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

/** Code units. Of longer values these forms would take much memory, and nobody lists their bytes. */
const longestListed = 1024
/** Its base64 in base64 once more, and its bytes one by one, as programs and JSON list them. */
const listsOf = (text: string): string[] => {
  if (text.length > longestListed) return []
  const bytes = Buffer.from(text)
  const hexes = Array.from(bytes, (byte) => `0x${byte.toString(16).padStart(2, '0')}`)
  const lists = [hexes.join(','), hexes.join('')]
  const capitals = lists.map((list) => list.toUpperCase().replaceAll('X', 'x'))
  const base64 = bytes.toString('base64')
  const again = [base64, withoutPadding(base64)].flatMap((inner) => base64Of(Buffer.from(inner)))
  return [bytes.join(','), ...lists, ...capitals, ...again]
}

/** A value with whatever ends its lines. */
const endingsOf = (value: string): ReadonlySet<string> => {
  const lines = value.replaceAll('\r\n', '\n')
  return new Set([value, lines, lines.replaceAll('\n', '\r\n')])
}

/** True for the base64 of one byte again and again, such as zero: it is in many texts. */
const repeats = (line: string): boolean => line.slice(4) === line.slice(0, -4)
/** The lines of its base64 as `base64` and mail wrap it, where it has several. */
const wrappedLinesOf = (value: string): string[] => {
  const lines = withoutPadding(Buffer.from(value).toString('base64')).match(/.{1,76}/gu) ?? []
  return lines.length === 1 ? [] : lines.filter((line) => !repeats(line))
}

const asText = (text: string): string[] => (plain.test(text) ? [text] : writtenOf(text))

/**
 * As it is written, and encoded, with or without gaps; what stands only at the borders of words; and phrases, which are
 * looked for in a folded text.
 */
export const formsOf = ({ wholes, lines, values }: Parts) => {
  const all = wholes.flatMap((whole) => [...endingsOf(whole)])
  const [solid, words] = [[...values].filter(isRandom), [...values].filter((part) => !isRandom(part))]
  return {
    written: new Set([...[...all, ...solid].flatMap(asText), ...lines]),
    encoded: new Set([
      ...[...all, ...values].flatMap((text) => [...encodingsOf(text), ...listsOf(text)]),
      // What is in no order that words have is known wherever a line end parts it, too.
      ...[...all, ...values].filter(isRandom),
      ...wholes.flatMap(wrappedLinesOf),
    ]),
    words: new Set(words.flatMap(asText)),
    phrases: new Set(phrasesOf([...wholes, ...values])),
  }
}
