/** Sessions as they are shown: view, list row, snapshot and metadata. */
import type { Caller, Json, Stream } from '../../../core/plugin.js'
import type {
  ActivityState,
  AgentStatus,
  ManagedAgentSnapshot,
  SessionActivity,
  SessionAgents,
  SessionGoal,
  SessionGoals,
  SessionMetadata,
  SessionRecord,
  SessionState,
  Sessions,
} from './contract.js'
import type { JournalEntry } from './record/journal.js'
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

export interface ViewParts {
  readonly journal: Stream<JournalEntry>
  readonly activity: () => SessionActivity | undefined
  readonly members: () => readonly SessionMetadata[]
  readonly goals: () => SessionGoals | undefined
  readonly agents: () => SessionAgents | undefined
}

export interface SessionViews extends Pick<Sessions, 'view' | 'summary' | 'snapshot' | 'state' | 'metadata'> {
  /** The state as of now, and the snapshot as of now, made when it is called. */
  look(session: SessionRecord): { readonly state: SessionState; readonly snapshot: () => ManagedAgentSnapshot }
}

export const createViews = ({ journal, activity, members, goals, agents }: ViewParts): SessionViews => {
  const live = (): SessionActivity => activity() ?? quiet
  const shownNow = (session: SessionRecord, state: ActivityState): SessionState =>
    shownState(session, agents()?.asks(session.session_id) === true ? asking(state) : state)
  const state = (session: SessionRecord): SessionState => shownNow(session, live().state(session.session_id))
  const look: SessionViews['look'] = (session) => {
    const seen = live().look(session.session_id)
    const now = shownNow(session, seen.state)
    const journal_len = journal.length(session.session_id)
    const agent = agentOf(session, now, agents())
    return {
      state: now,
      snapshot: () => ({ agent, checkpoint_len: 0, journal_len, ...seen.facts() }),
    }
  }
  const snapshot = (session: SessionRecord): ManagedAgentSnapshot => look(session).snapshot()
  const goalOf = ({ session_id }: SessionRecord): SessionGoal | undefined => goals()?.find(session_id)
  const shown = (session: SessionRecord, caller: Caller | undefined) => {
    const goal = goalOf(session)
    return Object.assign(shownSettings(session, caller), goal !== undefined && { goal })
  }
  return {
    state,
    look,
    snapshot,
    summary(session, caller) {
      const { session_id, agent_id } = session
      return { session_id, agent_id, ...state(session), ...shown(session, caller) }
    },
    view: (session, caller) => ({
      session_id: session.session_id,
      agent_id: session.agent_id,
      snapshot: snapshot(session),
      ...shown(session, caller),
      ...live().outputs(session.session_id, { limit: shownOutputs, caller }),
    }),
    metadata(session, caller) {
      const goal = goalOf(session)
      const own = { ...metadataOf(session, caller), ...(goal !== undefined && { session_goal: goal }) }
      return { ...own, ...keptElsewhere(members(), session) }
    },
  }
}

/** What an agent that waits for its parent is, once its own runs are over. */
const asking = (state: ActivityState): ActivityState =>
  atRest.has(state.status) ? { ...state, status: 'waiting_for_user_input' } : state
const atRest: ReadonlySet<AgentStatus> = new Set(['idle', 'failed', 'completed'])

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

const agentOf = (
  session: SessionRecord,
  { status }: SessionState,
  agents: SessionAgents | undefined,
): ManagedAgentSnapshot['agent'] => {
  const { session_id, agent_id, thread_id, created_at_ms, ended_at_ms } = session
  const spawned = agents?.find(session_id)
  return {
    id: agent_id,
    parent: null,
    conversation: { session_id, thread_id: thread_id ?? null },
    status,
    retention: 'retain',
    spawned_at_ms: created_at_ms,
    ...(ended_at_ms !== undefined && { closed_at_ms: ended_at_ms }),
    subtasks: [],
    sidechain_session_id: spawned === undefined ? null : session_id,
    fork_context: null,
    ...spawned,
  }
}
