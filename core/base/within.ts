import type { Clock } from './clock.js'

/** True if the work has ended within `ms`. It is not stopped; what it rejects with in time is passed on. */
export const within = (clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(false))
    const end = (settle: () => void): void => {
      cancel()
      settle()
    }
    work.then(
      () => end(() => resolve(true)),
      (error: unknown) => end(() => reject(error)),
    )
  })
