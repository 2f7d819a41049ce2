/** Why agents do not go on, and which agents runs wait for (explanations-8, explanations-9). */
import { commandLine, count } from '../../../../core/plugin.js'
import type { Reason, ReasonSource } from '../../../operator/explanations/contract.js'
import type { SessionRecord } from '../../../execution/sessions/contract.js'
import type { SubjectParts } from './agent-subject.js'

/** What a run waits for. */
interface Wait {
  readonly session_ids: readonly string[]
  readonly how: 'any' | 'all'
  readonly until_ms: number
}

export interface ReasonParts extends SubjectParts {
  /** True while something is to be done for its agent. */
  readonly isLive: (session: SessionRecord) => boolean
  readonly workingBelow: (session_id: string) => readonly { readonly session_id: string }[]
  readonly waitsOf: (run_id: string) => readonly Wait[]
}

/** Agents that one reason leads to. */
const mostLed = 50

/** Those that wait for people before others: they are not to be among those that are left out. */
const ledTo = ({ sessions }: ReasonParts, working: readonly SessionRecord[]): readonly string[] => {
  const waits = (session: SessionRecord): boolean => sessions.state(session).status.startsWith('waiting_')
  return [...working.filter(waits), ...working.filter((session) => !waits(session))]
    .slice(0, mostLed)
    .map(({ agent_id }) => agent_id)
}

const waitReason = (parts: ReasonParts, { session_ids, how, until_ms }: Wait): Reason => {
  const working = session_ids.flatMap((id) => parts.sessions.find(id) ?? []).filter(parts.isLive)
  const which =
    how === 'any' && session_ids.length > 1 ? `one of ${session_ids.length} agents` : agentsOf(working.length)
  return {
    code: 'agents',
    text: `It waits for ${which} to be done.`,
    until_ms,
    leads_to: ledTo(parts, working),
  }
}

const agentsOf = (n: number): string => (n === 1 ? 'an agent' : `${n} agents`)

const idleReasons = (parts: ReasonParts, session_id: string): readonly Reason[] => {
  const last = parts.runs.latest(session_id)
  const below = parts.workingBelow(session_id)
  const submit = commandLine('runs submit', session_id, 'TEXT')
  return [
    ...(last === undefined
      ? [{ code: 'no_run', text: 'It has had no run yet.', commands: [submit] }]
      : last.status === 'completed'
        ? [{ code: 'idle', text: `Its last run ${last.run_id} is done, and none is queued.`, commands: [submit] }]
        : [
            {
              code: 'last_run',
              text: `Its last run ${last.run_id} ended as ${last.status}, and none is queued.`,
              leads_to: [last.run_id],
            },
          ]),
    ...(below.length === 0
      ? []
      : [
          {
            code: 'agents_below',
            text:
              `${count(below.length, 'agent')} below it ${below.length === 1 ? 'works' : 'work'}; ` +
              'nothing of it waits for that.',
            leads_to: ledTo(
              parts,
              below.flatMap((one) => parts.sessions.find(one.session_id) ?? []),
            ),
          },
        ]),
  ]
}

const closedReason: Reason = { code: 'closed', text: 'Its session has ended: it takes no more work.' }

export const agentReasons = (parts: ReasonParts): ReasonSource => ({
  id: 'agents',
  of({ kind, id, session_id }) {
    if (kind === 'run') return parts.waitsOf(id).map((wait) => waitReason(parts, wait))
    if (kind !== 'agent') return []
    const session = parts.sessions.get(session_id)
    if (session.ended_at_ms !== undefined) return [closedReason]
    return parts.isLive(session) ? [] : idleReasons(parts, session_id)
  },
})
