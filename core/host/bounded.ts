import type { Clock } from '../base/clock.js'
import { errors } from './errors.js'

export interface Bound {
  readonly clock: Clock
  readonly ms: number
  readonly what: string
}

/** The work's outcome, or a rejection after `ms`. The work itself cannot be stopped: its late outcome is ignored. */
export const bounded = <T>(work: Promise<T>, { clock, ms, what }: Bound): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(errors.plugin_timeout({ details: { what, seconds: ms / 1000 } })))
    void work.then(resolve, reject).finally(cancel)
  })
