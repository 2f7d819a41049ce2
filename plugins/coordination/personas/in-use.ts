/** Default skills in the sessions that were bound with them: told to models, and binding their tools. */
import type { HealthCheck, Warning } from '../../../core/plugin.js'
import type { SystemSection } from '../../execution/models/contract.js'
import { permitsCapability, type SessionRecord, type Sessions } from '../../execution/sessions/contract.js'
import type { ToolGate } from '../../execution/tools/contract.js'
import { hiddenBy, type DefaultSkills, type FrozenSkill } from '../../operator/skills/contract.js'
import type { SkillLists } from './kept.js'

interface InUseParts {
  readonly sessions: () => Pick<Sessions, 'find' | 'effectiveCapabilityScope'> | undefined
  readonly lists: SkillLists
  readonly skills: () => object | undefined
}
const none: readonly FrozenSkill[] = []

const framed = ({ name, digest, instructions }: FrozenSkill): string =>
  `The skill ${JSON.stringify(name)} (${digest}):\n\n${instructions}`

const opening =
  'These skills are in use in every run of this session: follow their instructions as if use_skill had answered them.'

export interface InUse {
  readonly defaults: DefaultSkills
  readonly section: SystemSection
  readonly gate: ToolGate
  readonly health: HealthCheck
}

/** What a skill says of tools holds also where a scope keeps its instructions from the session: scopes never widen. */
export const createInUse = ({ sessions, lists, skills: source }: InUseParts): InUse => {
  const boundWith = (session: SessionRecord | undefined): readonly FrozenSkill[] => {
    const sha256 = session?.persona?.default_skills_sha256
    return sha256 === undefined ? none : lists.get(sha256).skills
  }
  const list = (session_id: string): readonly FrozenSkill[] => {
    const session = sessions()?.find(session_id)
    const skills = boundWith(session)
    if (session === undefined || skills.length === 0) return none
    const scope = sessions()?.effectiveCapabilityScope(session)
    return skills.filter(({ name }) => permitsCapability(scope, 'skill', name))
  }
  return {
    defaults: { list },
    section: {
      id: 'persona_skills',
      rank: 12,
      character: true,
      text({ session_id }) {
        const skills = list(session_id)
        return skills.length === 0 ? undefined : [opening, ...skills.map(framed)].join('\n\n')
      },
    },
    gate: { id: 'persona-skills', hidden: (session_id) => hiddenBy(boundWith(sessions()?.find(session_id))) },
    health: {
      id: 'persona-skills',
      check: () => (source() === undefined && lists.collection.count('all', 'all') > 0 ? [absent] : []),
    },
  }
}

const absent: Warning = {
  severity: 'warning',
  code: 'persona_skills_absent',
  message:
    'The plugin skills is not there: sessions that were bound with default skills keep them, ' +
    'and no persona with default skills can be bound.',
  action: 'See why with `holdfast status`, and start again without --safe once config/skills.toml is right.',
}
