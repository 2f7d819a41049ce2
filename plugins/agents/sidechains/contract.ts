/** Agents that other agents start, each in a session of its own. Rules: docs/rules/agents.md. */
import {
  array,
  boolean,
  defaulted,
  definePoint,
  defineToken,
  doc,
  enums,
  hasMembers,
  IdempotencyKey,
  integer,
  named,
  notBlank,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Point,
  type Token,
  type Tx,
} from '../../../core/plugin.js'
import { GenerationSettings } from '../../execution/models/contract.js'
import { InlineAsset, InputItem, runStatuses } from '../../execution/runs/contract.js'
import {
  agentRetentions,
  agentStatuses,
  CapabilityScope,
  CredentialScope,
  ForkContext,
  SessionRoutePolicy,
  ToolSurface,
  type SessionRecord,
} from '../../execution/sessions/contract.js'
import { usageFields } from '../../operator/usage/contract.js'
import { permissionModes, type NamedTools, type ToolCall } from '../../execution/tools/contract.js'

/** The tree of agents on the terminal. */
export { lookAtTree } from './terminal/tree-command.js'
import { noControls } from './bounds/folder.js'
import type { AgentAuditDraft } from './supervision/audit.js'

/** Problems of agents, for routes of other plugins. */
export { agentErrors } from './bounds/errors.js'

/** What an agent is there for, from which its bearing follows (agents-9). */
export const agentProfiles = ['default', 'plan', 'verification', 'coordinator'] as const
/** One of `agentProfiles`. */
export type AgentProfile = (typeof agentProfiles)[number]

/** What a new agent is told to do. */
export const SubtaskRequest = object({
  name: doc(string({ min: 1, max: 200, pattern: notBlank }), 'What it is called in its path.'),
  description: defaulted(doc(string({ max: 4_000 }), 'In a sentence; it is told so where content is empty.'), ''),
  content: defaulted(doc(string(), 'What it is told.'), ''),
  input_items: optional(doc(array(InputItem, { max: 100 }), 'In place of content and attachments.')),
  attachments: optional(doc(array(InlineAsset, { max: 100 }), 'Files of the request; they are stored as assets.')),
})
/** The value form of `SubtaskRequest`. */
export type SubtaskRequest = Infer<typeof SubtaskRequest>

/** A sidechain that is wanted (agents-1). */
export const SpawnSidechainRequest = named(
  'SpawnSidechainRequest',
  object({
    session_id: optional(doc(string({ max: 200 }), 'Of the new session; made by the daemon when absent.')),
    thread_id: optional(string({ min: 1, max: 200 })),
    route_policy: optional(
      doc(SessionRoutePolicy, 'Which model route the child uses; that of its parent when absent.'),
    ),
    provider: optional(doc(string({ min: 1, max: 200 }), 'With generation, in place of route_policy.')),
    route_id: optional(doc(string({ min: 1, max: 200 }), 'Another name of provider.')),
    generation: optional(GenerationSettings),
    permission_mode: optional(
      doc(enums(permissionModes), 'At most as permissive as that of the parent, which is taken when absent.'),
    ),
    retention: defaulted(doc(enums(agentRetentions), 'What becomes of the child when its work is done.'), 'retain'),
    nickname: optional(string({ min: 1, max: 200, pattern: notBlank })),
    spawn_request_id: IdempotencyKey,
    fork_context: optional(ForkContext),
    tool_surface: optional(ToolSurface),
    agent_type: optional(doc(enums(agentProfiles), 'What it is there for; default when absent.')),
    cwd: optional(
      doc(
        string({ min: 1, max: 4096, pattern: noControls }),
        'The folder that its tools see as the workspace, within that of its parent, which is taken when absent.',
      ),
    ),
    capability_scope: optional(CapabilityScope),
    credential_scope: optional(
      doc(CredentialScope, 'Without it the child has the routes of its parent, and no credentials of connectors.'),
    ),
    subtask: optional(doc(SubtaskRequest, 'What it begins with; without one it waits for its first run.')),
  }),
)
/** The value form of `SpawnSidechainRequest`. */
export type SpawnSidechainRequest = Infer<typeof SpawnSidechainRequest>

const count = (text: string) => doc(integer({ min: 0 }), text)

/** A row of the list of agents (agents-12). */
export const AgentSummaryView = named(
  'AgentSummaryView',
  object({
    agent_id: string(),
    parent_agent_id: optional(string()),
    session_id: string(),
    thread_id: optional(string()),
    name: optional(string()),
    path: optional(doc(string(), 'Names from the root agent on.')),
    nickname: optional(string()),
    status: enums(agentStatuses),
    retention: enums(agentRetentions),
    spawned_by_run_id: optional(string()),
    spawn_request_id: optional(string()),
    spawned_at_ms: timestamp(),
    settled_at_ms: optional(doc(timestamp(), 'When its work was done; absent while it works, or never did.')),
    closed_at_ms: optional(timestamp()),
    sidechain_session_id: optional(string()),
    subtask_count: count('What it was started for: 0 or 1.'),
    mailbox_message_count: count('Messages that wait for it.'),
    has_runtime: doc(boolean(), 'It is not closed, and works, waits or is queued.'),
    active_run_id: optional(string()),
    queued_run_count: count('Runs that wait for their turn.'),
    pending_approval_count: count('Approvals that wait for a decision.'),
    pending_question_count: count('Questions that wait for an answer.'),
    pending_parent_clarification_count: count('Questions of its children that wait for an answer.'),
    pending_parent_clarification_run_ids: optional(doc(array(string()), 'The oldest ten of their runs.')),
    last_run_status: optional(doc(enums(runStatuses), 'How its newest run ended; absent while that is under way.')),
    last_error: optional(string()),
    last_output_preview: optional(doc(string(), 'The beginning of its newest answer.')),
    last_output_truncated: optional(boolean()),
    last_activity_at_ms: optional(timestamp()),
    usage: optional(doc(object(usageFields), 'What model calls in its session used; absent where there were none.')),
  }),
)
/** The value form of `AgentSummaryView`. */
export type AgentSummaryView = Infer<typeof AgentSummaryView>

/** How many agents of a scope there are (agents-12). */
export const AgentCounts = object({
  total: count('In the scope, before other filters.'),
  filtered: count('That the filters let pass.'),
  ...Object.fromEntries(agentStatuses.map((status) => [status, integer({ min: 0 })])),
  with_runtime: count('That work, wait or are queued.'),
  without_runtime: count('All others.'),
})

/** An agent with its session, of whomever started it. */
export interface KnownAgent {
  readonly session: SessionRecord
  /** Absent where nobody started it. */
  readonly parent_agent_id?: string
  readonly root_agent_id: string
  /** A hook has it, or one above it, look. */
  readonly isHook: boolean
}

/** An agent that a plugin wants to be started, with what it is told. */
export interface AgentWish extends Partial<Omit<SpawnSidechainRequest, 'subtask'>> {
  readonly parent_agent_id: string
  /** The run that wants it, such as that of a call: the agent may do what that run may, or less. */
  readonly run_id?: string
  /** What it is called in its path. */
  readonly name: string
  /** What it is told. */
  readonly content: string
  readonly profile?: AgentProfile
  /** A hook has it look: of the hooks with agents none looks at what it does. */
  readonly isHook?: true
  /** Lists of tools that it keeps to, all of them, beside what holds for the run. */
  readonly surfaces?: readonly NamedTools[]
  /** Model answers of its first run, at most. */
  readonly max_turns?: number
}

/** How an agent stands, and what it ended with. */
export interface AgentEnd {
  readonly status: string
  /** It works, waits or is queued. */
  readonly has_runtime: boolean
  /** How its last run ended. */
  readonly last_run_status?: string
  readonly final_output?: string
  readonly is_cut?: true
  readonly last_error?: string
}

/** The agents of this daemon, one a session. */
export interface Agents {
  /**
   * Starts one below another, as `POST /v1/agents/{agent_id}/sidechains` with its problems; durable when it resolves.
   * The same `spawn_request_id` again gives the same agent, for those who may be called again.
   */
  start(wish: AgentWish): Promise<FollowedAgent>
  /**
   * Waits within a call until an agent is at rest or so many milliseconds are over, and tells how it stands then. The
   * place of the run is others' meanwhile. Throws `agent_not_found` (404).
   */
  waitFor(
    call: Pick<ToolCall, 'run_id' | 'signal' | 'waitFor'>,
    agent_id: string,
    timeout_ms: number,
  ): Promise<AgentEnd>
  /** That of a session. Throws `session_not_found` (404). */
  ofSession(session_id: string): KnownAgent
  /** Throws `agent_not_found` (404). */
  get(agent_id: string): KnownAgent
  /** Sessions of agents that work, wait or are queued and that hooks, or agents of such, have look. */
  ofHooks(): readonly string[]
  /** Names from the root agent on, behind a blank; empty for an agent that nobody started, or that is not there. */
  pathOf(agent_id: string): string
}
/** The agents of this daemon: what they are, and starting one. Messages to them go by `mailboxes@1`. */
export const Agents: Token<Agents> = defineToken<Agents>('agents@1')

/** What waits for agents. */
export interface AgentMail {
  /** Messages that wait for an agent. Must be fast and must not throw. */
  waiting(agent_id: string): number
  /** Agents for whom some wait. Must be fast and must not throw. */
  recipients(): readonly string[]
}
/** How much waits for agents; it sends nothing, as `mailboxes@1` does. Provided by the plugin that keeps mailboxes. */
export const AgentMail: Token<AgentMail> = defineToken<AgentMail>('agent-mail@1')

/** What agents ask the ones that started them. */
export interface AgentQuestions {
  /** True while an agent waits for the answer of its parent. Must be fast and must not throw. */
  asks(session_id: string): boolean
  /** What an agent has asked, and the run in the session of its parent that waits for the answer. */
  askedBy(session_id: string): { readonly run_id: string; readonly request_id: string } | undefined
  /** Sessions of agents that wait so. */
  asking(): readonly string[]
  /** Runs in the session of a parent that wait for an answer. */
  asked(session_id: string): readonly string[]
}
/** Which agents wait for an answer of their parent. Provided by the plugin that takes questions there. */
export const AgentQuestions: Token<AgentQuestions> = defineToken<AgentQuestions>('agent-questions@1')

/** What became of agents, as it is recorded (agents-20). */
export type { AgentAuditDraft } from './supervision/audit.js'
/** The audit of agents. */
export interface AgentAudit {
  /** Records an event in the commit of what it tells. */
  note(tx: Tx, draft: AgentAuditDraft): void
}
/** The audit of agents. */
export const AgentAudit: Token<AgentAudit> = defineToken<AgentAudit>('agent-audit@1')

/** An agent that another one started, as far as others follow it. */
export interface FollowedAgent {
  readonly session_id: string
  readonly agent_id: string
  /** The run that started it; absent where no run did. */
  readonly spawned_by_run_id?: string
  /** The folder that its runs work in, relative to the workspace or their worktrees; these themselves when absent. */
  readonly cwd?: string
}
/** Agents by the runs that started them. */
export interface SpawnedAgents {
  /** Those of a run by session id, behind the session `beyond` if one is named. */
  spawnedBy(run_id: string, page: { readonly limit: number; readonly beyond?: string }): readonly FollowedAgent[]
  /** The agent of a session that another agent started. */
  find(session_id: string): FollowedAgent | undefined
}
/** Hears of agents that are started. */
export interface SpawnObserver {
  readonly id: string
  /**
   * Called in the commit that starts one. Must be fast, and must not be async, write to what it is told or throw: what
   * it throws is charged to its plugin, what it changed is taken back, and the agent starts. What a shipped plugin
   * throws undoes all of it.
   */
  spawned(tx: Tx, agent: FollowedAgent): void
}
/** Everyone who hears of agents that are started. */
export const SpawnObservers: Point<SpawnObserver> = definePoint<SpawnObserver>(
  'spawn-observers@1',
  ({ id }) => id,
  hasMembers('an observer of starts', { id: 'id', spawned: 'function' }),
)

/** Which agents runs have started. Provided by the plugin that starts them. */
export const SpawnedAgents: Token<SpawnedAgents> = defineToken<SpawnedAgents>('spawned-agents@1')
