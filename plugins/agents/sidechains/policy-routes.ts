/** What would become of a start, and how much of the limits is used (agents-17). */
import {
  array,
  boolean,
  defineRoute,
  doc,
  enums,
  integer,
  jsonReply,
  named,
  object,
  optional,
  Problem,
  string,
  type Infer,
  type Route,
  type StructOf,
} from '../../../core/plugin.js'
import { CapabilityScope, CredentialScope, ToolSurface } from '../../execution/sessions/contract.js'
import { permissionModes } from '../../execution/tools/contract.js'
import { limitsFor, limitsView, SpawnRule, type SpawnLimits, type Starter } from './config.js'
import { agentProfiles, SpawnSidechainRequest } from './contract.js'
import { agentErrors } from './bounds/errors.js'
import type { AgentRecord } from './record.js'
import { foreseeAgent, type SeenAgent, type SpawnParts } from './spawn.js'

const Explanation = object({
  allowed: doc(boolean(), 'Whether it would be started now.'),
  code: optional(doc(string(), 'Code of the problem with which it would be refused.')),
  reason: optional(string()),
  depth: optional(integer({ min: 1 })),
  path: optional(string()),
  permission_mode: optional(enums(permissionModes)),
  tool_surface: optional(ToolSurface),
  cwd: optional(doc(string(), 'Relative to the workspace; absent for the workspace itself.')),
  capability_scope: optional(CapabilityScope),
  credential_scope: optional(CredentialScope),
})

/** Sessions that are named with what they started. */
const mostSessions = 100
const mostProjects = 100

const limits: StructOf<SpawnLimits> = doc(limitsView, 'Those of each start that no rule gives others.')
const count = (text: string) => doc(integer({ min: 0 }), text)
/** Starts of one profile, project or session. */
const counted = {
  started: integer({ min: 1 }),
  most: count('How many there may be, as the rules say that are for all of them.'),
}
const Quotas = named(
  'SubagentQuotas',
  object({
    limits,
    rules: doc(array(SpawnRule), 'Other limits for some starts; where several name one, the last of them counts.'),
    live_sidechains: count('Agents with a parent that work, wait, are queued or have not begun.'),
    started_in_window: count('Agents that were started in the window.'),
    cost_microusd_in_window: count('What they were charged, in millionths of a dollar.'),
    cpu_ms_in_window: count('What they were charged, in milliseconds.'),
    profiles_in_window: doc(
      array(object({ profile: enums(agentProfiles), ...counted })),
      'How many of them have each profile, most first.',
    ),
    projects_in_window: doc(
      array(object({ project_id: string(), ...counted })),
      `How many of them count for each project, most first; at most ${mostProjects} projects.`,
    ),
    sessions_in_window: doc(
      array(object({ session_id: string(), ...counted })),
      `How many of them the agent of each session started, most first; at most ${mostSessions} sessions.`,
    ),
  }),
)

export const policyRoutes = (parts: SpawnParts): readonly Route[] => [explain(parts), quotas(parts)]

const told = ({ session: { capability_scope, credential_scope }, record }: SeenAgent): Infer<typeof Explanation> => {
  const { depth, path, permission_mode, tool_surface, cwd } = record
  return {
    allowed: true,
    depth,
    path,
    permission_mode,
    ...(tool_surface !== undefined && { tool_surface }),
    ...(cwd !== undefined && { cwd }),
    ...(capability_scope !== undefined && { capability_scope }),
    ...(credential_scope !== undefined && { credential_scope }),
  }
}

const explain = (parts: SpawnParts): Route =>
  defineRoute({
    id: 'agents.sidechains.explain',
    method: 'POST',
    path: '/v1/agents/:agent_id/sidechains/explain',
    summary: 'What an agent would be if it were started now, or why it would not; nothing is started.',
    access: 'admin',
    params: object({ agent_id: string({ min: 1, max: 400 }) }),
    body: SpawnSidechainRequest,
    reply: jsonReply(Explanation),
    problems: [agentErrors.agent_not_found],
    durability: 'C',
    example: { body: { permission_mode: 'plan', subtask: { name: 'look' } } },
    handler: async ({ params: { agent_id }, body }) => {
      parts.store.get(agent_id)
      const wanted = {
        parent_agent_id: agent_id,
        request: body,
        profile: body.agent_type ?? 'default',
        run_id: undefined,
        digest: '',
      }
      try {
        return told(await foreseeAgent(parts, wanted))
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        return { allowed: false, code: error.code, reason: error.message }
      }
    },
  })

/** How many there are of each, most first. */
const tally = <K extends string>(names: readonly K[]): [K, number][] =>
  [...names.reduce((counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1), new Map<K, number>())].toSorted(
    ([a, most], [b, more]) => more - most || (a < b ? -1 : 1),
  )

/** The agent of a session that has started some. */
const starterIn = (started: readonly AgentRecord[], session_id: string): Partial<Starter> => {
  const one = started.find(({ parent_session_id }) => parent_session_id === session_id)
  return { session_id, ...(one && { parent_agent_id: one.parent_agent_id, project_id: one.project_ids ?? [] }) }
}

const quotas = ({ store, config, clock }: SpawnParts): Route =>
  defineRoute({
    id: 'agents.quotas',
    method: 'GET',
    path: '/v1/runtime/subagent-policy/quotas',
    summary: 'The limits of agents that agents start, and how much of them is used now.',
    access: 'read',
    reply: jsonReply(Quotas),
    handler: () => {
      const limitsOf = (starter: Partial<Starter>): SpawnLimits => limitsFor(config, starter)
      const first = limitsOf({})
      const started = [...store.startedSince(clock.now() - first.spawn_rate_window_ms + 1)]
      return {
        limits: first,
        rules: [...config.rules],
        live_sidechains: store.present().length,
        started_in_window: started.length,
        cost_microusd_in_window: started.reduce((sum, one) => sum + one.cost_microusd, 0),
        cpu_ms_in_window: started.reduce((sum, one) => sum + one.cpu_ms, 0),
        profiles_in_window: tally(started.map(({ profile }) => profile)).map(([profile, n]) => ({
          profile,
          started: n,
          most: limitsOf({ profile }).max_spawns_per_profile_window,
        })),
        projects_in_window: tally(started.flatMap(({ project_ids = [] }) => project_ids))
          .slice(0, mostProjects)
          .map(([project_id, n]) => ({
            project_id,
            started: n,
            most: limitsOf({ project_id: [project_id] }).max_spawns_per_project_window,
          })),
        sessions_in_window: tally(started.map((one) => one.parent_session_id))
          .slice(0, mostSessions)
          .map(([session_id, n]) => ({
            session_id,
            started: n,
            most: limitsOf(starterIn(started, session_id)).max_spawns_per_session_window,
          })),
      }
    },
  })
