/** Sessions, agents and tools in memory, put together of the parts that calls use at run time. */
import { unsafeCast, type StructOf } from '../../../../../core/plugin.js'
import { agentErrors } from '../../../../../plugins/agents/sidechains/bounds/errors.js'
import { permitsTool } from '../../../../../plugins/agents/sidechains/bounds/surface.js'
import { SidechainsConfig } from '../../../../../plugins/agents/sidechains/config.js'
import type { AgentProfile, SpawnSidechainRequest } from '../../../../../plugins/agents/sidechains/contract.js'
import { planAgent, type PlanParts } from '../../../../../plugins/agents/sidechains/plan.js'
import type { AgentRecord } from '../../../../../plugins/agents/sidechains/record.js'
import type { SessionRecord } from '../../../../../plugins/execution/sessions/contract.js'
import { scopeGate } from '../../../../../plugins/execution/sessions/scope-gate.js'
import {
  effectiveCapabilityScope,
  effectiveCredentialScope,
} from '../../../../../plugins/execution/sessions/settings/effective.js'
import { ToolsConfig } from '../../../../../plugins/execution/tools/config.js'
import type { PermissionMode, PermissionRule, Tool, ToolPins } from '../../../../../plugins/execution/tools/contract.js'
import { createRegistry } from '../../../../../plugins/execution/tools/registry.js'
import { createToolView } from '../../../../../plugins/execution/tools/visibility.js'
import { parse } from '../../../../../core/base/parse.js'

const tool = (name: string, more: Partial<Tool> = {}): Tool =>
  unsafeCast({ name, description: '', effect: 'once', parallel: false, sandbox: 'inherited', timeout_ms: 1, ...more })

/** A configuration with what is not given at its first values. */
const configured = <T>(struct: StructOf<T>, value: object): T => {
  const parsed = parse(struct, value)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return parsed.value
}

const foreign = (server: string, name: string): Tool =>
  tool(`mcp__${server}__${name}`, { origin: { server, tool: name } })

/** Tools that look, change, ask and plan, and some of servers. */
export const tools: readonly Tool[] = [
  tool('read_file', { effect: 'read' }),
  tool('list_files', { effect: 'read' }),
  tool('write_file'),
  tool('bash'),
  tool('echo', { permission: 'ask' }),
  tool('spawn_agent', { permission: 'allow' }),
  tool('look_back', { permission: 'ask', in_plan_mode: true }),
  tool('exit_plan_mode'),
  tool('list_mcp_resources', { effect: 'read' }),
  foreign('a', 'get'),
  foreign('a', 'put'),
  foreign('b', 'get'),
]

/** A session whose agent starts others, or was started. */
export interface Being {
  readonly session: SessionRecord
  readonly spawned: AgentRecord | undefined
  /** What hooks gave to the session. */
  readonly rules: readonly PermissionRule[]
  /** What its run keeps, if one calls. */
  readonly pins: ToolPins | undefined
}

export interface World {
  permission_mode: PermissionMode
  readonly add: (being: Being) => void
  readonly plan: (parent: Being, request: SpawnSidechainRequest, profile: AgentProfile) => ReturnType<typeof planAgent>
  readonly tools: PlanParts['tools']
  readonly sessions: Pick<PlanParts['sessions'], 'effectiveCapabilityScope' | 'effectiveCredentialScope'>
}

export const createWorld = (): World => {
  const bySession = new Map<string, Being>()
  const byAgent = new Map<string, Being>()
  const config = configured(SidechainsConfig, { max_child_depth: 1e9 })
  const sessions = {
    find: (id: string) => bySession.get(id)?.session,
    effectiveCapabilityScope,
    effectiveCredentialScope,
  }
  const modes = () => [
    {
      id: 'sidechains',
      mode: (id: string) => bySession.get(id)?.spawned?.permission_mode,
      rules: (id: string) => bySession.get(id)?.spawned?.permission_rules ?? [],
    },
    { id: 'hooks', mode: () => undefined, rules: (id: string) => bySession.get(id)?.rules ?? [] },
  ]
  const surfaces = {
    id: 'sidechains',
    hidden: (id: string) => {
      const surface = bySession.get(id)?.spawned?.tool_surface
      return surface === undefined ? undefined : ({ name }: { name: string }) => !permitsTool(surface, name)
    },
  }
  const gates = [surfaces, scopeGate(sessions)]
  const toolsConfig = configured(ToolsConfig, {})
  const registry = createRegistry({
    config: toolsConfig,
    permissionMode: () => world.permission_mode,
    limits: () => toolsConfig.limits,
    workspace: '/',
    tools: createToolView({ tools: () => tools, gates: () => gates, log: unsafeCast({}) }),
    arrivals: () => [],
    missing: () => undefined,
    modes,
    grants: () => [],
  })
  const store = {
    get(agent_id: string) {
      const being = byAgent.get(agent_id)
      if (being === undefined) throw agentErrors.agent_not_found({ details: { agent_id } })
      return being
    },
    present: () => [],
    startedSince: () => [],
    collection: { count: () => 0 },
  }
  const runs = { find: (id: string) => ({ pinned: bySession.get(id)?.pins }) }
  const parts = unsafeCast<PlanParts>({
    store,
    sessions,
    runs,
    tools: registry,
    modes,
    memberships: () => [],
    config,
    host: { stateRoot: '/nowhere' },
  })
  const world: World = {
    permission_mode: 'default',
    add(being) {
      bySession.set(being.session.session_id, being)
      byAgent.set(being.session.agent_id, being)
    },
    plan({ session: { agent_id, session_id }, pins }, request, profile) {
      const run_id = pins === undefined ? undefined : session_id
      return planAgent(parts, { parent_agent_id: agent_id, request, profile, run_id, digest: '' }, 1)
    },
    tools: registry,
    sessions,
  }
  return world
}
