/** Durable containers of runs. Rules: docs/rules/sessions.md. */
import {
  defineEvent,
  defineToken,
  doc,
  enums,
  integer,
  object,
  string,
  type Caller,
  type Collection,
  type Json,
  type Stream,
  type StructOf,
  type Token,
  type Tx,
} from '../../../core/plugin.js'
import type { JournalEntry } from './record/journal.js'
import type { SessionGoal } from './record/goal.js'
import type { RestStatus, SessionRecord } from './record/store.js'
import type { CapabilityScope, CredentialScope, SessionSettings, SettingName } from './settings/settings.js'
import {
  agentStatuses,
  ManagedAgentSnapshot,
  type AgentStatus,
  type SessionView,
  type SessionViewSummary,
} from './record/snapshot.js'

/** Problems about sessions that other plugins' routes may answer with. */
export { sessionErrors } from './errors.js'

/** Who keeps sessions from being idle or ended, what they belong to, and what others keep of them. */
export { belongsTo, SessionEndGuards, SessionHolds, SessionMemberships, SessionMetadata } from './points.js'
/** Contributions to these. */
export type { SessionEndGuard, SessionHold, SessionMembership } from './points.js'
/** What the daemon keeps of a session. */
export type { RestStatus, SessionRecord } from './record/store.js'
/** Counts of sessions by what their agents are at rest. */
export { restGroup, restOf } from './record/store.js'
/** What a session may see and call, and where its outputs go: the structs of its settings. */
export * from './settings/settings.js'
/** A session as it is shown: the structs of its views. */
export * from './record/snapshot.js'
/** What an agent is that another one started. */
export * from './record/agent.js'
/** What a session works towards by itself, as its views show it. */
export * from './record/goal.js'
/** What a session asks people: the structs of its requests and their resolutions. */
export * from './record/requests.js'
/** What runs say to the outside. */
export { DaemonOutputRecord } from './record/output.js'
/** Why a conversation is summed up. */
export { compactionCauses } from './record/journal.js'
/** What the journal of a session is made of. */
export type {
  AnswerMarks,
  CompactionCause,
  CompletionMark,
  InterceptedNote,
  JournalEntry,
  OutcomeState,
  OutputDraft,
  RunEvent,
  SessionNote,
} from './record/journal.js'
/** Reply targets and requests that name them, as far as a caller may see them. */
export { shownHandle, shownPayload, shownReplies } from './settings/addresses.js'
/** Scopes as they are stored, and whether one lets a name pass. */
export {
  blankEntry,
  normalScope,
  permitsCapability,
  permitsCredential,
  permitsEntry,
  restrict as restrictScope,
  withDefaultDeny,
} from './settings/scopes.js'

/** A path parameter or body field that names a session. */
export const SessionId: StructOf<string> = string({ min: 1, max: 200 })
/** True of an id that a session can have. It must be addressable: what a path cannot hold, it does not hold either. */
export const isSessionId = (id: string): boolean =>
  id.trim() !== '' && id !== '.' && id !== '..' && !/[/\\\p{Cc}\p{Cs}]/u.test(id)

/** State of a session's root agent with the numbers of its open requests, as they are shown. */
export interface SessionState {
  readonly status: AgentStatus
  readonly pending_approvals: number
  readonly pending_questions: number
}

/** State of a root agent, and numbers of open approval and question requests. */
export interface ActivityState {
  readonly status: AgentStatus
  readonly approvals: number
  readonly questions: number
}

/** What happens in a session, as far as its views show it. Given by the plugin that executes. */
export interface SessionActivity {
  state(session_id: string): ActivityState
  /**
   * The state, and the members of a snapshot that come from runs, as of this call: `facts` may be called at any time,
   * and does not depend on later changes.
   */
  look(session_id: string): {
    readonly state: ActivityState
    readonly facts: () => Pick<
      ManagedAgentSnapshot,
      'pending_approvals' | 'pending_questions' | 'last_assistant_message' | 'last_error'
    >
  }
  /** The newest outputs that one view shows, oldest first, as far as the caller may see them. */
  outputs(
    session_id: string,
    page: { readonly limit: number; readonly caller: Caller | undefined },
  ): Pick<SessionView, 'outputs' | 'outputs_truncated'>
  /** Called when a commit adds a change of the session itself to its journal. */
  noted(tx: Tx, session_id: string): void
}
/** Provided by the plugin that keeps the runs. */
export const SessionActivity: Token<SessionActivity> = defineToken<SessionActivity>('session-activity@1')

/** The goals of sessions. */
export interface SessionGoals {
  /** As it is now. Must be fast and must not throw: lists ask for each of their rows. */
  find(session_id: string): SessionGoal | undefined
}
/** Provided by the plugin that keeps goals. */
export const SessionGoals: Token<SessionGoals> = defineToken<SessionGoals>('session-goals@1')

/** One change of one setting. */
export interface SettingChange<N extends SettingName> {
  readonly name: N
  /** The new value; undefined clears the setting. Called in the commit; throws what is wrong. */
  readonly next: (session: SessionRecord, tx: Tx) => SessionRecord[N] | undefined
}

/** A session that is wanted: what is absent is left as it is, or as a new session begins. */
export interface WantedSession {
  readonly session_id: string
  readonly thread_id?: string | undefined
  readonly persona_id?: string | undefined
  readonly capability_scope?: CapabilityScope | undefined
  readonly credential_scope?: CredentialScope | undefined
  /** Further settings of a new session, as another one has them; a known one keeps its own. */
  readonly settings?: Omit<SessionSettings, 'capability_scope' | 'credential_scope'> | undefined
}

/** The sessions of this daemon. */
export interface Sessions {
  readonly collection: Collection<SessionRecord>
  /** Messages, steps, run events and outputs of each session: runs append to it. */
  readonly journal: Stream<JournalEntry>
  find(session_id: string): SessionRecord | undefined
  /** The session whose agent this is. */
  ofAgent(agent_id: string): SessionRecord | undefined
  /** Throws `session_not_found` (404). */
  get(session_id: string): SessionRecord
  /** `caller` is who asks: without one, and for one who may only read, addresses of reply targets are hidden. */
  view(session: SessionRecord, caller?: Caller): SessionView
  /** A row of the session list; `caller` as for `view`. */
  summary(session: SessionRecord, caller?: Caller): SessionViewSummary
  snapshot(session: SessionRecord): ManagedAgentSnapshot
  /** The state that views and events show. */
  state(session: SessionRecord): SessionState
  /**
   * Adds the event `session_state_changed` to a commit, and `session_snapshot` if it is asked for: both tell what is
   * true of the session when this is called.
   */
  announce(tx: Tx, session_id: string, also?: { readonly snapshot: boolean }): void
  /**
   * Creates a session in a commit, uses the one that has this id, or opens it again if it has ended: a run can be
   * admitted to it in the same commit. Throws the problems of `POST /v1/sessions`, `session_conflict` (409) where the
   * known one is bound otherwise.
   */
  open(tx: Tx, wanted: WantedSession): void
  /**
   * Marks a session as ended in a commit; creating it again opens it. Throws `session_end_refused` (409) if a guard
   * keeps it.
   */
  end(tx: Tx, session_id: string, reason: string | undefined): void
  /** Keeps in a commit what its agent is at rest, where that is new. No effect on a session that is not there. */
  rest(tx: Tx, session_id: string, status: RestStatus): void
  /**
   * Changes one setting in a commit of its own, with its entry in the journal; one that changes nothing leaves none.
   * Throws `session_not_found` (404) and `session_not_idle` (409).
   */
  change<N extends SettingName>(session_id: string, change: SettingChange<N>): Promise<void>
  /**
   * Settings by their names in the journal, as `metadata` of the event log shows them; `caller` as for `view`. An
   * explicit clear of reply targets is an empty list.
   */
  metadata(session: SessionRecord, caller?: Caller): { [key: string]: Json }
  /** True if a session is bound to a persona as it was with this soul, or with these default skills. */
  names(what: 'soul' | 'default_skills', sha256: string): boolean
  /** Throws `session_not_idle` (409) if something holds the session. */
  requireIdle(session_id: string): void
  effectiveCapabilityScope(session: SessionRecord): CapabilityScope | undefined
  effectiveCredentialScope(session: SessionRecord): CredentialScope | undefined
  /** True if the credential scope of the session lets it use a model route. */
  mayUseRoute(session: SessionRecord, route_id: string): boolean
  /** True if the credential scope of the session lets a connector use a credential, named by its environment key. */
  mayUseConnectorCredential(
    session: SessionRecord,
    use: { readonly connector: string; readonly credential: string },
  ): boolean
}
/** The sessions of this daemon. */
export const Sessions: Token<Sessions> = defineToken<Sessions>('sessions@1')

/** The event of a changed state (events-16). */
export const SessionStateChanged = defineEvent({
  name: 'session_state_changed',
  summary: 'The state of a session changed.',
  data: object({
    session_id: doc(string(), 'Id of the session.'),
    agent_id: doc(string(), 'Id of the agent.'),
    status: enums(agentStatuses),
    pending_approvals: doc(integer(), 'Approvals that wait for a decision.'),
    pending_questions: doc(integer(), 'Questions that wait for an answer.'),
  }),
})
/** The event of a snapshot (events-16). */
export const SessionSnapshotTaken = defineEvent({
  name: 'session_snapshot',
  summary: 'A run of the session waits or ended: the session as it is now.',
  data: object({ session_id: string(), snapshot: ManagedAgentSnapshot }),
})
/** The event of an interruption (events-16). */
export const SessionInterrupted = defineEvent({
  name: 'interrupted',
  summary: 'The active run of a session was interrupted.',
  data: object({ session_id: string(), agent_id: string() }),
})
