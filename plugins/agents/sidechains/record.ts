/** What is kept of an agent that another one started. */
import {
  array,
  enums,
  integer,
  literal,
  nullable,
  object,
  optional,
  string,
  timeKey,
  type CollectionSpec,
} from '../../../core/plugin.js'
import {
  agentRetentions,
  ForkContext,
  Subtask,
  ToolSurface,
  type SpawnedAgent,
} from '../../execution/sessions/contract.js'
import { permissionModes, type PermissionMode, type PermissionRule } from '../../execution/tools/contract.js'
import { agentProfiles, type AgentProfile } from './contract.js'

/**
 * It never changes, but for `nickname`, `is_closed`, and `launch_run_id` of one that was started without a run. Times
 * in Unix ms.
 */
export interface AgentRecord {
  readonly session_id: string
  readonly agent_id: string
  readonly parent_agent_id: string
  readonly parent_session_id: string
  readonly root_agent_id: string
  /** 1 for a child of a session that nobody started. */
  readonly depth: number
  readonly name?: string
  readonly path: string
  readonly nickname?: string
  readonly profile: AgentProfile
  readonly retention: SpawnedAgent['retention']
  readonly permission_mode: PermissionMode
  /** Those of its parent's session when it was started. */
  readonly permission_rules: readonly PermissionRule[]
  readonly tool_surface?: ToolSurface
  /** The folder that its runs work in, relative to the workspace or their worktrees; these themselves when absent. */
  readonly cwd?: string
  /** What the runs that led to it let pass when they started agents: all of these hold too. */
  readonly run_surfaces?: readonly ToolSurface[]
  readonly fork_context: ForkContext | null
  readonly subtask?: SpawnedAgent['subtasks'][number]
  /** Its first run. */
  readonly launch_run_id?: string
  readonly spawned_by_run_id?: string
  readonly spawn_request_id?: string
  /** Of the request that `spawn_request_id` names. */
  readonly request_digest?: string
  readonly spawned_at_ms: number
  /** Projects that its parent, or one above that, was a member of when it was started. */
  readonly project_ids?: readonly string[] | undefined
  /** What the start was charged: millionths of a dollar, and milliseconds. */
  readonly cost_microusd: number
  readonly cpu_ms: number
  readonly is_closed?: true
  /** A hook has it look. */
  readonly is_hook?: true
}

const PermissionRuleRecord = object({
  scope: enums(['user', 'project', 'session']),
  tool_name_pattern: string(),
  behavior: enums(['allow', 'deny', 'ask']),
  reason: optional(string()),
  origin: optional(literal('hook_update')),
})
const schema = object({
  session_id: string(),
  agent_id: string(),
  parent_agent_id: string(),
  parent_session_id: string(),
  root_agent_id: string(),
  depth: integer({ min: 1 }),
  name: optional(string()),
  path: string(),
  nickname: optional(string()),
  profile: enums(agentProfiles),
  retention: enums(agentRetentions),
  permission_mode: enums(permissionModes),
  permission_rules: array(PermissionRuleRecord),
  tool_surface: optional(ToolSurface),
  cwd: optional(string()),
  run_surfaces: optional(array(ToolSurface)),
  fork_context: nullable(ForkContext),
  subtask: optional(Subtask),
  launch_run_id: optional(string()),
  spawned_by_run_id: optional(string()),
  spawn_request_id: optional(string()),
  request_digest: optional(string()),
  spawned_at_ms: integer(),
  project_ids: optional(array(string())),
  cost_microusd: integer(),
  cpu_ms: integer(),
  is_closed: optional(literal(true)),
  is_hook: optional(literal(true)),
})

const bySpawn = ({ spawned_at_ms, session_id }: AgentRecord): string => `${timeKey(spawned_at_ms)}${session_id}`

/** By session, of which each has one agent. */
export const agentCollection: CollectionSpec<AgentRecord> = {
  name: 'agents',
  version: 2,
  id: ({ session_id }) => session_id,
  indexes: {
    spawned: { group: () => 'all', sort: bySpawn },
    parent: { group: ({ parent_agent_id }) => parent_agent_id, sort: bySpawn },
    root: { group: ({ root_agent_id }) => root_agent_id, sort: bySpawn },
    /** Those of hooks look at what a run does, and are none of its work. */
    run: { group: ({ spawned_by_run_id, is_hook }) => (is_hook === true ? undefined : spawned_by_run_id) },
    request: { group: ({ spawn_request_id }) => spawn_request_id },
    /** Those that were started without a run, until they are known to have had one. */
    unbegun: {
      group: ({ launch_run_id, is_closed }) =>
        launch_run_id === undefined && is_closed === undefined ? 'all' : undefined,
    },
    /** Those that are to be closed when their work is done. */
    passing: {
      group: ({ retention, is_closed }) =>
        retention === 'close_on_settle' && is_closed === undefined ? 'all' : undefined,
    },
  },
  settled: () => true,
  schema,
  references: ({ session_id, parent_session_id }) =>
    [session_id, parent_session_id].map((id) => ({ collection: 'sessions', id })),
}
