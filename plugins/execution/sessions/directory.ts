/** The sessions service: records, views and the events that announce them. */
import type { Collection, Tx } from '../../../core/plugin.js'
import { SessionSnapshotTaken, SessionStateChanged } from './contract.js'
import type { ManagedAgentSnapshot, SessionActivity, SessionChange, SessionRecord, Sessions, SessionView } from './contract.js'
import { sessionErrors } from './errors.js'

const shownOutputs = 100

const quiet: SessionActivity = {
  status: () => 'idle',
  pending: () => ({ approvals: 0, questions: 0 }),
  facts: () => ({ pending_approvals: [], last_assistant_message: null, journal_len: 0, last_error: null }),
  outputs: () => [],
}

export const createSessions = (collection: Collection<SessionRecord>, activity: () => SessionActivity | undefined): Sessions => {
  const live = (): SessionActivity => activity() ?? quiet
  const get = (session_id: string): SessionRecord => {
    const session = collection.find(session_id)
    if (session === undefined) throw sessionErrors.session_not_found({ details: { session_id } })
    return session
  }
  const snapshot = (session: SessionRecord): ManagedAgentSnapshot => ({ agent: agentOf(session, live().status(session.session_id)), checkpoint_len: 0, ...live().facts(session.session_id) })
  const view = (session: SessionRecord): SessionView => ({
    session_id: session.session_id,
    agent_id: session.agent_id,
    snapshot: snapshot(session),
    outputs: live().outputs(session.session_id, shownOutputs),
  })
  const announce = (tx: Tx, session_id: string, { status, approvals, questions, facts }: SessionChange): void => {
    const session = get(session_id)
    const { agent_id } = session
    tx.emit(SessionStateChanged, { session: session_id }, () => ({ session_id, agent_id, status, pending_approvals: approvals, pending_questions: questions }))
    if (facts === undefined) return
    tx.emit(SessionSnapshotTaken, { session: session_id }, () => ({ session_id, snapshot: { agent: agentOf(session, status), checkpoint_len: 0, ...facts() } }))
  }
  const end = (tx: Tx, session_id: string, reason: string | undefined): void =>
    tx.put(collection, { ...get(session_id), ended_at_ms: tx.now, ...(reason !== undefined && { end_reason: reason }) })
  return { collection, find: (id) => collection.find(id), get, view, snapshot, announce, end }
}

const agentOf = (session: SessionRecord, status: ManagedAgentSnapshot['agent']['status']): ManagedAgentSnapshot['agent'] => ({
  id: session.agent_id,
  parent: null,
  conversation: { session_id: session.session_id, thread_id: session.thread_id ?? null },
  status,
  retention: 'retain',
  spawned_at_ms: session.created_at_ms,
  ...(session.ended_at_ms !== undefined && { closed_at_ms: session.ended_at_ms }),
  subtasks: [],
  sidechain_session_id: null,
  fork_context: null,
})
