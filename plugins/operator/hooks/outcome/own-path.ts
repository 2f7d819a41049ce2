/** What a host says back of the address by which it is asked: whoever knows the path may ask it too. */
import { secretsInAddress } from '../../../../core/plugin.js'

/** Also of several, as `preToolUse` is; one with capitals amid it in no such order may be a key. */
const word = '(?:\\p{Lu}?\\p{Ll}+(?:\\p{Lu}\\p{Ll}{2,})*|\\p{Lu}+|\\p{Lo}+)'
/** Names that hosts give to what they do: words, one with a number, versions and dates. */
const isPlain = new RegExp(`^(?:${word}(?:(?:[-_.]${word})*|[-_.]?\\d{1,4})|v?\\d{1,4}(?:[-.]\\d{1,4}){0,2})$`, 'u')
/** One part alone may be a part of any path. */
const hasSeveral = /[^/]\/[^/]|\?/u
const shortest = 6

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
const eitherWay = (texts: readonly string[]): string[] => [...new Set(texts.flatMap((text) => [text, decoded(text)]))]

/** Of a query the values, and what has no name. */
const partsOf = ({ pathname, search }: URL): string[] => [
  ...pathname.split('/'),
  ...search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1)),
]

/** Parts of the path and the query that are no plain words, as they are written and decoded. */
export const secretsInOwnPath = (url: string): string[] =>
  URL.canParse(url)
    ? [...eitherWay(partsOf(new URL(url)).filter((part) => !isPlain.test(part))), ...secretsInAddress(url)]
    : []

/** The path and the query as a whole, the longest first. */
const wholeOf = ({ pathname, search }: URL): string[] =>
  eitherWay([pathname + search, pathname, search])
    .filter((text) => text.length >= shortest && hasSeveral.test(text))
    .toSorted((a, b) => b.length - a.length)

/** Takes the path and the query of an address as a whole out of a text, and then what `redact` takes out. */
export const withoutOwnPath = (url: string, redact: (text: string) => string): ((text: string) => string) => {
  const whole = URL.canParse(url) ? wholeOf(new URL(url)) : []
  return (text) => redact(whole.reduce((left, part) => left.replaceAll(part, '[redacted]'), text))
}
