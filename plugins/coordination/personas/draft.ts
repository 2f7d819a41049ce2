/** What is asked of a persona, checked and in the form in which it is stored. Pure. */
import { type JsonObject } from '../../../core/plugin.js'
import { blankEntry, normalScope, permitsCapability, type CapabilityScope } from '../../execution/sessions/contract.js'
import type { DefaultSkill, Persona } from './contract.js'
import { personaErrors } from './errors.js'

/** The members that a caller sets. */
export interface PersonaDraft extends Pick<Persona, 'display_name' | 'soul'> {
  readonly capability_scope?: CapabilityScope
  readonly default_skills?: DefaultSkill[]
  readonly metadata?: JsonObject
}
/** What a request says; absent members stay as they are. */
export interface PersonaRequest {
  readonly display_name?: string | undefined
  readonly soul?: string | undefined
  readonly capability_scope?: CapabilityScope | undefined
  readonly default_skills?: readonly DefaultSkill[] | undefined
  readonly metadata?: JsonObject | undefined
}

export const refuse = (field: string, what: string): never => {
  throw personaErrors.invalid_persona({
    details: { what: `${field} ${what}` },
    errors: [{ path: `body.${field}`, rule: what }],
  })
}

/** An empty scope, list or object clears the member. */
export const draftOf = (before: PersonaDraft | undefined, asked: PersonaRequest): PersonaDraft => {
  const display_name = (asked.display_name ?? before?.display_name ?? '').trim()
  if (display_name === '') refuse('display_name', 'must not be blank')
  const scope = asked.capability_scope === undefined ? before?.capability_scope : storedScope(asked.capability_scope)
  const skills = (asked.default_skills ?? before?.default_skills ?? []).map(storedSkill)
  const metadata = asked.metadata ?? before?.metadata ?? {}
  checkSkills(skills, scope)
  return {
    display_name,
    soul: asked.soul ?? before?.soul ?? '',
    ...(scope !== undefined && { capability_scope: scope }),
    ...(skills.length > 0 && { default_skills: skills }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}

const storedScope = (scope: CapabilityScope): CapabilityScope | undefined => {
  const blank = blankEntry(scope)
  return blank === undefined ? normalScope(scope) : refuse(`capability_scope.${blank}`, 'must not be blank')
}

const storedSkill = ({ name, args = '' }: DefaultSkill): DefaultSkill => ({
  name: name.trim(),
  ...(args.trim() !== '' && { args: args.trim() }),
})

/** Default skills are named, each once, and allowed by the scope (personas-6); who freezes them knows the others. */
const checkSkills = (skills: readonly DefaultSkill[], scope: CapabilityScope | undefined): void => {
  const seen = new Set<string>()
  for (const [at, { name }] of skills.entries()) {
    const field = `default_skills.${at}.name`
    if (name === '') refuse(field, 'must not be blank')
    if (seen.has(name)) refuse(field, 'must not be named twice')
    if (!permitsCapability(scope, 'skill', name))
      refuse(field, 'must be allowed by the capability_scope of the persona')
    seen.add(name)
  }
}
