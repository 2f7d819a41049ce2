/**
 * When the server wants to be asked again, milliseconds from now: `retry-after-ms`, or `retry-after` as seconds or as a
 * date.
 */
export const retryAfter = (headers: Readonly<Record<string, string>>, now: () => number): number | undefined => {
  const ms = positive(headers['retry-after-ms'])
  if (ms !== undefined) return Math.round(ms)
  const seconds = positive(headers['retry-after'])
  if (seconds !== undefined) return Math.round(seconds * 1000)
  const date = Date.parse(headers['retry-after'] ?? '')
  return Number.isNaN(date) ? undefined : Math.max(0, date - now())
}

const positive = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}(?:\.\d{1,6})?$/u.test(text.trim()) ? Number(text) : undefined
