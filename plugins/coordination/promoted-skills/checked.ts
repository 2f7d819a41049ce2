/** What callers ask, and what a learning must be, looked at before anything is kept. */
import { looksSecret } from '../../../core/plugin.js'
import type { Learning } from '../learnings/contract.js'
import { promotedErrors } from './errors.js'

/** Throws `promotion_secret` with the path alone. */
export type RefuseSecret = (text: string | undefined, path: string) => void

/** `redact` knows the values that the daemon keeps; the rest is known by its shape. */
export const createSecretCheck =
  (redact: (text: string) => string): RefuseSecret =>
  (text, path) => {
    if (text === undefined || (!looksSecret(text) && redact(text) === text)) return
    throw promotedErrors.promotion_secret({
      errors: [{ path, rule: 'must not hold what looks like a secret: name where it is kept' }],
    })
  }

/** What a learning lacks to be a skill, in words that follow a colon; undefined if it lacks nothing. */
export const lackOf = (
  { kind, status, publish_tier, scope, expires_at_ms }: Learning,
  now: number,
): string | undefined => {
  if (kind !== 'procedure') return `its kind is ${kind} and not procedure`
  if (status !== 'active') return `its status is ${status} and not active`
  if (publish_tier !== 'active') return `its publish_tier is ${publish_tier} and not active`
  if (scope.kind !== 'workspace') return `its scope is ${scope.kind} and not workspace`
  return expires_at_ms !== undefined && expires_at_ms <= now ? 'it has expired' : undefined
}
