/** Long work in portions, so that others are served in between. */
import { setImmediate } from 'node:timers/promises'

/** Work that stops now and then and goes on when it is asked; a portion takes a few milliseconds. */
export type Portions<T> = Generator<undefined, T, undefined>

/** The result of work that is done in one go: for what is short. */
export const atOnce = <T>(work: Portions<T>): T => {
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
  }
}

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

/** For work of many askers that is heavy: each call resolves in a turn of the event loop of its own. */
export const createTurns = (): (() => Promise<void>) => {
  let last: Promise<void> = Promise.resolve()
  return () => {
    last = last.then(() => setImmediate())
    return last
  }
}
