import type { Clock } from '../../../../core/plugin.js'

/** Time for which long work may keep the event loop from other work. */
const sliceMs = 8
/** Steps between two looks at the clock. */
const stride = 32

/** Tells long work when to let others go first. */
export interface Pacer {
  due(): boolean
  rest(): Promise<void>
}

export const createPacer = (clock: Clock): Pacer => {
  let since = clock.elapsed()
  let steps = 0
  return {
    due: () => (steps = (steps + 1) % stride) === 0 && clock.elapsed() - since >= sliceMs,
    async rest() {
      await clock.sleep(0)
      since = clock.elapsed()
    },
  }
}
