/** Whether a tool may run: rules first, then what the mode makes of their answer (tools-1 to tools-6). Pure. */
import { assertNever } from '../../../core/plugin.js'
import {
  matchRule,
  type PermissionDecision,
  type PermissionMode,
  type PermissionRule,
  type RuleBehavior,
  type Tool,
} from './contract.js'

/** Tools that change files in a way `acceptEdits` lets pass. */
const editTools: ReadonlySet<string> = new Set(['write_file', 'edit_file', 'apply_patch'])

/** What plan mode leaves usable: looking, and talking to people and agents. */
export const planTools: ReadonlySet<string> = new Set([
  'read_file',
  'list_files',
  'glob_search',
  'grep_search',
  'web_fetch',
  'web_search',
  'list_mcp_resources',
  'list_mcp_resource_templates',
  'read_mcp_resource',
  'list_skills',
  'read_channel_thread',
  'ask_operator',
  'ask_user_question',
  'request_parent_clarification',
  'spawn_agent',
  'list_agents',
  'list_agent_summaries',
  'message_agent',
  'wait_agent',
  'get_agent',
  'enter_plan_mode',
  'exit_plan_mode',
  'task_get',
  'task_list',
  'task_output',
  'schedule_get',
  'schedule_list',
  'get_goal',
])

const asking = [
  'bash',
  'write_file',
  'edit_file',
  'apply_patch',
  'mcp__*',
  'list_mcp_resources',
  'list_mcp_resource_templates',
  'read_mcp_resource',
  'exit_plan_mode',
]
/** What the contract says about names, when nobody said otherwise. A tool without a rule here says it itself. */
export const builtInRules: readonly PermissionRule[] = Object.freeze([
  ...asking.map((tool_name_pattern): PermissionRule =>
    Object.freeze({ scope: 'session', tool_name_pattern, behavior: 'ask', built_in: true }),
  ),
  Object.freeze({ scope: 'session', tool_name_pattern: '*', behavior: 'allow', built_in: true } as const),
])

type ToolSays = Pick<Tool, 'name' | 'effect' | 'permission' | 'in_plan_mode'>

/** The rules that hold for a tool when nobody said otherwise: the contract's for its name, else what it says itself. */
export const rulesOf = (tool: ToolSays | undefined): readonly PermissionRule[] => {
  if (tool === undefined || matchRule(builtInRules, tool.name)?.tool_name_pattern !== '*') return builtInRules
  if ((tool.permission ?? (tool.effect === 'read' ? 'allow' : 'ask')) === 'allow') return builtInRules
  return [{ scope: 'session', tool_name_pattern: tool.name, behavior: 'ask', built_in: true }]
}

export interface PermissionCase {
  readonly tool_name: string
  readonly mode: PermissionMode
  /** The tool says that it may be used while a session plans. */
  readonly in_plan_mode?: boolean | undefined
  /** Rules of one scope each; the first list that has a match decides. */
  readonly rules: readonly (readonly PermissionRule[])[]
}

export const decidePermission = ({
  tool_name,
  mode,
  rules,
  in_plan_mode = false,
}: PermissionCase): PermissionDecision => {
  const rule = firstMatch(rules, tool_name)
  const base = rule?.behavior ?? 'allow'
  const { decision, effect } = applyMode(mode, base, {
    name: tool_name,
    planning: in_plan_mode || planTools.has(tool_name),
  })
  const reason = reasonFor({ rule, decision, effect, tool_name, mode })
  return {
    effective_mode: mode,
    decision,
    base_decision: base,
    mode_applied: effect !== undefined,
    ...(effect !== undefined && { mode_effect: effect }),
    ...(rule !== undefined && ruled(rule)),
    approval_required: decision === 'ask',
    scope: rule?.scope ?? 'session',
    ...(reason !== undefined && { reason }),
  }
}

/** Where a rule is from stands beside it. */
const ruled = ({ origin, built_in, ...rule }: PermissionRule): Partial<PermissionDecision> => ({
  matched_rule: rule,
  ...(built_in === true && { built_in }),
  ...(origin !== undefined && { matched_rule_origin: origin }),
})

const firstMatch = (scopes: PermissionCase['rules'], tool: string): PermissionRule | undefined => {
  for (const rules of scopes) {
    const rule = matchRule(rules, tool)
    if (rule !== undefined) return rule
  }
  return undefined
}

interface ModeAnswer {
  readonly decision: RuleBehavior
  readonly effect?: string
}

interface Named {
  readonly name: string
  /** Usable while a session plans. */
  readonly planning: boolean
}

const applyMode = (mode: PermissionMode, base: RuleBehavior, tool: Named): ModeAnswer => {
  if (base === 'deny') return { decision: 'deny' }
  switch (mode) {
    case 'default':
      return { decision: base }
    case 'acceptEdits':
      return base === 'ask' && editTools.has(tool.name)
        ? { decision: 'allow', effect: 'accept_edits_auto_allowed_edit_approval' }
        : { decision: base }
    case 'bypassPermissions':
      return base === 'ask'
        ? { decision: 'allow', effect: 'bypass_permissions_auto_allowed_approval' }
        : { decision: base }
    case 'plan':
      return tool.planning
        ? { decision: base, effect: 'plan_mode_allowed_read_only_or_coordination_tool' }
        : { decision: 'deny', effect: 'plan_mode_denied_non_whitelisted_tool' }
    case 'dontAsk':
      return base === 'ask' ? { decision: 'deny', effect: 'dont_ask_denied_approval' } : { decision: base }
    default:
      return assertNever(mode)
  }
}

interface Grounds {
  readonly rule: PermissionRule | undefined
  readonly decision: RuleBehavior
  readonly effect: string | undefined
  readonly tool_name: string
  readonly mode: PermissionMode
}

const reasonFor = ({ rule, decision, effect, tool_name, mode }: Grounds): string | undefined => {
  if (decision === 'deny' && effect !== undefined) return `The permission mode ${mode} does not let ${tool_name} run.`
  if (rule?.reason !== undefined) return rule.reason
  if (decision === 'ask') return `${tool_name} asks before it runs.`
  return decision === 'deny' ? `A rule denies ${tool_name}.` : undefined
}
