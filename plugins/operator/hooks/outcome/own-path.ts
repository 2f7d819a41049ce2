/** What a host says back of the address by which it is asked: whoever knows the path may ask it too. */
import { secretsInAddress } from '../../../../core/plugin.js'

/** Names that hosts give to what they do. */
const isPlain = /^\p{L}+(?:[-_.]\p{L}+)*$/u
const shortest = 6

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Of a query the values, and what has no name. */
const partsOf = ({ pathname, search }: URL): string[] => [
  ...pathname.split('/'),
  ...search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1)),
]

/** The path and the query, whole and in parts, as they are written and decoded; the longest first. */
const ownOf = (url: URL): string[] => {
  const { pathname, search } = url
  const whole = [pathname + search, pathname, search, ...pathname.split('/').map((part) => `/${part}`)]
  const parts = partsOf(url).filter((part) => !isPlain.test(part))
  const all = [...whole, ...parts].flatMap((text) => [text, decoded(text)])
  return [...new Set([...all, ...secretsInAddress(url.href)])]
    .filter((text) => text.length >= shortest)
    .toSorted((a, b) => b.length - a.length)
}

/** Takes the path and the query of an address out of a text, besides what `redact` takes out; plain words stay. */
export const withoutOwnPath = (url: string, redact: (text: string) => string): ((text: string) => string) => {
  const own = URL.canParse(url) ? ownOf(new URL(url)) : []
  return (text) => own.reduce((left, part) => left.replaceAll(part, '[redacted]'), redact(text))
}
