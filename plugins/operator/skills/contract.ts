/** Instructions that operators and repositories bring, by name. Rules: docs/rules/skills.md. */
import {
  answerOf,
  definePoint,
  defineToken,
  doc,
  hasMembers,
  named,
  object,
  open,
  optional,
  string,
  withAnswers,
  type Infer,
  type Point,
  type Token,
} from '../../../core/plugin.js'
import { skillFields, TakenPromotion, type SkillItem, type SkillSummary } from '../../execution/memory/contract.js'
import type { FrozenSkill } from './active-skill.js'
import type { ReadSkill, SkillFiles } from './skill-file.js'

/** A skill in use, with its instructions. */
export { FrozenSkill } from './active-skill.js'
/** Which tools skills in use hide, by what they allow and block; undefined if none (skills-13). */
export { hiddenBy } from './active-skill.js'

/** A line of a skill as it is read: one line, without what steers a terminal. */
export { oneLine } from './skill-file.js'
/** Members of `agents/service.yaml`: how a skill runs. */
export { settingNames } from './skill-file.js'
/** The files of a skill; what they say, or the rule that they break. */
export type { ReadSkill, SkillFiles } from './skill-file.js'

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

/** The folder in `skills/` of the state root that the daemon writes: what is in it counts where a guard says so. */
export { promotedFolder } from './roots.js'
/** A line to paste that edits a file of a skill. */
export { edit } from './shell-lines.js'

/** A skill that was found, as a guard is shown it. */
export interface GuardedSkill {
  readonly summary: SkillSummary
  readonly instructions: string
}
/** What is known of a skill beside its files. */
export interface SkillRuling {
  readonly promoted: NonNullable<SkillItem['promoted']>
  /** Why it must not be used as it was found, in words that follow its name and a colon. */
  readonly fault?: string
}
/** The ruling on a skill that no session sees. */
export const ofNobody: SkillRuling = {
  promoted: { status: 'revoked', source_scope: { kind: 'workspace', id: 'default' } },
}
/** Knows some skills otherwise than by their files, and says which of them may be used. */
export interface SkillGuard {
  readonly id: string
  /**
   * Undefined for a skill that is none of its own. Asked for each skill before each call of a model: must be fast and
   * must do no I/O. Where it throws, the skill is used by nobody.
   */
  ruling(skill: GuardedSkill): SkillRuling | undefined
  /** Of a name that nothing found has: why a skill that sessions would see is not there, in the words of a fault. */
  missing?(name: string): string | undefined
}
/** Guards of skills; the first one that knows a skill rules on it. */
export const SkillGuards: Point<SkillGuard> = withAnswers(
  definePoint<SkillGuard>(
    'skill-guards@1',
    ({ id }) => id,
    hasMembers('a guard of skills', { id: 'id', ruling: 'function' }),
  ),
  {
    ruling: answerOf(open({ promoted: TakenPromotion, fault: optional(string()) }), ofNobody, { nothing: undefined }),
    missing: answerOf(string(), undefined),
  },
)

/** The skills that were found, for those who bring some. */
export interface SkillCatalogue {
  /** False before it looked for the first time: nothing is found then, whatever there is. */
  hasLooked(): boolean
  find(name: string): GuardedSkill | undefined
  /** Looks again; resolves when what it found counts. */
  look(): Promise<void>
  /** What files would say if they were found. Changes nothing. */
  read(files: SkillFiles): Promise<ReadSkill>
}
/** Provided by the plugin that finds skills. */
export const SkillCatalogue: Token<SkillCatalogue> = defineToken<SkillCatalogue>('skill-catalogue@1')
