/** What the operator should know (runtime-8). */
import { string } from './schema.js'

/** One line of `health.warnings` in `/v1/status`. */
export interface Warning {
  readonly severity: 'info' | 'warning' | 'error'
  /** Stable code; runtime-8. */
  readonly code: string
  readonly message: string
  readonly related_id?: string
  readonly action?: string
}
/** Of the code of a warning, where no compiler has checked it. */
export const warningCode = string({
  max: 100,
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]*$',
  told: 'must be of letters, digits, dots, colons, underscores and hyphens',
})
/** Looked at when `/v1/status` is read; must be fast and must not throw. */
export interface HealthCheck {
  readonly id: string
  readonly check: () => readonly Warning[]
}

const rank = { error: 0, warning: 1, info: 2 } as const

/** The worst first; equal ones in the order in which they were found. */
export const bySeverity = (warnings: readonly Warning[]): readonly Warning[] =>
  warnings.toSorted((a, b) => rank[a.severity] - rank[b.severity])
