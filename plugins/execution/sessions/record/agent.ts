/** What an agent is that another one started, as snapshots show it; the plugin of agents keeps it. */
import {
  array,
  defaulted,
  doc,
  enums,
  named,
  notBlank,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  type Token,
  defineToken,
} from '../../../../core/plugin.js'
import { GenerationSettings } from '../../models/contract.js'
import { Isolation } from '../settings/settings.js'

/** What becomes of an agent whose work is done: it stays, or its session is ended. */
export const agentRetentions = ['retain', 'close_on_settle'] as const

const toolNames = () => defaulted(array(string({ min: 1, max: 200, pattern: notBlank }), { max: 256 }), [])

/** Which tools an agent sees and calls (agents-6). */
export const ToolSurface = named(
  'ToolSurface',
  object({
    allowlist: doc(toolNames(), 'Names, or beginnings with a trailing star; empty lets every tool pass.'),
    denylist: doc(toolNames(), 'The same, of what is taken away of the tools that the allowlist lets pass.'),
  }),
)
/** The value form of `ToolSurface`. */
export type ToolSurface = Infer<typeof ToolSurface>

/** Whether the system prompt of an agent stands in place of the daemon's, or beside it. */
export const promptMergeModes = ['replace', 'append'] as const

/** What an agent takes over of the one that starts it. */
export const ForkContext = named(
  'ForkContext',
  object({
    parent_assistant_message: doc(string({ max: 65_536 }), 'What the parent said last; the child is told it.'),
    inherited_tool_call_ids: doc(
      array(string({ min: 1, max: 400 }), { max: 100 }),
      'Calls of the parent that led to it; kept, and shown in the snapshot.',
    ),
    system_prompt: doc(string({ max: 65_536 }), 'What the child is told of itself; blank for nothing.'),
    prompt_merge_mode: optional(
      doc(enums(promptMergeModes), "In place of the daemon's system prompt, or beside it; replace when absent."),
    ),
    team_name: optional(string({ min: 1, max: 200 })),
    isolation: optional(Isolation),
    provider: optional(doc(string({ min: 1, max: 200 }), 'Id of a model route.')),
    generation: optional(GenerationSettings),
    tool_surface: optional(ToolSurface),
    worktree_path: optional(doc(string({ min: 1, max: 4096 }), 'Kept, and shown in the snapshot.')),
  }),
)
/** The value form of `ForkContext`. */
export type ForkContext = Infer<typeof ForkContext>

/** What an agent is there for, as its snapshot shows it. */
export const Subtask = object({
  name: string(),
  description: string(),
  input: doc(string(), 'The beginning of what it was told.'),
})

const spawnedBy = {
  name: optional(string()),
  path: optional(doc(string(), 'Names from the root agent on, with slashes between them.')),
  nickname: optional(doc(string(), 'What people call it.')),
  spawned_by_run_id: optional(doc(string(), 'The run that started it; absent where a person did.')),
  spawn_request_id: optional(doc(string(), 'Names the request that started it.')),
  settled_at_ms: optional(doc(timestamp(), 'When its work was done; absent while it works.')),
  cwd: optional(doc(string(), 'The folder that its tools see as the workspace, relative to that of the daemon.')),
}
/** Members of an agent's snapshot that only an agent has which another one started. */
export const spawnedFields = spawnedBy

/** What is known of an agent that another one started. */
export interface SpawnedAgent extends Infer<ReturnType<typeof object<typeof spawnedBy>>> {
  readonly parent: string
  readonly retention: (typeof agentRetentions)[number]
  readonly subtasks: Infer<typeof Subtask>[]
  readonly fork_context: ForkContext | null
}

/** The agents that others started. */
export interface SessionAgents {
  /** Undefined for the agent of a session that nobody started. Must be fast and must not throw. */
  find(session_id: string): SpawnedAgent | undefined
  /** True while it waits for the answer of the agent that started it. Must be fast and must not throw. */
  asks(session_id: string): boolean
  /**
   * The folder that its runs work in, relative to the workspace or to their worktrees; undefined for these themselves.
   * Must be fast and must not throw.
   */
  folder(session_id: string): string | undefined
}
/** Provided by the plugin that keeps agents. */
export const SessionAgents: Token<SessionAgents> = defineToken<SessionAgents>('session-agents@1')
