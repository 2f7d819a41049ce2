/** What models say back of what an operator wrote to them: a word of it may be a secret that nobody knows as one. */

/** A word without what stands around it in a sentence. */
const words = /[^\s"'`(),;:<>[\]{}]{6,}/gu
const isPlain = /^\p{L}+[.!?]?$/u

const leftOut = '[left out]'

/** Takes words of what was asked that are no plain words out of a text, besides what `redact` takes out. */
export const withoutOwnWords = (
  asked: readonly (string | undefined)[],
  redact: (text: string) => string,
): ((text: string) => string) => {
  const found = new Set(asked.flatMap((text = '') => text.match(words) ?? []).filter((word) => !isPlain.test(word)))
  const own = [...found].map((word) => word.replace(/[.!?]$/u, '')).toSorted((a, b) => b.length - a.length)
  return (text) => redact(own.reduce((left, word) => left.replaceAll(word, leftOut), text))
}
