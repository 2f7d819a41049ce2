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
const counted = (names: readonly string[]): readonly (readonly [string, number])[] => {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts]
}

const listenersOf = 'listeners of '

/** How much keeps the process alive, by its kind, and how many listen to each event of it. */
export type Footprint = ReadonlyMap<string, number>
export const footprint = (): Footprint =>
  new Map([
    ...counted(process.getActiveResourcesInfo().filter((kind) => !passing.test(kind))),
    ...process.eventNames().map((name) => [`${listenersOf}${String(name)}`, process.listenerCount(name)] as const),
  ])

/** What there is more of than before. */
export const gained = (before: Footprint, after: Footprint): readonly string[] =>
  [...after].flatMap(([kind, count]) => (count > (before.get(kind) ?? 0) ? [`${count} ${kind}`] : [])).toSorted()

/** Listeners that are there no more; what kept the process alive before may end by itself at any time. */
export const lost = (before: Footprint, after: Footprint): readonly string[] =>
  [...before]
    .flatMap(([kind, count]) =>
      kind.startsWith(listenersOf) && count > (after.get(kind) ?? 0) ? [`${count} ${kind}`] : [],
    )
    .toSorted()

const looks = 50
const lookMs = 10

/** The footprint when there is no more of it than before, or after half a second. */
export const settledFootprint = async (before: Footprint): Promise<Footprint> => {
  const clock = createClock()
  for (let look = 0; look < looks && gained(before, footprint()).length > 0; look += 1) {
    await clock.sleep(lookMs)
    await setImmediate()
  }
  return footprint()
}
