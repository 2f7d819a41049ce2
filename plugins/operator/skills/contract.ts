/** Instructions that operators and repositories bring, by name. Rules: docs/rules/skills.md. */
import { defineToken, doc, named, object, optional, string, type Infer, type Token } from '../../../core/plugin.js'
import { skillFields } from '../../execution/memory/contract.js'
import type { FrozenSkill } from './active-skill.js'

/** A skill in use, with its instructions. */
export { FrozenSkill } from './active-skill.js'
/** Which tools skills in use hide, by what they allow and block; undefined if none (skills-13). */
export { hiddenBy } from './active-skill.js'

/** A skill with what it says. */
export const SkillDetail = named(
  'SkillDetail',
  object({ ...skillFields, instructions: optional(doc(string(), 'What the file says; left out if it says nothing.')) }),
)
/** The value form of `SkillDetail`. */
export type SkillDetail = Infer<typeof SkillDetail>

/** A skill that a persona names, and what it is started with. */
export interface SkillWish {
  readonly name: string
  readonly args?: string | undefined
}
/** The skill as it is now, or the rule that its name breaks. */
export type FoundSkill =
  | { readonly ok: true; readonly skill: FrozenSkill }
  | { readonly ok: false; readonly rule: string }
/** Skills for personas (personas-6). */
export interface PersonaSkills {
  /** Of a name that has no skill, or one that cannot be used beside what a run does, the rule. Changes nothing. */
  freeze(wish: SkillWish, activation_reason: string): FoundSkill
}
/** Provided by the plugin that finds skills. */
export const PersonaSkills: Token<PersonaSkills> = defineToken<PersonaSkills>('persona-skills@1')

/** Skills that are in use in every run of a session. */
export interface DefaultSkills {
  /** As they were frozen, and as far as the capability scope of the session lets them pass. Fast; must not throw. */
  list(session_id: string): readonly FrozenSkill[]
}
/** Provided by the plugin that keeps personas. */
export const DefaultSkills: Token<DefaultSkills> = defineToken<DefaultSkills>('default-skills@1')
