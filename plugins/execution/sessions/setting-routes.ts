/** The routes that set what a session may see, call and use (sessions-9 to sessions-18). */
import {
  defineRoute,
  jsonReply,
  object,
  string,
  type AnyStruct,
  type Infer,
  type Json,
  type ProblemFactory,
  type Route,
} from '../../../core/plugin.js'
import { checkGeneration, modelErrors, unknownRoute, type Models } from '../models/contract.js'
import type { ToolRegistry } from '../tools/contract.js'
import { changedView } from './change.js'
import {
  CapabilityScope,
  CredentialScope,
  Isolation,
  SessionId,
  SessionRoutePolicy,
  SessionView,
  ToolOverrides,
  sessionErrors,
  type SessionRecord,
  type Sessions,
  type PersonaSource,
  type SettingChange,
  type SettingName,
} from './contract.js'
import { checkedScope, rebound } from './rules.js'
import { checkedOverrides } from './tool-overrides.js'

export interface SettingRouteParts {
  readonly sessions: Sessions
  readonly models: Models
  readonly personas: PersonaSource
  readonly tools: ToolRegistry
}

const params = object({ session_id: SessionId })

interface SettingRoutes<N extends SettingName, B extends AnyStruct> {
  readonly name: N
  /** Segment of the path. */
  readonly segment: string
  /** What is set, for the summaries. */
  readonly what: string
  readonly body: B
  readonly example: Json
  readonly problems: readonly ProblemFactory[]
  readonly set: (body: Infer<B>) => SettingChange<N>['next']
}

/** POST and PUT replace a setting, DELETE clears it; all answer with the session. */
const settingRoutes = <N extends SettingName, B extends AnyStruct>(
  { sessions }: SettingRouteParts,
  { name, segment, what, body, example, problems, set }: SettingRoutes<N, B>,
): readonly Route[] => {
  const path = `/v1/sessions/:session_id/${segment}`
  const shared = { path, access: 'admin' as const, params, reply: jsonReply(SessionView), durability: 'A' as const }
  const found = [sessionErrors.session_not_found, ...(name === 'route_policy' ? [] : [sessionErrors.session_not_idle])]
  const replace = (method: 'POST' | 'PUT', id: string): Route =>
    defineRoute({
      ...shared,
      id,
      method,
      body,
      summary: `Sets ${what} of a session.`,
      problems: [...found, ...problems],
      example: { body: example },
      handler: (input) => changedView(sessions, input, { name, next: set(input.body) }),
    })
  return [
    replace('POST', `sessions.${name}.set`),
    replace('PUT', `sessions.${name}.replace`),
    defineRoute({
      ...shared,
      id: `sessions.${name}.clear`,
      method: 'DELETE',
      summary: `Clears ${what} of a session.`,
      problems: found,
      handler: (input) => changedView(sessions, input, { name, next: () => undefined }),
    }),
  ]
}

export const scopeRoutes = (parts: SettingRouteParts): readonly Route[] => [
  ...settingRoutes(parts, {
    name: 'persona',
    segment: 'persona',
    what: 'the persona',
    body: object({ persona_id: string({ min: 1, max: 200 }) }),
    example: { persona_id: 'reviewer' },
    problems: [sessionErrors.persona_not_found, sessionErrors.persona_unbindable],
    set:
      ({ persona_id }) =>
      (session, tx) =>
        rebound(session.persona, parts.personas.freeze(tx, persona_id), tx.now),
  }),
  ...settingRoutes(parts, {
    name: 'capability_scope',
    segment: 'capability-scope',
    what: 'the capability scope',
    body: object({ capability_scope: CapabilityScope }),
    example: { capability_scope: { skill_allow: ['review'], mcp_tool_deny: ['*'] } },
    problems: [sessionErrors.blank_scope_entry],
    set:
      ({ capability_scope }) =>
      () =>
        checkedScope(capability_scope, 'body.capability_scope'),
  }),
  ...settingRoutes(parts, {
    name: 'credential_scope',
    segment: 'credential-scope',
    what: 'the credential scope',
    body: object({ credential_scope: CredentialScope }),
    example: { credential_scope: { route_allow: ['demo'] } },
    problems: [sessionErrors.blank_scope_entry],
    set:
      ({ credential_scope }) =>
      () =>
        checkedScope(credential_scope, 'body.credential_scope'),
  }),
  ...settingRoutes(parts, {
    name: 'tool_overrides',
    segment: 'tool-overrides',
    what: 'which tools are turned off',
    body: object({ tool_overrides: ToolOverrides }),
    example: { tool_overrides: { disable: ['mcp__*'], enable: ['mcp__files__read_file'] } },
    problems: [sessionErrors.tool_overrides_invalid],
    set:
      ({ tool_overrides }) =>
      () =>
        checkedOverrides(parts.tools, tool_overrides),
  }),
  readOverrides(parts),
  ...settingRoutes(parts, {
    name: 'isolation',
    segment: 'isolation',
    what: 'where runs work',
    body: object({ isolation: Isolation }),
    example: { isolation: 'worktree' },
    problems: [],
    set:
      ({ isolation }) =>
      () =>
        isolation,
  }),
  ...settingRoutes(parts, {
    name: 'route_policy',
    segment: 'route-policy',
    what: 'the route policy',
    body: object({ route_policy: SessionRoutePolicy }),
    example: { route_policy: { provider: 'demo', generation: { model: 'demo' } } },
    problems: [
      modelErrors.bad_request,
      modelErrors.generation_unsupported,
      modelErrors.model_family_mismatch,
      sessionErrors.route_not_allowed,
    ],
    set:
      ({ route_policy }) =>
      (session) =>
        checkedPolicy(parts, session, route_policy),
  }),
]

const noOverrides: ToolOverrides = { enable: [], disable: [] }

const readOverrides = ({ sessions }: SettingRouteParts): Route =>
  defineRoute({
    id: 'sessions.tool_overrides.get',
    method: 'GET',
    path: '/v1/sessions/:session_id/tool-overrides',
    summary: 'Which tools a session has turned off.',
    access: 'read',
    params,
    reply: jsonReply(object({ tool_overrides: ToolOverrides })),
    problems: [sessionErrors.session_not_found],
    handler: ({ params: { session_id } }) => ({
      tool_overrides: sessions.get(session_id).tool_overrides ?? noOverrides,
    }),
  })

/** A policy that names a route must name one that the daemon has and the session may use. An empty one is none. */
const checkedPolicy = (
  { models, sessions }: { models: Models; sessions: Sessions },
  session: SessionRecord,
  policy: SessionRoutePolicy,
): SessionRoutePolicy | undefined => {
  const { provider, generation } = policy
  const path = 'body.route_policy.provider'
  if (provider !== undefined) {
    if (models.find(provider) === undefined) throw unknownRoute(provider, models.list(), path)
    if (!sessions.mayUseRoute(session, provider)) {
      throw sessionErrors.route_not_allowed({
        details: { session_id: session.session_id, route_id: provider },
        errors: [{ path, rule: 'must be allowed by the credential scope of the session' }],
      })
    }
  }
  const route = models.find(provider ?? models.default_route)
  if (route !== undefined && generation !== undefined)
    checkGeneration(route, generation, 'body.route_policy.generation')
  const kept = {
    ...(provider !== undefined && { provider }),
    ...(generation !== undefined && Object.keys(generation).length > 0 && { generation }),
  }
  return Object.keys(kept).length === 0 ? undefined : kept
}
