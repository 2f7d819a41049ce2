/** Skills that a run uses: what they let its model call, until the run ends. */
import {
  array,
  enums,
  object,
  optional,
  string,
  type Collection,
  type CollectionSpec,
  type Infer,
  type State,
  type Tx,
} from '../../../core/plugin.js'
import type { SkillSummary } from '../../execution/memory/contract.js'
import type { Runs } from '../../execution/runs/contract.js'
import type { ToolGate } from '../../execution/tools/contract.js'

/** A skill as it was when it was used. */
const ActiveSkill = object({
  name: string(),
  description: string(),
  when_to_use: optional(string()),
  version: optional(string()),
  skill_path: string(),
  skill_root: string(),
  digest: string(),
  args: optional(string()),
  context: enums(['inline', 'fork']),
  allowed_tools: optional(array(string())),
  blocked_tools: optional(array(string())),
  activation_reason: string(),
})
export type ActiveSkill = Infer<typeof ActiveSkill>

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

export const activeSkill = ({ runtime, ...summary }: SkillSummary, args: string | undefined): ActiveSkill => {
  const { name, description, when_to_use, version, skill_path, skill_root, digest } = summary
  const { context, allowed_tools, blocked_tools } = runtime
  return {
    name,
    description,
    skill_path,
    skill_root,
    digest,
    context,
    ...(when_to_use !== undefined && { when_to_use }),
    ...(version !== undefined && { version }),
    ...(args !== undefined && { args }),
    ...(allowed_tools !== undefined && { allowed_tools }),
    ...(blocked_tools !== undefined && { blocked_tools }),
    activation_reason: 'use_skill',
  }
}

/** Of one run. */
const mostActive = 100

export interface SkillUses {
  readonly collection: Collection<ActiveSkills>
  /** Those of the run of a session that is not over. */
  list(session_id: string): readonly ActiveSkill[]
  /** True while the run may use this one too. */
  hasRoom(session_id: string, name: string): boolean
  /** Part of the commit with the outcome; a skill that is used again takes its own place. */
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
  return {
    collection,
    list,
    hasRoom: (session_id, name) =>
      list(session_id).length < mostActive || list(session_id).some((one) => one.name === name),
    add(tx, { session_id, run_id }, skill) {
      const before = collection.find(session_id)
      const others = before?.run_id === run_id ? before.active_skills.filter(({ name }) => name !== skill.name) : []
      tx.put(collection, { session_id, run_id, active_skills: [...others, skill] })
    },
  }
}

const isNamed = (patterns: readonly string[], tool: string): boolean =>
  patterns.some((pattern) => (pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : tool === pattern))

/** Always there: what a skill needs to hand over to another one. */
const skillTools: ReadonlySet<string> = new Set(['list_skills', 'use_skill'])

/** Of several skills all hold: what one blocks is hidden, and what one that names tools does not name. */
export const skillGate = (uses: SkillUses): ToolGate => ({
  id: 'skills',
  hidden(session_id) {
    const limits = uses
      .list(session_id)
      .filter(({ allowed_tools, blocked_tools }) => allowed_tools !== undefined || blocked_tools !== undefined)
    if (limits.length === 0) return undefined
    return ({ name }) =>
      !skillTools.has(name) &&
      limits.some(
        ({ allowed_tools, blocked_tools = [] }) =>
          isNamed(blocked_tools, name) || (allowed_tools !== undefined && !isNamed(allowed_tools, name)),
      )
  },
})
