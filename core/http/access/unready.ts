/** Routes whose check cannot be made: strangers are told nothing of the reason (http-40), the operator is (http-48). */
import type { Clock } from '../../base/clock.js'
import type { Problem } from '../../base/errors.js'
import type { Warning } from '../../base/health.js'
import type { Log } from '../../base/text/log.js'

export interface Unready {
  /** The check of the route failed with something that it does not declare. */
  tell(route_id: string, problem: Problem): void
  /** One for each route of which that was so within the hour. */
  warnings(): readonly Warning[]
}

/** How long a warning stands behind the last refusal, and between two lines of the log for the same reason. */
const [toldMs, betweenMs] = [3_600_000, 600_000]

interface Told {
  readonly problem: Problem
  readonly at_ms: number
  readonly logged_at_ms: number
}

/** Kept for each route, of which there is a fixed number. */
export const createUnready = (clock: Clock, log: Log): Unready => {
  const told = new Map<string, Told>()
  return {
    tell(route_id, problem) {
      const now = clock.now()
      const before = told.get(route_id)
      const isNew = before?.problem.code !== problem.code || now - before.logged_at_ms >= betweenMs
      told.set(route_id, { problem, at_ms: now, logged_at_ms: isNew ? now : before.logged_at_ms })
      const { code, message } = problem
      if (isNew) log.warn('callers of a route cannot be checked', { route: route_id, code, message })
    },
    warnings: () =>
      [...told]
        .filter(([, { at_ms }]) => clock.now() - at_ms < toldMs)
        .map(([route_id, { problem }]) => ({
          severity: 'warning',
          code: 'ingress_not_ready',
          message: `Callers of ${route_id} cannot be checked: ${problem.message} (${problem.code})`,
          related_id: route_id,
          action: problem.action ?? 'Give the plugin of this route what it lacks.',
        })),
  }
}
