/** Days of a zone, as `2026-11-23`. */
export interface Days {
  /** The day of a moment, Unix ms. */
  of(at: number): string
  /** When the day of a moment is over, Unix ms. */
  endOf(at: number): number
}

interface Known {
  readonly day: string
  readonly from: number
  readonly until: number
}

const dayMs = 86_400_000
/** No day is longer. */
const longestMs = 30 * 3_600_000

export const createDays = (zone: string): Days => {
  const learn = zone === 'UTC' ? utcDay : zonedDay(zone)
  let known: Known = { day: '', from: 0, until: 0 }
  const at = (ms: number): Known => {
    if (ms < known.from || ms >= known.until) known = learn(ms)
    return known
  }
  return { of: (ms) => at(ms).day, endOf: (ms) => at(ms).until }
}

const utcDay = (ms: number): Known => {
  const from = Math.floor(ms / dayMs) * dayMs
  return { day: new Date(from).toISOString().slice(0, 10), from, until: from + dayMs }
}

const zonedDay = (zone: string): ((ms: number) => Known) => {
  const format = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    calendar: 'iso8601',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  const dayOf = (ms: number): string => {
    const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]))
    return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`
  }
  return (ms) => {
    const day = dayOf(ms)
    let [low, high] = [ms, ms + longestMs]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (dayOf(middle) === day) low = middle
      else high = middle
    }
    return { day, from: ms, until: high }
  }
}
