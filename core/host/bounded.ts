import type { Clock } from '../base/clock.js'
import { errors } from './errors.js'

export interface Bound {
  readonly clock: Clock
  readonly ms: number
  readonly what: string
}

/** The work's outcome, or a rejection after `ms`. The work itself cannot be stopped: its late outcome is ignored. */
export const bounded = async <T>(work: Promise<T> | T, { clock, ms, what }: Bound): Promise<T> => {
  const late = new AbortController()
  const timeout = async (): Promise<T> => {
    const whole = await clock.sleep(ms, late.signal)
    if (!whole) return work
    throw errors.plugin_timeout({ details: { what, seconds: ms / 1000 } })
  }
  try {
    return await Promise.race([work, timeout()])
  } finally {
    late.abort()
  }
}
