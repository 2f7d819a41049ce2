const defaultMs = 1000

/**
 * Milliseconds that a `Retry-After` header asks for: seconds, or a date. One second if it says nothing that can be
 * read (deliveries-28).
 */
export const retryAfterMs = (header: string | undefined, now: number): number => {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/u.test(text)) return Number(text) * 1000
  const date = /^[A-Za-z]{3,}, /u.test(text) ? Date.parse(text) : NaN
  return Number.isNaN(date) ? defaultMs : Math.max(0, date - now)
}
