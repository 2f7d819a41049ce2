/** How late the event loop is: a timer that tells how much later than asked for it was called. */
import { createMeasure, type Clock, type Metric } from '../../../core/plugin.js'

/** Between two looks. */
const lookMs = 100

export interface LoopDelay {
  readonly metric: Metric
  /** Begins to look, once: before anybody asks it would cost something for nothing. */
  begin(): void
}

export const createLoopDelay = (clock: Clock): LoopDelay => {
  const delay = createMeasure({
    name: 'service_event_loop_delay_seconds',
    help: 'How much later than asked for a timer was called, ten times a second since metrics were first asked for.',
  })
  let isLooking = false
  const look = (): void => {
    const from = clock.elapsed()
    clock.after(lookMs, () => {
      delay.observe(Math.max(0, clock.elapsed() - from - lookMs) / 1000)
      look()
    })
  }
  return {
    metric: delay.metric,
    begin() {
      if (isLooking) return
      isLooking = true
      look()
    },
  }
}
