/** What the operator should know (runtime-8). */
import { fault } from './assert.js'
import { plainCopy } from './foreign/plain.js'
import { parse } from './parse.js'
import { array, enums, open, optional, string } from './schema.js'

/** One line of `health.warnings` in `/v1/status`. */
export interface Warning {
  readonly severity: 'info' | 'warning' | 'error'
  /** Stable code; runtime-8. */
  readonly code: string
  readonly message: string
  readonly related_id?: string
  readonly action?: string
}
/** Looked at when `/v1/status` is read; must be fast and must not throw. */
export interface HealthCheck {
  readonly id: string
  readonly check: () => readonly Warning[]
}

const WarningForm = open({
  severity: enums(['info', 'warning', 'error']),
  code: string({ min: 1 }),
  message: string(),
  related_id: optional(string()),
  action: optional(string()),
})
/** Of one check. */
const mostBytes = 256 * 1024

/** The warnings of a check that no compiler has seen, as they are taken. Throws what is wrong with them. */
export const takenWarnings = (found: unknown): readonly Warning[] => {
  const copy = plainCopy(found, mostBytes)
  const parsed = parse(array(WarningForm), copy)
  if (parsed.ok)
    return parsed.value.map(({ severity, code, message, related_id, action }) => ({
      severity,
      code,
      message,
      ...(related_id !== undefined && { related_id }),
      ...(action !== undefined && { action }),
    }))
  const [issue] = parsed.issues
  throw fault(`what it returned are no warnings: ${issue?.path || 'it'} ${issue?.rule ?? 'is another thing'}`)
}

const rank = { error: 0, warning: 1, info: 2 } as const

/** The worst first; equal ones in the order in which they were found. */
export const bySeverity = (warnings: readonly Warning[]): readonly Warning[] =>
  warnings.toSorted((a, b) => rank[a.severity] - rank[b.severity])
