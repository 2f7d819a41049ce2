/** An agent as something that may be asked about, and why it does not go on (explanations-8, explanations-9). */
import { commandLine, count } from '../../../core/plugin.js'
import type { Reason, ReasonSource, Subject, SubjectSource } from '../../operator/explanations/contract.js'
import type { AgentStatus, SessionRecord } from '../../execution/sessions/contract.js'
import { workingBelow } from './kinship.js'
import type { ViewParts } from './views.js'
import type { AgentWait, AgentWaits } from './waits.js'

/** Open runs that are followed. */
const mostRuns = 5

const texts: Readonly<Record<AgentStatus, string>> = {
  idle: 'It has nothing to do.',
  running: 'It has work under way.',
  waiting_for_approval: 'It waits until somebody allows or denies what it wants to do.',
  waiting_for_user_input: 'It waits for an answer.',
  failed: 'Its last run failed.',
  completed: 'Its last run is done.',
}

const subjectOf = (parts: ViewParts, session: SessionRecord): Subject => {
  const { session_id, agent_id, ended_at_ms } = session
  const { status } = parts.sessions.state(session)
  return {
    kind: 'agent',
    id: agent_id,
    session_id,
    status,
    text: ended_at_ms === undefined ? texts[status] : 'It is closed.',
    ...(ended_at_ms !== undefined && { since_ms: ended_at_ms }),
    parts: parts.runs.openIn(session_id).slice(0, mostRuns),
  }
}

export const agentSubjects = (parts: ViewParts): SubjectSource => ({
  id: 'agents',
  find(id) {
    const session = parts.sessions.ofAgent(id) ?? parts.sessions.find(id)
    return session && subjectOf(parts, session)
  },
})

export interface ReasonParts extends ViewParts {
  readonly waits: AgentWaits
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

const waitReason = (parts: ReasonParts, { session_ids, how, until_ms }: AgentWait): Reason => {
  const working = session_ids.flatMap((id) => parts.sessions.find(id) ?? []).filter(parts.store.isLive)
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
  const below = workingBelow(parts.store, session_id).flatMap((one) => parts.sessions.find(one.session_id) ?? [])
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
            leads_to: ledTo(parts, below),
          },
        ]),
  ]
}

const closedReason = (session_id: string): Reason => ({
  code: 'closed',
  text: 'Its session has ended: it takes no more work until that is created again.',
  commands: [commandLine('sessions create', session_id)],
})

export const agentReasons = (parts: ReasonParts): ReasonSource => ({
  id: 'agents',
  of({ kind, id, session_id }) {
    if (kind === 'run') return parts.waits.of(id).map((wait) => waitReason(parts, wait))
    if (kind !== 'agent') return []
    const session = parts.sessions.get(session_id)
    if (session.ended_at_ms !== undefined) return [closedReason(session_id)]
    return parts.store.isLive(session) ? [] : idleReasons(parts, session_id)
  },
})
