/** About 31 years: a number of any length counts, and none is too large for those who reckon with it. */
const longestMs = 999_999_999_000

const number = String.raw`\d+(?:\.\d{1,6})?`
/** Of several headers the values stand in one, with commas. */
const seconds = new RegExp(`^${number}(?: *, *${number})*$`, 'u')
/** As asctime of C writes it, without its zone, which is that of all dates in HTTP. */
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/u

const dateIn = (text: string): number => {
  if (asctime.test(text)) return Date.parse(`${text} GMT`)
  return /^[A-Za-z]{3,}, /u.test(text) ? Date.parse(text) : NaN
}

/**
 * Milliseconds that a `Retry-After` header asks for: seconds, the most of several, or a date in any of the three forms
 * of HTTP. Undefined if it is absent or says nothing that can be read: a number that is none of these is no date.
 * 999,999,999 seconds at most.
 */
export const retryAfter = (header: string | undefined, now: number): number | undefined => {
  const text = header?.trim() ?? ''
  if (seconds.test(text))
    return text.split(',').reduce((most, one) => Math.max(most, Math.min(longestMs, Math.round(Number(one) * 1000))), 0)
  const date = dateIn(text)
  return Number.isNaN(date) ? undefined : Math.min(longestMs, Math.max(0, date - now))
}
