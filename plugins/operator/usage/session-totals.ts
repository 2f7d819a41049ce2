/** What each session has used. Days that are over are added up once, since what is booked stays with its day. */
import type { UsageSums } from './contract.js'
import { partsOfId, totalOf, type UsageStore } from './store.js'

/** Sessions whose days that are over are remembered. */
const mostKnown = 1_000

interface Over {
  /** With the newest: another number means another sum. */
  readonly days: number
  readonly sums: UsageSums
}

export interface SessionTotals {
  of(session_id: string): UsageSums
  /** A call is about to be booked on this day, which after a clock that went back may be one that was over. */
  books(session_id: string, day: string): void
}

export const createSessionTotals = ({ sessions }: Pick<UsageStore, 'sessions'>): SessionTotals => {
  const known = new Map<string, Over>()
  const newestOf = (session_id: string): string | undefined =>
    sessions.page({ index: 'session', group: session_id, limit: 1, order: 'desc' })[0]
  const over = (session_id: string): UsageSums => {
    const days = sessions.count('session', session_id)
    const found = known.get(session_id)
    if (found?.days === days) return found.sums
    const ids = sessions.page({ index: 'session', group: session_id, limit: days - 1 })
    const sums = totalOf(ids.map((id) => sessions.find(id)))
    const [oldest] = known.keys()
    if (known.size >= mostKnown && oldest !== undefined) known.delete(oldest)
    known.set(session_id, { days, sums })
    return sums
  }
  return {
    of(session_id) {
      const newest = newestOf(session_id)
      if (newest === undefined) return totalOf([])
      return totalOf([{ routes: [over(session_id)] }, sessions.find(newest)])
    },
    books(session_id, day) {
      if (!known.has(session_id)) return
      const newest = newestOf(session_id)
      if (newest !== undefined && day < partsOfId(newest).day) known.delete(session_id)
    },
  }
}
