/**
 * Milliseconds that a `Retry-After` header asks for: whole seconds, or a date that begins with its weekday. Undefined
 * if it is absent or says nothing that can be read: a number that is none of these is no date.
 */
export const retryAfter = (header: string | undefined, now: number): number | undefined => {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}(?:\.\d{1,6})?$/u.test(text)) return Math.round(Number(text) * 1000)
  const date = /^[A-Za-z]{3,}, /u.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
