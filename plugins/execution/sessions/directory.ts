/** The sessions service: records, views and the events that announce them. */
import type { Caller, Collection, Json, State, Stream, Tx } from '../../../core/plugin.js'
import { changeSetting } from './change.js'
import {
  type ActivityState,
  SessionSnapshotTaken,
  SessionStateChanged,
  type ManagedAgentSnapshot,
  type PersonaSource,
  type SessionActivity,
  type SessionEndGuard,
  type SessionGoal,
  type SessionGoals,
  type SessionHold,
  type SessionMetadata,
  type SessionRecord,
  type SessionState,
  type Sessions,
  type SessionView,
} from './contract.js'
import {
  effectiveCapabilityScope,
  effectiveCredentialScope,
  mayUseConnectorCredential,
  mayUseRoute,
} from './settings/effective.js'
import { sessionErrors } from './errors.js'
import { noteChange, type JournalEntry } from './record/journal.js'
import { putSession } from './record/store.js'
import { metadataOf, shownSettings } from './settings/shown-settings.js'

const shownOutputs = 100

const idle: ActivityState = { status: 'idle', approvals: 0, questions: 0 }
const quiet: SessionActivity = {
  state: () => idle,
  look: () => ({
    state: idle,
    facts: () => ({ pending_approvals: [], last_assistant_message: null, last_error: null }),
  }),
  outputs: () => ({ outputs: [] }),
  noted: () => {},
}

export interface DirectoryParts {
  readonly state: State
  readonly collection: Collection<SessionRecord>
  readonly personas: PersonaSource
  readonly journal: Stream<JournalEntry>
  readonly activity: () => SessionActivity | undefined
  readonly holds: () => readonly SessionHold[]
  readonly guards: () => readonly SessionEndGuard[]
  readonly members: () => readonly SessionMetadata[]
  readonly goals: () => SessionGoals | undefined
}

export const createSessions = ({
  state: kept,
  collection,
  personas,
  journal,
  activity,
  holds,
  guards,
  members,
  goals,
}: DirectoryParts): Sessions => {
  const live = (): SessionActivity => activity() ?? quiet
  const get = (session_id: string): SessionRecord => {
    const session = collection.find(session_id)
    if (session === undefined) throw sessionErrors.session_not_found({ details: { session_id } })
    return session
  }
  const state = (session: SessionRecord): SessionState => shownState(session, live().state(session.session_id))
  /** The state as of now, and the snapshot as of now, made when it is called. */
  const look = (session: SessionRecord): { state: SessionState; snapshot: () => ManagedAgentSnapshot } => {
    const seen = live().look(session.session_id)
    const now = shownState(session, seen.state)
    const journal_len = journal.length(session.session_id)
    return {
      state: now,
      snapshot: () => ({ agent: agentOf(session, now), checkpoint_len: 0, journal_len, ...seen.facts() }),
    }
  }
  const snapshot = (session: SessionRecord): ManagedAgentSnapshot => look(session).snapshot()
  const goalOf = ({ session_id }: SessionRecord): SessionGoal | undefined => goals()?.find(session_id)
  const shown = (session: SessionRecord, caller: Caller | undefined) => {
    const goal = goalOf(session)
    return Object.assign(shownSettings(session, caller), goal !== undefined && { goal })
  }
  const summary: Sessions['summary'] = (session, caller) => {
    const { session_id, agent_id } = session
    return { session_id, agent_id, ...state(session), ...shown(session, caller) }
  }
  const view = (session: SessionRecord, caller?: Caller): SessionView => ({
    session_id: session.session_id,
    agent_id: session.agent_id,
    snapshot: snapshot(session),
    ...shown(session, caller),
    ...live().outputs(session.session_id, { limit: shownOutputs, caller }),
  })
  const announce: Sessions['announce'] = (tx, session_id, also) => {
    const session = get(session_id)
    const { agent_id } = session
    const seen = also?.snapshot === true ? look(session) : { state: state(session) }
    tx.emit(SessionStateChanged, { session: session_id }, () => ({ session_id, agent_id, ...seen.state }))
    if ('snapshot' in seen)
      tx.emit(SessionSnapshotTaken, { session: session_id }, () => ({ session_id, snapshot: seen.snapshot() }))
  }
  const end = (tx: Tx, session_id: string, reason: string | undefined): void => {
    const session = get(session_id)
    const veto = firstOf(guards(), (guard) => guard.veto(session))
    if (veto !== undefined) throw sessionErrors.session_end_refused({ details: { session_id, reason: veto } })
    const ended_at_ms = Math.max(tx.now, session.created_at_ms)
    const ended = { ...session, ended_at_ms, ...(reason !== undefined && { end_reason: reason }) }
    putSession({ collection, personas }, tx, ended)
    const note = { change: 'ended' as const, ...(reason !== undefined && { reason }) }
    noteChange({ journal, activity }, tx, { session_id, note })
    announce(tx, session_id)
  }
  const requireIdle = (session_id: string): void => {
    const reason = firstOf(holds(), (hold) => hold.holds(session_id))
    if (reason !== undefined) throw sessionErrors.session_not_idle({ details: { session_id, reason } })
  }
  const sessions: Sessions = {
    collection,
    journal,
    find: (id) => collection.find(id),
    get,
    view,
    summary,
    snapshot,
    state,
    announce,
    end,
    requireIdle,
    names: (index, sha256) => collection.count(index, sha256) > 0,
    metadata(session, caller) {
      const goal = goalOf(session)
      const own = { ...metadataOf(session, caller), ...(goal !== undefined && { session_goal: goal }) }
      return { ...own, ...keptElsewhere(members(), session) }
    },
    effectiveCapabilityScope,
    effectiveCredentialScope,
    mayUseRoute,
    mayUseConnectorCredential,
    change: (session_id, change) => changeSetting({ sessions, personas, state: kept, activity }, session_id, change),
  }
  return sessions
}

/** The root agent of an ended session has done what it was for: it no longer idles. */
const shownState = ({ ended_at_ms }: SessionRecord, { status, approvals, questions }: ActivityState): SessionState => ({
  status: ended_at_ms !== undefined && status === 'idle' ? 'completed' : status,
  pending_approvals: approvals,
  pending_questions: questions,
})

const keptElsewhere = (members: readonly SessionMetadata[], { session_id }: SessionRecord): { [key: string]: Json } =>
  Object.fromEntries(
    members.flatMap(({ key, value }): [string, Json][] => {
      const kept = value(session_id)
      return kept === undefined ? [] : [[key, kept]]
    }),
  )

const firstOf = <T>(items: readonly T[], reason: (item: T) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = reason(item)
    if (found !== undefined) return found
  }
  return undefined
}

const agentOf = (session: SessionRecord, { status }: SessionState): ManagedAgentSnapshot['agent'] => ({
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
