/** Whom an agent has asked for a decision, and whom a closed one had asked (explanations-11). */
import { questionLines, type Runs } from '../../execution/runs/contract.js'
import type { SessionHold, Sessions } from '../../execution/sessions/contract.js'
import type { Reason, ReasonSource } from '../../operator/explanations/contract.js'
import type { Clarification, ClarificationStore } from './store.js'

interface ExplainedParts {
  readonly store: ClarificationStore
  readonly sessions: Pick<Sessions, 'find'>
  readonly runs: Pick<Runs, 'find' | 'openQuestions'>
}

const asksReason = ({ parent_agent_id, asked_at_ms, run_id }: Clarification): Reason => ({
  code: 'asks_parent',
  text: `It has asked whoever answers for its parent ${parent_agent_id}.`,
  since_ms: asked_at_ms,
  leads_to: [run_id],
})

/** Nobody works on what a closed agent asked, and so nothing else leads to it. */
const askedReason = ({ requester_agent_id, asked_at_ms, run_id }: Clarification): Reason => ({
  code: 'asked_by_closed',
  text: `Its agent ${requester_agent_id} asked, and is closed; the session is not idle before that is settled.`,
  since_ms: asked_at_ms,
  leads_to: [run_id],
})

export const clarificationReasons = ({ store, sessions }: ExplainedParts): ReasonSource => ({
  id: 'clarification',
  of({ kind, session_id }) {
    if (kind !== 'agent') return []
    const own = store.find(session_id)
    const isClosed = ({ requester_session_id }: Clarification): boolean =>
      sessions.find(requester_session_id)?.ended_at_ms !== undefined
    return [
      ...(own === undefined ? [] : [asksReason(own)]),
      ...store.askedOf(session_id).filter(isClosed).map(askedReason),
    ]
  },
})

/** A question holds the session of the parent until it is settled: who is refused is told how. */
export const questionHold = ({ store, runs }: ExplainedParts): SessionHold => ({
  id: 'clarification',
  holds(session_id) {
    const [asked] = store.askedOf(session_id)
    if (asked === undefined) return undefined
    const run = runs.find(asked.run_id)
    const request = run && runs.openQuestions(run).find(({ id }) => id === asked.request_id)
    if (request === undefined) return 'a question of one of its agents'
    const { answer, decline } = questionLines(asked.run_id, request)
    return `a question of one of its agents: ${answer}, or ${decline}`
  },
})
