/** Long work in portions, so that others are served in between. */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from './clock.js'
import type { Portions } from './words/portions.js'

/** Work in portions, and its result at once. */
export { atOnce, type Portions } from './words/portions.js'

/** The result of work of which one portion is done in each turn of the event loop. */
export const inTurns = async <T>(work: Portions<T>): Promise<T> => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    await setImmediate()
  }
}

/** Called behind each step of a loop: every so many steps it is a promise to wait for, and others are served. */
export type Pause = () => Promise<void> | undefined

/** For a loop whose steps wait for what is there already. How many steps are done at a time may change. */
export const createPause = (steps: number | (() => number)): Pause => {
  const most = typeof steps === 'number' ? () => steps : steps
  let left = most()
  return () => {
    left -= 1
    if (left > 0) return undefined
    left = most()
    return setImmediate()
  }
}

export interface Share {
  /** The part of the time that is its own, between 0 and 1. */
  readonly part: number
  /** Ends a wait for the next slice at once. */
  readonly signal: AbortSignal
}

/** Milliseconds of work at a time. */
const sliceMs = 2
const mostStepsOfSlice = 64
/** Milliseconds that others took and were not owed, at most: so many are worked off behind them. */
const mostCredit = 50

/** For long work that takes a part of the time and leaves the rest to others, however busy they are. */
export const createShare = (clock: Pick<Clock, 'elapsed' | 'sleep'>, { part, signal }: Share): Pause => {
  const rest = (1 - part) / part
  let [begun, owed, steps] = [clock.elapsed(), 0, 0]
  const letOthers = async (spent: number): Promise<void> => {
    const from = clock.elapsed()
    owed += spent * rest
    await (owed < 1 ? setImmediate() : clock.sleep(owed, signal))
    ;[begun, steps] = [clock.elapsed(), 0]
    owed = Math.max(owed - (begun - from), -mostCredit)
  }
  return () => {
    steps += 1
    // What waited for the disk meanwhile did not work: no slice counts as much longer than it may be.
    const spent = Math.min(clock.elapsed() - begun, 2 * sliceMs)
    return spent < sliceMs && steps < mostStepsOfSlice ? undefined : letOthers(spent)
  }
}

/** For work of many askers that is heavy: each call resolves in a turn of the event loop of its own. */
export const createTurns = (): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(() => setImmediate())
    return last
  }
}
