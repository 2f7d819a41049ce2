/** Rules that creating a session and changing it share. Pure. */
import type { CapabilityScope, CredentialScope, PersonaSnapshot } from './contract.js'
import { sessionErrors } from './errors.js'
import { blankEntry, normalScope } from './settings/scopes.js'

/** A scope as it is stored. Throws `blank_scope_entry` with the path of the entry. */
export const checkedScope = <S extends CapabilityScope | CredentialScope>(scope: S, path: string): S | undefined => {
  const blank = blankEntry(scope)
  if (blank !== undefined)
    throw sessionErrors.blank_scope_entry({ errors: [{ path: `${path}.${blank}`, rule: 'must not be blank' }] })
  return normalScope(scope)
}

/** A snapshot before it is bound. */
export type Unbound = Omit<PersonaSnapshot, 'bound_at_ms' | 'soul'>

/**
 * The binding of a snapshot; the one before if it is of the same persona as it is now. Its soul and its default
 * skills are compared by digest.
 */
export const rebound = (before: PersonaSnapshot | undefined, snapshot: Unbound, now: number): PersonaSnapshot =>
  before !== undefined &&
  before.persona_id === snapshot.persona_id &&
  before.persona_version === snapshot.persona_version &&
  before.soul_sha256 === snapshot.soul_sha256 &&
  before.default_skills_sha256 === snapshot.default_skills_sha256
    ? before
    : { ...snapshot, bound_at_ms: now }
