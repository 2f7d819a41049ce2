/** Texts of others, cut where no half of a secret is left. */
import { redactingAsRead } from './as-read.js'
import { differences } from './differences.js'
import { atOnce, type Portions } from './portions.js'

type Redact = (text: string) => string

/** More than any known value takes in any of its forms, in characters. */
const margin = 256 * 1024

/** What of a redacted text stands for its first code units: behind them half a secret may be left. */
const sureOf = (text: string, safe: string, sure: number): string => {
  let [made, copied] = ['', 0]
  for (const { span, mark } of differences(text, safe)) {
    const [begin, end] = span
    if (begin >= sure) break
    made += text.slice(copied, begin) + mark
    copied = end
  }
  return made + text.slice(copied, Math.max(copied, sure))
}

/**
 * The beginning of a text, `most` characters at most, redacted as it is read and before it is cut: half a secret looks
 * like none. Of a long text no more is looked at than it takes to know what its beginning is, once: what secrets alone
 * take there is not shown the more of.
 */
export const redactedTo = (text: string, most: number, redact: Redact): string =>
  atOnce(redactingTo(text, most, redact))

/** The same in portions. */
export function* redactingTo(text: string, most: number, redact: Redact): Portions<string> {
  const sure = Math.max(most, margin)
  const part = text.slice(0, sure + margin)
  const safe = yield* redactingAsRead(part, redact)
  const isWhole = part.length === text.length || safe === part
  return (isWhole ? safe : sureOf(part, safe, sure)).slice(0, most)
}

/** A text that was cut before anybody could redact it, without the word that may be cut in two. */
export const withoutCutWord = (text: string): string => text.slice(0, Math.max(0, text.search(/\s\S*$/u)))
