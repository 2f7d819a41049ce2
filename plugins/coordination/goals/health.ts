import { commandLine, type HealthCheck } from '../../../core/plugin.js'
import type { GoalStore } from './store.js'

const mostShown = 10

/** Goals that the daemon stopped: somebody expects them to go on. */
export const goalsHealth = ({ collection }: GoalStore): HealthCheck => ({
  id: 'goals',
  check: () =>
    collection
      .list({ index: 'stopped', group: 'all', limit: mostShown })
      .map(({ session_id, stop_code, stop_reason }) => ({
        severity: 'warning',
        code: 'goal_stopped',
        related_id: session_id,
        message: `The goal of the session ${session_id} does not go on, ${stop_code}: ${stop_reason}`,
        action:
          `To have it go on: ${commandLine('goals resume', session_id)}. ` +
          `To hear no more of it: ${commandLine('goals clear', session_id)}`,
      })),
})
