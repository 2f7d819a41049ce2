/** Agents as lists show them (agents-12). */
import { beginningOf } from '../../../core/plugin.js'
import type { Runs, RunRecord } from '../../execution/runs/contract.js'
import type { SessionRecord, Sessions, SpawnedAgent } from '../../execution/sessions/contract.js'
import type { UsageBooks } from '../../operator/usage/contract.js'
import type { AgentMail, AgentQuestions, AgentSummaryView } from './contract.js'
import { shownAgent, type AgentStore } from './store.js'

export interface ViewParts {
  readonly store: AgentStore
  readonly sessions: Sessions
  readonly runs: Runs
  readonly mail: () => AgentMail | undefined
  readonly questions: () => AgentQuestions | undefined
  readonly books: () => UsageBooks | undefined
}

/** Characters of an answer that a row shows. */
const previewLength = 500
/** Runs of questions that a row names. */
const mostAsked = 10

/** When the work of an agent was done; undefined while it works, and where it never did. */
export const settledAt = (
  { store, runs }: Pick<ViewParts, 'store' | 'runs'>,
  session: SessionRecord,
): number | undefined => {
  if (store.isLive(session)) return undefined
  const last = runs.latest(session.session_id)
  return last !== undefined && 'finished_at_ms' in last ? last.finished_at_ms : undefined
}

/** What is known of an agent that another one started. */
export const spawnedAgent = (parts: ViewParts, session_id: string): SpawnedAgent | undefined => {
  const record = parts.store.find(session_id)
  return record === undefined ? undefined : shownAgent(record, settledAt(parts, parts.sessions.get(session_id)))
}

const outputOf = (runs: Runs, last: RunRecord | undefined): Partial<AgentSummaryView> => {
  const said = last === undefined ? undefined : runs.texts(last).outcome
  if (said === undefined) return {}
  const isCut = said.length > previewLength
  return {
    last_output_preview: beginningOf(said, previewLength),
    ...(isCut && { last_output_truncated: true }),
  }
}

const usageOf = ({ books }: ViewParts, session_id: string): Pick<AgentSummaryView, 'usage'> => {
  const usage = books()?.used(session_id)
  return usage === undefined || usage.calls === 0 ? {} : { usage }
}

export const summaryOf = (parts: ViewParts, session: SessionRecord): AgentSummaryView => {
  const { store, sessions, runs } = parts
  const { session_id, agent_id, thread_id, created_at_ms, ended_at_ms } = session
  const spawned = spawnedAgent(parts, session_id)
  const { fork_context: _, subtasks, parent, retention, ...told } = spawned ?? {}
  const { status, pending_approvals, pending_questions } = sessions.state(session)
  const asked = parts.questions()?.asked(session_id) ?? []
  const [active, last] = [runs.active(session_id), runs.latest(session_id)]
  const error = last !== undefined && 'error' in last ? last.error : undefined
  return {
    agent_id,
    ...(parent !== undefined && { parent_agent_id: parent }),
    session_id,
    ...(thread_id !== undefined && { thread_id }),
    ...told,
    status,
    retention: retention ?? 'retain',
    spawned_at_ms: created_at_ms,
    ...(ended_at_ms !== undefined && { closed_at_ms: ended_at_ms }),
    ...(spawned !== undefined && { sidechain_session_id: session_id }),
    subtask_count: subtasks?.length ?? 0,
    mailbox_message_count: parts.mail()?.waiting(agent_id) ?? 0,
    has_runtime: store.isLive(session),
    ...(active !== undefined && { active_run_id: active.run_id }),
    queued_run_count: runs.queued(session_id),
    pending_approval_count: pending_approvals,
    pending_question_count: pending_questions,
    pending_parent_clarification_count: asked.length,
    ...(asked.length > 0 && { pending_parent_clarification_run_ids: asked.slice(0, mostAsked) }),
    ...(last !== undefined && 'finished_at_ms' in last && { last_run_status: last.status }),
    ...(error !== undefined && { last_error: beginningOf(error, previewLength) }),
    ...outputOf(runs, last),
    ...(last !== undefined && { last_activity_at_ms: last.updated_at_ms }),
    ...usageOf(parts, session_id),
  }
}
