/** An agent as something that may be asked about, also by the id of its session (explanations-8). */
import type { Subject, SubjectSource } from '../../../operator/explanations/contract.js'
import type { Runs } from '../../../execution/runs/contract.js'
import type { AgentStatus, SessionRecord, Sessions } from '../../../execution/sessions/contract.js'

export interface SubjectParts {
  readonly sessions: Sessions
  readonly runs: Runs
}

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

const subjectOf = (parts: SubjectParts, session: SessionRecord): Subject => {
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

export const agentSubjects = (parts: SubjectParts): SubjectSource => ({
  id: 'agents',
  find(id) {
    const session = parts.sessions.ofAgent(id) ?? parts.sessions.find(id)
    return session && subjectOf(parts, session)
  },
})
