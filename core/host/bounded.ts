import type { Clock } from '../base/clock.js'
import { errors } from './errors.js'

export interface Bound {
  readonly clock: Clock
  readonly ms: number
  readonly what: string
  /** Ends the wait when it aborts: the daemon is asked to stop. */
  readonly asked?: AbortSignal | undefined
}

/**
 * The work's outcome, or a rejection after `ms` or when the daemon is asked to stop. The work itself cannot be stopped:
 * its late outcome is ignored.
 */
export const bounded = <T>(work: Promise<T>, { clock, ms, what, asked }: Bound): Promise<T> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(errors.plugin_timeout({ details: { what, seconds: ms / 1000 } })))
    const end = (): void => reject(errors.start_ended())
    if (asked?.aborted === true) end()
    asked?.addEventListener('abort', end)
    void work.then(resolve, reject).finally(() => {
      cancel()
      asked?.removeEventListener('abort', end)
    })
  })
