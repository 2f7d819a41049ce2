/** What a new agent will be, by what is asked and what its parent may do (agents-3 to agents-9). */
import { canonical } from '../../../core/plugin.js'
import type { Runs } from '../../execution/runs/contract.js'
import {
  belongsTo,
  type SessionMembership,
  type SessionRecord,
  type SessionRoutePolicy,
  type Sessions,
  type WantedSession,
} from '../../execution/sessions/contract.js'
import type {
  NamedTools,
  PermissionMode,
  PermissionQuestion,
  PermissionRule,
  SessionMode,
  ToolRegistry,
} from '../../execution/tools/contract.js'
import type { SidechainsConfig } from './config.js'
import type { AgentProfile, SpawnSidechainRequest, SubtaskRequest } from './contract.js'
import { agentErrors } from './bounds/errors.js'
import { narrowedFolder } from './bounds/folder.js'
import { checkLimits, depthBelow, rootOf } from './limits.js'
import {
  checkedSurface,
  narrowedCapabilities,
  narrowedCredentials,
  narrowedIsolation,
  narrowedMode,
} from './bounds/narrowing.js'
import type { AgentRecord } from './record.js'
import type { Agent, AgentStore } from './store.js'
import { narrowable, type AgentAuditDraft } from './supervision/audit.js'

/** An agent that somebody wants to be started. */
export interface WantedAgent {
  readonly parent_agent_id: string
  readonly request: SpawnSidechainRequest
  readonly profile: AgentProfile
  /** The run that starts it; undefined where a person does. */
  readonly run_id: string | undefined
  readonly is_hook?: true | undefined
  /** Model answers of its first run, at most. */
  readonly max_turns?: number | undefined
  /** Lists of tools that it keeps to beside what holds for the run. */
  readonly surfaces?: readonly NamedTools[] | undefined
  /** Of the request, for those who send it again. */
  readonly digest: string
}

export interface PlanParts {
  readonly store: AgentStore
  readonly sessions: Sessions
  readonly runs: Runs
  readonly tools: ToolRegistry
  readonly modes: () => readonly SessionMode[]
  readonly memberships: () => readonly SessionMembership[]
  readonly config: SidechainsConfig
  readonly host: { readonly stateRoot: string }
}

/** All that is stored of it, but for the ids that its session gives. */
export interface Plan {
  readonly session: Omit<WantedSession, 'session_id'>
  readonly record: Omit<AgentRecord, 'session_id' | 'agent_id'>
  /** What of its parent's it has less of. */
  readonly narrowed: AgentAuditDraft['narrowed']
}

/** Throws `agent_not_found`, `agent_widened`, `spawn_conflict`, `conflict` and `rate_limited`. */
export const planAgent = (parts: PlanParts, wanted: WantedAgent, now: number): Plan => {
  const { store, tools, modes, config } = parts
  const { request, profile, run_id } = wanted
  const parent = store.get(wanted.parent_agent_id)
  const { session } = parent
  if (session.ended_at_ms !== undefined)
    throw agentErrors.conflict({ details: { reason: `its parent ${session.agent_id} is closed` } })
  const { effective_mode } = tools.decide(callBy(parts, session, run_id))
  const asked = narrowedMode(effective_mode, request.permission_mode)
  const mode = profile === 'plan' ? 'plan' : asked
  const surface = checkedSurface(
    parent.spawned?.tool_surface,
    request.tool_surface ?? request.fork_context?.tool_surface,
  )
  const run_surfaces = surfacesOfRuns(parts, parent, wanted)
  const route_policy = policyOf(request, session)
  const project_ids = projectsOf(parts, parent)
  const limits = checkLimits(store, config, {
    parent,
    profile,
    project_ids,
    run_id,
    told_bytes: toldBytes(request),
    output_tokens: route_policy?.generation?.max_output_tokens,
    now,
  })
  const { subtask, nickname, spawn_request_id } = request
  const has = limitsOfParent(parts, parent, effective_mode)
  const capability_scope = narrowedCapabilities(has.capability_scope, request.capability_scope)
  const credential_scope = narrowedCredentials(has.credential_scope, request.credential_scope)
  const isolation = narrowedIsolation(isolationOf(parts, session, run_id), request.fork_context?.isolation)
  const cwd = narrowedFolder({
    cwd: request.cwd,
    parent: has.cwd,
    workspace: tools.workspace,
    stateRoot: parts.host.stateRoot,
    isApart: isolation === 'worktree',
  })
  const gets = { permission_mode: mode, tool_surface: surface, capability_scope, credential_scope, cwd }
  return {
    narrowed: narrowable.filter(
      (what) => canonical(gets[what]) !== canonical(has[what]) || (what === 'tool_surface' && isCut(wanted)),
    ),
    session: {
      thread_id: request.thread_id,
      capability_scope,
      credential_scope,
      settings: settingsOf(session, route_policy, isolation),
    },
    record: {
      parent_agent_id: session.agent_id,
      parent_session_id: session.session_id,
      root_agent_id: rootOf(parent),
      depth: depthBelow(parent),
      path: `${parent.spawned?.path ?? ''}/${(subtask?.name.trim() ?? 'agent').replaceAll('/', '-')}`,
      profile,
      retention: request.retention,
      permission_mode: mode,
      permission_rules: [
        ...(mode === 'plan' && effective_mode === 'dontAsk' ? unasked(tools, session) : []),
        ...modes().flatMap((one) => one.rules(session.session_id)),
      ],
      fork_context: request.fork_context ?? null,
      spawned_at_ms: now,
      cost_microusd: limits.estimated_spawn_cost_microusd,
      cpu_ms: limits.estimated_spawn_cpu_ms,
      ...(project_ids.length > 0 && { project_ids }),
      ...(nickname !== undefined && { nickname }),
      ...(surface !== undefined && { tool_surface: surface }),
      ...(cwd !== undefined && { cwd }),
      ...(run_surfaces.length > 0 && { run_surfaces }),
      ...(wanted.is_hook === true && { is_hook: true as const }),
      ...(run_id !== undefined && { spawned_by_run_id: run_id }),
      ...(spawn_request_id !== undefined && { spawn_request_id, request_digest: wanted.digest }),
      ...(subtask !== undefined && { name: subtask.name.trim(), subtask: shownSubtask(subtask) }),
    },
  }
}

/** Lists of tools that its runs keep to. */
const surfacesOfRuns = ({ tools }: PlanParts, { session, spawned }: Agent, { run_id, surfaces = [] }: WantedAgent) => [
  ...(spawned?.run_surfaces ?? []),
  ...(run_id === undefined ? [] : tools.surfaces(session.session_id)),
  ...surfaces,
]

/** A child works for the projects of those above it. */
const projectsOf = ({ memberships }: PlanParts, { session, spawned }: Agent): readonly string[] => [
  ...new Set([...(spawned?.project_ids ?? []), ...belongsTo(memberships(), 'project', session.session_id)]),
]

/** What has it started gives it fewer tools, such as a skill. */
const isCut = ({ surfaces = [] }: WantedAgent): boolean =>
  surfaces.some(({ allowlist, denylist }) => allowlist.length + denylist.length > 0)

const limitsOfParent = ({ sessions }: PlanParts, { session, spawned }: Agent, permission_mode: PermissionMode) => ({
  permission_mode,
  tool_surface: spawned?.tool_surface,
  cwd: spawned?.cwd,
  capability_scope: sessions.effectiveCapabilityScope(session),
  credential_scope: sessions.effectiveCredentialScope(session),
})

/** What holds for the calls of a session now: a run goes on by the settings that it was accepted with. */
const callBy = ({ runs }: PlanParts, { session_id }: SessionRecord, run_id: string | undefined): PermissionQuestion => {
  const pins = run_id === undefined ? undefined : runs.find(run_id)?.pinned
  return { tool_name: 'spawn_agent', session_id, ...(pins !== undefined && { pins }) }
}

/** Where the parent works: a run may have a copy of the workspace although its session has none. */
const isolationOf = ({ runs }: PlanParts, { isolation }: SessionRecord, run_id: string | undefined) =>
  (run_id === undefined ? undefined : runs.find(run_id)?.isolation) ?? isolation

/** A session that plans asks before some calls, which `dontAsk` refuses: a child of such a session has none of them. */
const unasked = (tools: ToolRegistry, { session_id }: SessionRecord): readonly PermissionRule[] =>
  tools
    .list()
    .flatMap(({ name }) =>
      tools.decide({ tool_name: name, session_id, mode: 'plan' }).decision === 'ask'
        ? [{ scope: 'session', tool_name_pattern: name, behavior: 'deny', reason: 'Its parent does not ask.' } as const]
        : [],
    )

/** What a child has of its parent, and that its outputs go nowhere: its parent is told of them. */
const settingsOf = (
  { persona, tool_overrides }: SessionRecord,
  route_policy: SessionRoutePolicy | undefined,
  isolation: SessionRecord['isolation'],
): WantedSession['settings'] => ({
  reply_targets: [],
  ...(persona !== undefined && { persona }),
  ...(tool_overrides !== undefined && { tool_overrides }),
  ...(route_policy !== undefined && { route_policy }),
  ...(isolation !== undefined && { isolation }),
})

/** The older form says the same as `route_policy`, or says it alone. */
const policyOf = (request: SpawnSidechainRequest, parent: SessionRecord): SessionRoutePolicy | undefined => {
  const { route_policy, provider, route_id, generation, fork_context } = request
  const differs = (a: unknown, b: unknown): boolean =>
    a !== undefined && b !== undefined && canonical(a) !== canonical(b)
  if (differs(provider, route_id)) throw twice('provider and route_id')
  const named = provider ?? route_id
  if (
    route_policy !== undefined &&
    (differs(named, route_policy.provider) || differs(generation, route_policy.generation))
  )
    throw twice('route_policy, and provider with generation')
  const asked =
    policy(route_policy?.provider ?? named, route_policy?.generation ?? generation) ??
    policy(fork_context?.provider, fork_context?.generation)
  const inherited = parent.route_policy?.provider
  // Who names a model alone wants it of the route of the parent.
  return asked?.provider === undefined && asked !== undefined && inherited !== undefined
    ? { ...asked, provider: inherited }
    : (asked ?? parent.route_policy)
}

/** Where a request has what a submission calls so: under the name that was sent. */
export const sentAs =
  ({ route_policy, provider, route_id, generation, fork_context }: SpawnSidechainRequest) =>
  (path: string): string => {
    const [, member = ''] = path.split('.')
    const within = (place: string): string => path.replace('body.', `body.${place}`)
    if (member === 'content' || member === 'input_items' || member === 'attachments') return within('subtask.')
    if (member !== 'provider' && member !== 'generation') return path
    if (route_policy?.[member] !== undefined) return within('route_policy.')
    if (member === 'provider' && provider === undefined && route_id !== undefined) return 'body.route_id'
    const isSaid = route_policy !== undefined || provider !== undefined || generation !== undefined
    return !isSaid && fork_context?.[member] !== undefined ? within('fork_context.') : path
  }

const twice = (reason: string): Error =>
  agentErrors.spawn_conflict({
    details: { reason },
    errors: [{ path: 'body.route_policy', rule: 'must say the same' }],
  })

const policy = (
  provider: SessionRoutePolicy['provider'],
  generation: SessionRoutePolicy['generation'],
): SessionRoutePolicy | undefined =>
  provider === undefined && generation === undefined
    ? undefined
    : { ...(provider !== undefined && { provider }), ...(generation !== undefined && { generation }) }

/** What a subtask tells in words. */
export const toldBy = ({ name, description, content, input_items = [], attachments = [] }: SubtaskRequest): string =>
  content !== '' || input_items.length + attachments.length > 0 ? content : description === '' ? name : description

const toldBytes = ({ subtask, fork_context }: SpawnSidechainRequest): number => {
  const texts = [fork_context?.system_prompt, fork_context?.parent_assistant_message]
  const items = subtask?.input_items?.flatMap((item) => (item.type === 'text' ? [item.text] : [])) ?? []
  return [...texts, subtask === undefined ? '' : toldBy(subtask), ...items].reduce(
    (sum, text) => sum + Buffer.byteLength(text ?? ''),
    0,
  )
}

const shownLength = 200
const shownSubtask = (subtask: SubtaskRequest): NonNullable<AgentRecord['subtask']> => ({
  name: subtask.name.trim(),
  description: subtask.description,
  input: Array.from(toldBy(subtask).slice(0, shownLength * 2))
    .slice(0, shownLength)
    .join(''),
})
