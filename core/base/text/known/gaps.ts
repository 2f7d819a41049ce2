/**
 * What stands between the signs of an encoded value and means nothing: base64 is wrapped, hex is written in pairs, with
 * blanks or colons.
 */
import type { Portions } from '../../turns.js'
import type { Span } from '../../words/reading.js'
import type { Spans } from './spans.js'

/** Code units that are read in one go. */
const portion = 64 * 1024
/** Backslashes before the letter of an escape, in JSON and JSON in JSON. */
const mostBackslashes = 8
const [blank, tab, return_, colon, backslash, n, r, t] = [32, 9, 13, 58, 92, 110, 114, 116]

/** The place behind white space, a colon or an escape that begins there; else the place itself. */
const behindGap = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  if (code === blank || code === colon || (code >= tab && code <= return_)) return at + 1
  if (code !== backslash) return at
  let end = at + 1
  while (end < at + mostBackslashes && text.charCodeAt(end) === backslash) end += 1
  const letter = text.charCodeAt(end)
  return letter === n || letter === r || letter === t ? end + 1 : at
}

export function* withoutGaps(text: string): Portions<string> {
  const units = new Uint16Array(Math.min(portion, text.length))
  let [made, at] = ['', 0]
  for (let stop = portion; at < text.length; stop = at + portion) {
    if (at > 0) yield
    let count = 0
    while (at < Math.min(stop, text.length)) {
      const behind = behindGap(text, at)
      if (behind === at) units[count++] = text.charCodeAt(at)
      at = Math.max(behind, at + 1)
    }
    made += Buffer.from(units.buffer, 0, 2 * count).toString('utf16le')
  }
  return made
}

/** Where in a text stand what was found in it without its gaps. */
export function* placedAmongGaps(text: string, spans: readonly Span[]): Spans {
  let [at, passed] = [0, 0]
  /** Behind so many signs that are no gaps. */
  function* goBehind(signs: number): Portions<number> {
    for (let looked = 1; passed < signs; looked += 1) {
      const behind = behindGap(text, at)
      if (behind === at) passed += 1
      at = Math.max(behind, at + 1)
      if (looked % portion === 0) yield
    }
    return at
  }
  for (const [begin, end] of spans) yield [(yield* goBehind(begin + 1)) - 1, yield* goBehind(end)]
}
