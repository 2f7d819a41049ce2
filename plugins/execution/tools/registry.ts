/** The tools that plugins contributed, and who decides about them. */
import type { Json } from '../../../core/plugin.js'
import {
  grantRuleOf,
  modesByStrictness,
  type CallGrants,
  type PermissionDecision,
  type PermissionMode,
  type PermissionQuestion,
  type PermissionRule,
  type SessionMode,
  type Tool,
  type ToolArrival,
  type ToolLimits,
  type ToolPins,
  type ToolRegistry,
} from './contract.js'
import { decidePermission, rulesOf } from './permissions.js'
import type { ToolsConfig } from './config.js'
import type { ToolView } from './visibility.js'

/** What a declared sandbox demands. `inherited` demands nothing of its own. */
const demand = { inherited: 0, read_only: 0, workspace_write: 1, network_enabled: 2 } as const

const withinSandbox = (tool: Pick<Tool, 'sandbox'>, max: ToolLimits['max_sandbox']): boolean =>
  max === 'inherited' || demand[tool.sandbox] <= demand[max]

/** A denial by a limit is no doing of the mode. */
const overLimit = (decision: PermissionDecision, tool: Tool): PermissionDecision => ({
  effective_mode: decision.effective_mode,
  decision: 'deny',
  base_decision: 'deny',
  mode_applied: false,
  ...(decision.matched_rule !== undefined && { matched_rule: decision.matched_rule }),
  ...(decision.built_in === true && { built_in: true }),
  approval_required: false,
  scope: decision.scope,
  reason: `${tool.name} needs ${tool.sandbox}, which the limit max_sandbox does not grant.`,
})

const strictest = (modes: readonly (PermissionMode | undefined)[]): PermissionMode | undefined =>
  modesByStrictness.findLast((mode) => modes.includes(mode))

/**
 * What somebody remembers of calls lets pass what would ask, and only that: neither what is denied, nor while a session
 * plans (approvals-22).
 */
const withGrant = (
  decision: PermissionDecision,
  grants: readonly CallGrants[],
  { tool, input, session_id }: { tool: Tool | undefined; input: Json | undefined; session_id: string },
): PermissionDecision => {
  if (decision.decision !== 'ask' || decision.effective_mode === 'plan') return decision
  const grant_rule = tool === undefined || input === undefined ? undefined : grantRuleOf(tool, input)
  if (tool === undefined || grant_rule === undefined) return decision
  for (const one of grants) {
    const grant = one.find({ session_id, tool_name: tool.name, rule: grant_rule })
    if (grant === undefined) continue
    const reason = `Allowed by grant ${grant.grant_id}: ${grant.text}.`
    return { ...decision, decision: 'allow', approval_required: false, grant_id: grant.grant_id, reason }
  }
  return { ...decision, grant_rule }
}

export interface RegistryParts {
  readonly config: ToolsConfig
  /** The settings in force. */
  readonly permissionMode: () => PermissionMode
  readonly limits: () => ToolLimits
  /** Absolute path. */
  readonly workspace: string
  readonly tools: ToolView<Tool>
  readonly arrivals: () => readonly ToolArrival[]
  readonly missing: ToolRegistry['missing']
  readonly modes: () => readonly SessionMode[]
  readonly grants: () => readonly CallGrants[]
}

export const createRegistry = ({
  config,
  permissionMode,
  limits,
  workspace,
  tools,
  arrivals,
  missing,
  modes,
  grants,
}: RegistryParts): ToolRegistry => {
  const ofScope = (scope: PermissionRule['scope']): PermissionRule[] =>
    config.permission_rules.filter((rule) => rule.scope === scope)
  const configured = [ofScope('project'), ofScope('user')]
  const limitsOf = (pins: ToolPins | undefined): ToolLimits =>
    pins === undefined ? limits() : (pins.limits ?? config.limits)
  const decide = ({ tool_name, input, session_id = '', mode: asked, pins }: PermissionQuestion): PermissionDecision => {
    const mode =
      asked ?? strictest(modes().map((one) => one.mode(session_id))) ?? pins?.permission_mode ?? permissionMode()
    const tool = tools.find(tool_name)
    const decision = decidePermission({
      tool_name,
      mode,
      in_plan_mode: tool?.in_plan_mode,
      rules: [modes().flatMap((one) => one.rules(session_id)), ...configured, rulesOf(tool)],
    })
    return tool === undefined || withinSandbox(tool, limitsOf(pins).max_sandbox)
      ? withGrant(decision, grants(), { tool, input, session_id })
      : overLimit(decision, tool)
  }
  return {
    list: tools.list,
    find: tools.find,
    isOff: tools.isOff,
    refusal: tools.refusal,
    surfaces: tools.surfaces,
    arrival(name) {
      const awaited = arrivals().flatMap((arrival) => arrival.awaited(name) ?? [])
      return awaited.length === 0 ? undefined : Promise.all(awaited).then(() => {})
    },
    missing,
    decide,
    passes: (tool, of) =>
      !tools.hides(tool, of.session_id) &&
      withinSandbox(tool, limitsOf(of.pins).max_sandbox) &&
      decide({ ...of, tool_name: tool.name }).decision === 'allow',
    workspace,
    get permission_mode() {
      return permissionMode()
    },
    limits: limitsOf,
    pin() {
      const now = limits()
      return { permission_mode: permissionMode(), ...(now !== config.limits && { limits: now }) }
    },
  }
}
