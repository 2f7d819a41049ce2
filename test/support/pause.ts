/** Waiting for what nobody tells of: by looking, the less often the longer it takes. */
import { createClock } from '../../core/base/clock.js'

const [leastMs, mostMs] = [5, 100]

/** Returns a pause between two looks: a tenth of the time since the first, so that it adds no more to the wait. */
export const createPause = (): (() => Promise<void>) => {
  const clock = createClock()
  const began = clock.elapsed()
  return () =>
    new Promise((resolve) => {
      setTimeout(resolve, Math.min(mostMs, Math.max(leastMs, (clock.elapsed() - began) / 10)))
    })
}
