/** What models do with skills. */
import { doc, object, optional, string } from '../../../core/plugin.js'
import type { Agents } from '../../agents/sidechains/contract.js'
import type { SystemSection } from '../../execution/models/contract.js'
import type { Runs } from '../../execution/runs/contract.js'
import { permitsCapability, type Sessions } from '../../execution/sessions/contract.js'
import { defineTool, failedCall, type Tool } from '../../execution/tools/contract.js'
import type { SkillUses } from './active.js'
import { activeSkill } from './active-skill.js'
import { catalogueText, whyForked, longestArgs, rendered } from './activation.js'
import type { LiveCatalogue } from './catalogue.js'
import type { Skill } from './discovery.js'
import { skillErrors } from './errors.js'
import { longestWaitMs, workOnSkill } from './forked.js'
import type { Rulings } from './rulings.js'

/** Most skills of one answer. */
const mostListed = 200

interface SkillParts {
  readonly catalogue: LiveCatalogue
  readonly uses: SkillUses
  readonly agents: () => Agents | undefined
  readonly runs: () => Pick<Runs, 'inSession'> | undefined
  readonly rulings: Pick<Rulings, 'isShown' | 'fault' | 'missing'>
  readonly sessions: Pick<Sessions, 'find' | 'effectiveCapabilityScope'>
}

type Seeing = Pick<SkillParts, 'catalogue' | 'sessions' | 'rulings'>

/** Whether a session may use skills of these names. */
const permits = ({ sessions }: Seeing, session_id: string): ((name: string) => boolean) => {
  const session = sessions.find(session_id)
  const scope = session === undefined ? undefined : sessions.effectiveCapabilityScope(session)
  return (name) => permitsCapability(scope, 'skill', name)
}

const permittedTo = (parts: Seeing, session_id: string, query?: string): Skill[] => {
  const skills = parts.catalogue.list(query)
  if (skills.length === 0) return skills
  const mayUse = permits(parts, session_id)
  return skills.filter(({ summary: { name } }) => mayUse(name))
}

/** Why a skill is not used that the session would see, where it was found or should have been. */
const faultFor = (parts: Seeing, session_id: string, name: string): string | undefined => {
  if (!permits(parts, session_id)(name)) return undefined
  const skill = parts.catalogue.find(name)
  return skill === undefined ? parts.rulings.missing(name) : parts.rulings.fault(skill)
}

const seenBy = (parts: Seeing, session_id: string, query?: string): Skill[] =>
  permittedTo(parts, session_id, query).filter(parts.rulings.isShown)

const shared = {
  effect: 'read',
  permission: 'allow',
  parallel: true,
  timeout_ms: 10_000,
  sandbox: 'read_only',
} as const

const listSkills = (parts: SkillParts): Tool =>
  defineTool({
    ...shared,
    name: 'list_skills',
    description: 'Lists the skills of this session by name, with what they are for; use_skill reads one.',
    input: object({
      query: optional(doc(string({ max: 2_000 }), 'Only skills that have this in name or description.')),
    }),
    run: ({ query }, { session_id }) => {
      const skills = seenBy(parts, session_id, query)
      const shown = skills.slice(0, mostListed).map(({ summary }) => {
        const { name, description, when_to_use, runtime } = summary
        return { name, description, ...(when_to_use !== undefined && { when_to_use }), context: runtime.context }
      })
      return { type: 'result', output: { skills: shown, total_count: skills.length } }
    },
  })

const useSkill = (parts: SkillParts): Tool =>
  defineTool({
    ...shared,
    name: 'use_skill',
    description:
      'Reads the instructions of a skill, to follow them in this run. Arguments are handed to it as data. A skill ' +
      'whose context is fork is worked on by an agent of its own, and you are told its answer.',
    effect: 'idempotent',
    in_plan_mode: true,
    timeout_ms: longestWaitMs + 10_000,
    sandbox: 'inherited',
    input: object({
      name: doc(string({ min: 1, max: 200 }), 'The name of the skill.'),
      args: optional(doc(string({ max: longestArgs }), 'What the skill is to be used on.')),
    }),
    run: async ({ name, args }, call) => {
      const { session_id, run_id } = call
      const skill = permittedTo(parts, session_id).find(({ summary }) => summary.name === name)
      const what = faultFor(parts, session_id, name)
      if (what !== undefined) return failedCall(skillErrors.skill_changed({ details: { name, what } }))
      if (skill === undefined || !parts.rulings.isShown(skill))
        return failedCall(skillErrors.skill_not_found({ details: { name } }))
      if (whyForked(skill.summary) !== undefined) return workOnSkill(parts, call, { skill, args: args?.trim() })
      if (!parts.uses.hasRoom(session_id, name)) return failedCall(skillErrors.too_many_skills())
      const { digest, runtime } = skill.summary
      const given = args?.trim()
      const active = activeSkill(skill.summary, { args: given, activation_reason: 'use_skill' })
      return {
        type: 'result',
        output: { name, digest, context: runtime.context, instructions: rendered(skill, given) },
        apply: (tx) => parts.uses.add(tx, { session_id, run_id }, active),
      }
    },
  })

export const skillTools = (parts: SkillParts): readonly Tool[] => [listSkills(parts), useSkill(parts)]

/** The skills of a session, as its model is told them. */
export const catalogueSection = (parts: Seeing): SystemSection => ({
  id: 'skills',
  rank: 35,
  text: ({ session_id }) => catalogueText(seenBy(parts, session_id)),
})
