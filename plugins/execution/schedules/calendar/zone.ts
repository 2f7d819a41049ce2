/** Wall times of a zone, as the zone data of the runtime has them. */
import { createCache } from '../../../../core/plugin.js'

const hour = 3_600_000
const formats = createCache<Intl.DateTimeFormat>(500)

const formatOf = (timezone: string): Intl.DateTimeFormat => {
  const known = formats.get(timezone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    era: 'short',
  })
  formats.set(timezone, made)
  return made
}

/** What the clock on the wall shows at a moment, written as the moment at which a clock in UTC shows the same. */
export const wallOf = (at: number, timezone: string): number => {
  const parts = Object.fromEntries(
    formatOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour: hours = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hours, minute, second)
}

/** The offset of the zone from UTC at a moment, ms. */
const offsetOf = (at: number, timezone: string): number => wallOf(at, timezone) - Math.floor(at / 1000) * 1000

/**
 * The moment at which the wall shows the same as at `at` once more, because clocks go back behind it; undefined if
 * there is none.
 */
export const secondOccurrence = (at: number, timezone: string): number | undefined => {
  const offset = offsetOf(at, timezone)
  for (const ahead of [hour, 2 * hour, 3 * hour]) {
    const later = offsetOf(at + ahead, timezone)
    const again = at + offset - later
    if (later < offset && offsetOf(again, timezone) === later) return again
  }
  return undefined
}

const two = (n: number): string => String(n).padStart(2, '0')

/** `2026-03-29T03:00:00+02:00`. */
export const localText = (at: number, timezone: string): string => {
  const minutes = Math.round(offsetOf(at, timezone) / 60_000)
  const [sign, size] = [minutes < 0 ? '-' : '+', Math.abs(minutes)]
  const wall = new Date(wallOf(at, timezone)).toISOString().slice(0, 19)
  return `${wall}${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** `02:30`, or `02:30:15` if there are seconds. */
export const clockText = (wall: number): string => {
  const text = new Date(wall).toISOString().slice(11, 19)
  return text.endsWith(':00') ? text.slice(0, 5) : text
}
