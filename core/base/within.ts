import type { Clock } from './clock.js'

/**
 * True if the work has ended within `ms`. It is not stopped; what it rejects with in time is passed on. It sleeps and
 * sets no timer of its own: the timers of a plugin end with its scope, and its stop has waits too.
 */
export const within = async (clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> => {
  const ended = new AbortController()
  try {
    return await Promise.race([work.then(() => true), clock.sleep(ms, ended.signal).then(() => false)])
  } finally {
    // An abort without a reason makes an exception, whose code is loaded for it.
    ended.abort('ended')
  }
}
