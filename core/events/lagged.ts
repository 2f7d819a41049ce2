/** Warns while slow readers of event streams lose events. */
import type { Clock } from '../base/clock.js'
import type { HealthCheck } from '../base/health.js'
import type { Bus } from './bus.js'

/** How long a loss is told after it was noticed. */
const toldMs = 600_000

export const createLagCheck = (bus: Bus, clock: Clock): HealthCheck => {
  let known = 0
  let until = 0
  return {
    id: 'event streams',
    check: () => {
      const { stream_lagged_event_count: lost } = bus.statistics()
      if (lost > known) until = clock.elapsed() + toldMs
      known = lost
      if (clock.elapsed() >= until) return []
      return [
        {
          severity: 'warning',
          code: 'event_stream_lagged',
          message: `Readers of event streams were too slow and have lost ${lost} events since the start.`,
          action: 'Read streams without pauses, filter them, or keep more events with --event-history-capacity.',
        },
      ]
    },
  }
}
