import type { Clock } from './clock.js'

/** Turns of the microtask queue in which work that has nothing to wait for ends: no timer is set for that. */
const turnsAtOnce = 2

const endsAtOnce = async (work: Promise<true>): Promise<boolean> => {
  for (let turn = 0; turn < turnsAtOnce; turn += 1) if (await Promise.race([work, false])) return true
  return false
}

/**
 * True if the work has ended within `ms`. It is not stopped; what it rejects with in time is passed on. It sleeps and
 * sets no timer of its own: the timers of a plugin end with its scope, and its stop has waits too.
 */
export const within = async (clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> => {
  const whole = work.then((): true => true)
  if (await endsAtOnce(whole)) return true
  const ended = new AbortController()
  try {
    return await Promise.race([whole, clock.sleep(ms, ended.signal).then(() => false)])
  } finally {
    // An abort without a reason makes an exception, whose code is loaded for it.
    ended.abort('ended')
  }
}
