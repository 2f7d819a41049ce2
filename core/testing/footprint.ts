/** What a plugin may leave behind: timers, what keeps a process alive, and who listens to it. */
import { setImmediate } from 'node:timers/promises'
import { createClock, type Clock } from '../base/clock.js'

/** A clock that knows which of its timers wait. */
export interface CountingClock extends Clock {
  readonly waiting: ReadonlySet<() => void>
}

export const createCountingClock = (): CountingClock => {
  const clock = createClock()
  const waiting = new Set<() => void>()
  const after: Clock['after'] = (ms, callback) => {
    const drop = clock.after(ms, () => {
      waiting.delete(cancel)
      callback()
    })
    const cancel = (): void => {
      waiting.delete(cancel)
      drop()
    }
    waiting.add(cancel)
    return cancel
  }
  const sleep: Clock['sleep'] = (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve(false)
      const end = (whole: boolean) => (): void => {
        cancel()
        signal?.removeEventListener('abort', stop)
        resolve(whole)
      }
      const stop = end(false)
      const cancel = after(ms, end(true))
      signal?.addEventListener('abort', stop, { once: true })
    })
  return { now: clock.now, elapsed: clock.elapsed, after, sleep, waiting }
}

/** Comes and goes with any work of a process. */
const passing = /^(?:MessagePort|Immediate|TickObject|TTYWrap|PipeWrap|FSReqPromise|CloseReq)$/u

/** How many there are of each. */
const counted = (names: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** One line for each kind of resource that keeps the process alive, and for each event of it that is listened to. */
export const footprint = (): readonly string[] => [
  ...[...counted(process.getActiveResourcesInfo().filter((kind) => !passing.test(kind)))]
    .map(([kind, count]) => `${count} ${kind}`)
    .toSorted(),
  ...process
    .eventNames()
    .map((name) => `${process.listenerCount(name)} listeners of ${String(name)}`)
    .toSorted(),
]

const looks = 500
const lookMs = 10

/** The footprint when it is as it was before, or after five seconds: others of the process have timers too. */
export const settledFootprint = async (before: readonly string[]): Promise<readonly string[]> => {
  const clock = createClock()
  for (let look = 0; look < looks && footprint().join() !== before.join(); look += 1) {
    await clock.sleep(lookMs)
    await setImmediate()
  }
  return footprint()
}
