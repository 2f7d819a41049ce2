/** A clock that a test can make leap: its timers wait as real ones do, and what a leap makes due fires at once. */
import { createClock, sleepBy, type Clock } from '../base/clock.js'

export interface LeapingClock extends Clock {
  /** Both clocks go on by so many ms, and what is due fires. */
  leap(ms: number): void
  /** The wall clock alone is set forward, or back if `ms` is negative, as an operator would. */
  jump(ms: number): void
  /** Whatever still waits is forgotten. */
  clear(): void
}

interface Waiting {
  readonly deadline: number
  readonly callback: () => void
  cancel: () => void
}

export interface LeapingClockOptions {
  /** True: its time goes on by leaps alone, however long the test takes. Default: by itself too. */
  readonly still?: boolean
}

export const createLeapingClock = ({ still = false }: LeapingClockOptions = {}): LeapingClock => {
  const real = createClock()
  const waiting = new Set<Waiting>()
  let ahead = 0
  let wall = 0
  const [began, origin] = [real.now(), real.elapsed()]
  const elapsed = (): number => (still ? origin : real.elapsed()) + ahead
  const arm = (one: Waiting): void => {
    one.cancel = real.after(Math.max(0, one.deadline - elapsed()), () => {
      waiting.delete(one)
      one.callback()
    })
  }
  const after = (ms: number, callback: () => void): (() => void) => {
    const one: Waiting = { deadline: elapsed() + ms, callback, cancel: () => {} }
    waiting.add(one)
    arm(one)
    return () => {
      waiting.delete(one)
      one.cancel()
    }
  }
  return {
    now: () => Math.floor((still ? began : real.now()) + ahead + wall),
    elapsed,
    after,
    sleep: sleepBy(after),
    leap(ms) {
      ahead += ms
      for (const one of waiting) {
        one.cancel()
        arm(one)
      }
    },
    jump(ms) {
      wall += ms
    },
    clear() {
      for (const one of waiting) one.cancel()
      waiting.clear()
    },
  }
}
