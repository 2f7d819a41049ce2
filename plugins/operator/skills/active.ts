/** Skills that a run uses: what they let its model call, until the run ends. */
import {
  array,
  object,
  string,
  unsafeCast,
  type Collection,
  type CollectionSpec,
  type Infer,
  type Json,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import type { Runs } from '../../execution/runs/contract.js'
import type { SessionMetadata } from '../../execution/sessions/contract.js'
import type { ToolGate } from '../../execution/tools/contract.js'
import { ActiveSkill, hiddenBy, surfacesOf, type FrozenSkill } from './active-skill.js'
import type { DefaultSkills } from './contract.js'
import { skillErrors } from './errors.js'

const ActiveSkills = object({ session_id: string(), run_id: string(), active_skills: array(ActiveSkill) })
type ActiveSkills = Infer<typeof ActiveSkills>

const activeSkills: CollectionSpec<ActiveSkills> = {
  name: 'session_skills',
  version: 1,
  id: ({ session_id }) => session_id,
  indexes: {},
  settled: () => true,
  removed: 'forgotten',
  schema: ActiveSkills,
  references: ({ session_id }) => [{ collection: 'sessions', id: session_id }],
}

/** Of one run. */
const mostActive = 100

export interface SkillUses {
  readonly collection: Collection<ActiveSkills>
  /** Those of the run of a session that is not over. */
  list(session_id: string): readonly ActiveSkill[]
  /** True while the run may use this one too. */
  hasRoom(session_id: string, name: string): boolean
  /**
   * Part of the commit with the outcome; a skill that is used again takes its own place. Throws `too_many_skills`:
   * others of the same turn may have taken the last place.
   */
  add(tx: Tx, at: { readonly session_id: string; readonly run_id: string }, skill: ActiveSkill): void
}

const none: readonly ActiveSkill[] = []

export const declareUses = (state: State, runs: () => Pick<Runs, 'active'> | undefined): SkillUses => {
  const collection = state.collection(activeSkills)
  const list = (session_id: string): readonly ActiveSkill[] => {
    if (!collection.has(session_id)) return none
    const found = collection.find(session_id)
    return found === undefined || found.run_id !== runs()?.active(session_id)?.run_id ? none : found.active_skills
  }
  const hasRoom = (session_id: string, name: string): boolean =>
    list(session_id).length < mostActive || list(session_id).some((one) => one.name === name)
  return {
    collection,
    list,
    hasRoom,
    add(tx, { session_id, run_id }, skill) {
      if (!hasRoom(session_id, skill.name)) throw skillErrors.too_many_skills()
      const before = collection.find(session_id)
      const others = before?.run_id === run_id ? before.active_skills.filter(({ name }) => name !== skill.name) : []
      tx.put(collection, { session_id, run_id, active_skills: [...others, skill] })
    },
  }
}

/** Of several skills all hold: what one blocks is hidden, and what one that names tools does not name. */
export const skillGate = (uses: SkillUses): ToolGate => ({
  id: 'skills',
  hidden: (session_id) => hiddenBy(uses.list(session_id)),
  surfaces: (session_id) => surfacesOf(uses.list(session_id)),
})

const withoutInstructions = (skill: FrozenSkill): ActiveSkill => {
  const { instructions: _, ...active } = skill
  return active
}

interface StateParts {
  readonly uses: SkillUses
  readonly defaults: () => DefaultSkills | undefined
}

/** What its persona brought along, then what its run uses. */
export const skillsState = ({ uses, defaults }: StateParts): SessionMetadata => ({
  key: 'session_skills_state',
  value(session_id) {
    const brought = defaults()?.list(session_id) ?? []
    const active_skills = [...brought.map(withoutInstructions), ...uses.list(session_id)]
    return active_skills.length === 0 ? undefined : unsafeCast<Json>({ active_skills })
  },
})
