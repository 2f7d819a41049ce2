/** The default skills of a persona, as the catalogue has them now. */
import type { FrozenSkill, PersonaSkills } from '../../operator/skills/contract.js'
import type { DefaultSkill } from './contract.js'

/** Characters of the instructions of all of them: every model call has them. */
export const mostInstructions = 262_144

interface Wishes {
  readonly persona_id: string
  readonly default_skills?: readonly DefaultSkill[] | undefined
}
/** The member of the persona that breaks a rule. */
interface Unmet {
  readonly field: string
  readonly rule: string
}
type Frozen = { readonly ok: true; readonly skills: FrozenSkill[] } | ({ readonly ok: false } & Unmet)

const notThere = {
  ok: false,
  rule: 'must be installed, and the plugin skills, which finds them, is not there',
} as const

/** Of the first that cannot be frozen, the rule that it breaks. Without the plugin of skills none is installed. */
export const frozenSkills = (
  { persona_id, default_skills = [] }: Wishes,
  source: PersonaSkills | undefined,
): Frozen => {
  const skills: FrozenSkill[] = []
  let left = mostInstructions
  for (const [at, wish] of default_skills.entries()) {
    const field = `default_skills.${at}.name`
    const found = source?.freeze(wish, `persona:${persona_id}`) ?? notThere
    if (!found.ok) return { ok: false, field, rule: found.rule }
    left -= found.skill.instructions.length
    if (left < 0)
      return { ok: false, field, rule: `must have at most ${mostInstructions} characters, with those before it` }
    skills.push(found.skill)
  }
  return { ok: true, skills }
}
