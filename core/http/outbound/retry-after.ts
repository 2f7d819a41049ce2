/** About 31 years: a number of any length counts, and none is too large for those who reckon with it. */
const longestMs = 999_999_999_000

/**
 * Milliseconds that a `Retry-After` header asks for: whole seconds, or a date that begins with its weekday. Undefined
 * if it is absent or says nothing that can be read: a number that is none of these is no date. 999,999,999 seconds at
 * most.
 */
export const retryAfter = (header: string | undefined, now: number): number | undefined => {
  const text = header?.trim() ?? ''
  if (/^\d+(?:\.\d{1,6})?$/u.test(text)) return Math.min(longestMs, Math.round(Number(text) * 1000))
  const date = /^[A-Za-z]{3,}, /u.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(date) ? undefined : Math.min(longestMs, Math.max(0, date - now))
}
