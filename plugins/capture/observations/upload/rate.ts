/** How many uploads of a source are new in one window, which begins with the first of them. */
import { latestTime, type Clock } from '../../../../core/plugin.js'
import type { ObservationSourceView } from '../record/structs.js'

export interface Rates {
  /** Counts one; the ms until the next window where there is no room in this one. */
  take(source: ObservationSourceView): { readonly retry_after_ms: number; readonly isFirst: boolean } | undefined
}

interface Window {
  since: number
  count: number
  /** Refused in it. */
  refused: number
}

/** Of this life of the daemon alone. Sources are as many as operators made. */
export const createRates = (clock: Pick<Clock, 'elapsed'>): Rates => {
  const windows = new Map<string, Window>()
  return {
    take({ source_id, ingest_rate_limit_window_ms: length, ingest_rate_limit_burst: most }) {
      const now = clock.elapsed()
      const last = windows.get(source_id)
      const window = last !== undefined && now < last.since + length ? last : { since: now, count: 0, refused: 0 }
      windows.set(source_id, window)
      if (window.count < most) {
        window.count += 1
        return undefined
      }
      window.refused += 1
      const left = Math.min(Math.ceil(window.since + length - now), latestTime)
      return { retry_after_ms: Math.max(1, left), isFirst: window.refused === 1 }
    },
  }
}
