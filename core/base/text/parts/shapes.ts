/** What stands in one value that is told to be secret, by its shape: behind a scheme or a user, and in base64. */
import { isUtf8 } from 'node:buffer'
import { secretsInAddress } from '../../words/in-address.js'
import { isWords } from './told.js'

/** `Bearer x`, and nothing behind it. */
const schemed = /^(?<scheme>[A-Za-z][\w-]{0,63}) +(?<token>\S+)$/u
/** Of others a word may be one of a phrase that somebody remembers. */
const schemes = /^(?:bearer|token|basic|api-?key|bot|dpop|digest)$/iu

/** What a line says behind the name of a scheme that headers have. */
export const inHeader = (line: string): string[] => (/^(?:bearer|basic|token) /iu.test(line) ? insideOf(line) : [])

const inScheme = (value: string): string[] => {
  const { scheme = '', token } = schemed.exec(value)?.groups ?? {}
  if (token === undefined) return []
  const isToken = schemes.test(scheme)
    ? !isWords(token) || /^bearer$/iu.test(scheme)
    : /^(?=\D*\d)\S{12,}$/u.test(token)
  return isToken ? [token] : []
}

/** `user:x`; behind a name may stand a port or a path, too. */
const ofUser = /^[^\s:/@"'{}[\]]{1,64}:(?!\d{1,5}(?:$|\/))(?<password>[^\s/\\]\S*)$/u
/** A word is the password of a user only in base64: `user:profile` may be anything. */
const inPair = (value: string, isDecoded: boolean): string[] => {
  const { password } = ofUser.exec(value)?.groups ?? {}
  return password === undefined || (isWords(password) && !isDecoded) ? [] : [password]
}

/** Of one text: more addresses than these have nobody's secrets. */
const mostAddresses = 400
/** The name of a user is a word, as in `ssh://deploy@host`, also where it is the password; a token is none. */
export const inAddress = (text: string): string[] =>
  [...new Set(secretsInAddress(text))]
    .slice(0, mostAddresses)
    .filter((secret) => !isWords(secret) || !(text.includes(`//${secret}@`) || text.includes(`//${secret}:`)))

const base64 = /^[A-Za-z0-9+/_-]{8,}={0,2}$/u
/** What a value says in base64, with line ends amid it too; undefined if that is no text. */
export const textInBase64 = (value: string): string | undefined => {
  const solid = value.replaceAll(/\s+/gu, '')
  if (!base64.test(solid)) return undefined
  const bytes = Buffer.from(solid, 'base64')
  const text = isUtf8(bytes) ? bytes.toString() : '\0'
  return /[^\P{C}\t\r\n]/u.test(text) ? undefined : text
}

/** What is secret in a secret, `isDecoded` where it stood in base64. */
export const insideOf = (value: string, isDecoded = false): string[] => {
  const text = textInBase64(value)
  return [
    ...inPair(value, isDecoded),
    ...inScheme(value).flatMap((token) => [token, ...insideOf(token)]),
    ...(text === undefined ? [] : [text, ...insideOf(text, true)]),
  ]
}
