/** Texts of others, cut where no half of a secret is left. */
import { redactedAsRead } from './as-read.js'

/** More than any known value takes in any of its forms, in characters. */
const margin = 256 * 1024

/**
 * The beginning of a text, `most` characters at most, redacted as it is read and before it is cut: half a secret looks
 * like none. Of a long text no more is looked at than it takes to know what its beginning is.
 */
export const redactedTo = (text: string, most: number, redact: (text: string) => string): string => {
  for (let looked = most + margin; ; looked *= 2) {
    const safe = redactedAsRead(text.slice(0, looked), redact)
    // What the end of the part cuts in two is behind all that is shown.
    if (looked >= text.length || safe.length >= most + margin) return safe.slice(0, most)
  }
}

/** A text that was cut before anybody could redact it, without the word that may be cut in two. */
export const withoutCutWord = (text: string): string => text.slice(0, Math.max(0, text.search(/\s\S*$/u)))
