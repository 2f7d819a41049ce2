/** What vendors say of their limits in the headers of each answer, each in its own words. */
import type { RateLimit } from '../../../execution/models/contract.js'

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** `anthropic-ratelimit-requests-remaining`, `x-ratelimit-remaining-requests`, `x-ratelimit-remaining`. */
const names =
  /^(?:anthropic-ratelimit-([a-z-]{1,32})-(remaining|reset)|x-ratelimit-(remaining|reset)(?:-([a-z-]{1,32}))?)$/u
/** Limits that are read of one answer. */
const most = 8

const amount = /^\d{1,15}(?:\.\d{1,6})?$/u
const duration = /^(?=\d)(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:([\d.]{1,19})s)?(?:([\d.]{1,19})ms)?$/u
const instant = /^\d{4}-\d\d-\d\dT[\d:.]{5,18}(?:Z|[+-]\d\d:\d\d)$/u
/** Numbers from these on are Unix times, in seconds and in milliseconds. */
const [epochSeconds, epochMs] = [1e9, 1e12]

/** Of `6m0s`, of `20ms`, of `2026-01-31T10:00:00Z`, of seconds and of Unix times: milliseconds from now. */
export const resetIn = (text: string, now: number): number | undefined => {
  if (amount.test(text)) {
    const value = Number(text)
    if (value >= epochMs) return Math.max(0, value - now)
    return value >= epochSeconds ? Math.max(0, value * 1000 - now) : value * 1000
  }
  if (instant.test(text)) {
    const at = Date.parse(text)
    return Number.isNaN(at) ? undefined : Math.max(0, at - now)
  }
  const found = duration.exec(text)
  if (found === null) return undefined
  const [d = 0, h = 0, m = 0, s = 0, ms = 0] = found.slice(1).map((piece) => Number(piece ?? 0))
  const total = (((d * 24 + h) * 60 + m) * 60 + s) * 1000 + ms
  return Number.isNaN(total) ? undefined : total
}

interface Told {
  remaining?: string
  reset?: string
}

export const limitsIn = (headers: Headers, now: number): RateLimit[] => {
  const told = new Map<string, Told>()
  for (const name in headers) {
    // Most headers are others, and each answer has some.
    const found = name.includes('ratelimit-') ? names.exec(name) : null
    const value = headers[name]
    if (found === null || typeof value !== 'string') continue
    const of = found[1] ?? found[4] ?? 'calls'
    const one = told.get(of) ?? {}
    if ((found[2] ?? found[3]) === 'remaining') one.remaining = value.trim()
    else one.reset = value.trim()
    if (told.size < most) told.set(of, one)
  }
  return [...told].flatMap(([of, { remaining = '', reset = '' }]) => {
    if (!amount.test(remaining)) return []
    const resets_in_ms = resetIn(reset, now)
    return [{ of, remaining: Number(remaining), ...(resets_in_ms !== undefined && { resets_in_ms }) }]
  })
}
