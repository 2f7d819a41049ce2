/** How a question to a parent ends: its run is completed, and the agent that asked is told, in one commit. */
import type { State, Tx } from '../../../core/plugin.js'
import type { QuestionSettlement, QuestionSettler } from '../../execution/questions/contract.js'
import type { Runs, WaitingRun } from '../../execution/runs/contract.js'
import {
  belongsTo,
  type ResolvedQuestion,
  type SessionMembership,
  type Sessions,
  type UserQuestionRequest,
} from '../../execution/sessions/contract.js'
import type { Mailboxes } from '../mailboxes/contract.js'
import type { AgentAudit } from '../sidechains/contract.js'
import type { Clarification, ClarificationStore } from './store.js'

export interface SettleParts {
  readonly store: ClarificationStore
  readonly state: State
  readonly runs: Runs
  readonly sessions: Pick<Sessions, 'announce'>
  readonly mailboxes: Mailboxes
  readonly audit: AgentAudit
  readonly memberships: () => readonly SessionMembership[]
}

/** A question to a parent, and what became of it. */
interface Answered {
  readonly asked: Clarification
  readonly request?: UserQuestionRequest | undefined
  readonly resolution: ResolvedQuestion
}

/** Tells the agent that asked how its question ended; a closed one has it among its dead letters. */
export const tellAsker = (
  { store, sessions, mailboxes, audit }: Omit<SettleParts, 'state' | 'runs' | 'memberships'>,
  tx: Tx,
  answered: Answered,
): void => {
  const { asked, resolution } = answered
  store.close(tx, asked)
  audit.note(tx, {
    event: 'clarification_settled',
    agent_id: asked.requester_agent_id,
    parent_agent_id: asked.parent_agent_id,
    session_id: asked.requester_session_id,
    run_id: asked.run_id,
    request_id: asked.request_id,
    declined: resolution.declined,
    decided_by: resolution.decided_by,
  })
  mailboxes.post(tx, {
    from_agent_id: asked.parent_agent_id,
    to_agent_id: asked.requester_agent_id,
    subject: 'clarification_answer',
    message_id: `clarification:${asked.request_id}`,
    payload: { type: 'parent_clarification_answer', ...payloadOf(answered) },
    isOwed: true,
  })
  sessions.announce(tx, asked.requester_session_id)
}

const payloadOf = ({ asked: { request_id }, request, resolution }: Answered) => {
  const { answers, declined, justification, decided_by } = resolution
  return {
    request_id,
    declined,
    decided_by,
    ...(justification !== undefined && { justification }),
    answers: answers.map(({ question_id, selected_option_ids, freeform_answer }) => {
      const asked = request?.questions.find(({ id }) => id === question_id)
      return {
        question: asked?.question ?? question_id,
        selected: (asked?.options ?? []).filter(({ id }) => selected_option_ids.includes(id)).map(({ label }) => label),
        ...(freeform_answer !== undefined && { freeform_answer }),
      }
    }),
  }
}

/** Ends an open question in a commit. */
export const settleIn = (
  parts: Omit<SettleParts, 'state' | 'memberships'>,
  tx: Tx,
  { run, request, resolution, receipt }: QuestionSettlement,
): void => {
  const asked = parts.store.ofRun(run.run_id)
  if (asked === undefined) return
  const { requester_agent_id, requester_session_id } = asked
  const { declined, request_id } = resolution
  parts.runs.settleBeside(tx, {
    run_id: run.run_id,
    resolution,
    event: {
      type: 'parent_clarification_resolved',
      requester_agent_id,
      requester_session_id,
      request_id,
      declined,
      resolution,
    },
    receipt,
  })
  tellAsker(parts, tx, { asked, request, resolution })
}

/** Projects and channels of one of the two; absent where it is in none. */
const groupsOf = (known: readonly SessionMembership[], of: 'requester' | 'parent', session_id: string | undefined) =>
  Object.fromEntries(
    (session_id === undefined ? [] : (['project', 'channel'] as const)).flatMap((kind) => {
      const ids = belongsTo(known, kind, session_id ?? '')
      return ids.length === 0 ? [] : [[`${of}_${kind}_ids`, ids]]
    }),
  )

export const clarificationSettler = (parts: SettleParts): QuestionSettler & { readonly kind: WaitingRun['kind'] } => {
  const settle = (settlement: QuestionSettlement): Promise<void> =>
    parts.state.commit((tx) => settleIn(parts, tx, settlement))
  return {
    kind: 'parent_clarification',
    asker({ origin, session_id }) {
      const { requester_agent_id, requester_session_id, requester_run_id, requester_tool_call_id } = origin ?? {}
      return {
        ...(requester_agent_id !== undefined && { requester_agent_id }),
        ...(requester_session_id !== undefined && { requester_session_id }),
        ...(requester_run_id !== undefined && { requester_run_id }),
        ...(requester_tool_call_id !== undefined && { requester_tool_call_id }),
        ...groupsOf(parts.memberships(), 'requester', requester_session_id),
        ...groupsOf(parts.memberships(), 'parent', session_id),
      }
    },
    answer: settle,
    cancel: settle,
    expire: settle,
  }
}
