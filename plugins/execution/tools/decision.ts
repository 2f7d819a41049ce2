/** What may become of a call, by which rule and in which mode, and the record of that. */
import type { GrantRule } from './grant-rule.js'

/** Wire names of the permission modes (tools-4). */
export const permissionModes = ['default', 'acceptEdits', 'bypassPermissions', 'plan', 'dontAsk'] as const
/** One of the permission modes. */
export type PermissionMode = (typeof permissionModes)[number]
/** From the one that lets most pass. */
export const modesByStrictness: readonly PermissionMode[] = [
  'bypassPermissions',
  'acceptEdits',
  'default',
  'dontAsk',
  'plan',
]
/** Whose rule it is; session rules are looked at first, then project, then user. */
export type RuleScope = 'user' | 'project' | 'session'
/** What a rule does with a call. */
export type RuleBehavior = 'allow' | 'deny' | 'ask'
/** One permission rule (tools-1 and tools-2). */
export interface PermissionRule {
  readonly scope: RuleScope
  /** Exact name, `*`, or a prefix with a trailing star. */
  readonly tool_name_pattern: string
  readonly behavior: RuleBehavior
  readonly reason?: string | undefined
  /** Of a rule that a hook gave while the session went on. */
  readonly origin?: 'hook_update'
  /** Of a rule that nobody gave: it holds where no other fits. */
  readonly built_in?: true
}

/** How exactly a pattern names the tool; undefined if it does not. */
const specificity = (pattern: string, tool: string): number | undefined => {
  if (pattern === tool) return Infinity
  const prefix = pattern.slice(0, -1)
  return pattern.endsWith('*') && tool.startsWith(prefix) ? prefix.length : undefined
}

/** The most exact rule for a tool; of equals, the first. */
export const matchRule = (rules: readonly PermissionRule[], tool: string): PermissionRule | undefined => {
  let best: PermissionRule | undefined
  let score = -1
  for (const rule of rules) {
    const exactness = specificity(rule.tool_name_pattern, tool) ?? -1
    if (exactness > score) [best, score] = [rule, exactness]
  }
  return best
}

/** What became of a call, and why (tools-1 and tools-11). */
export interface PermissionDecision {
  readonly effective_mode: PermissionMode
  readonly decision: RuleBehavior
  readonly base_decision: RuleBehavior
  readonly mode_applied: boolean
  readonly mode_effect?: string
  readonly matched_rule?: PermissionRule
  readonly matched_rule_origin?: 'hook_update'
  /** Nobody gave the matched rule: it holds where no other fits. */
  readonly built_in?: true
  readonly approval_required: boolean
  readonly scope: RuleScope
  readonly reason?: string
  /** The grant that let pass what would have asked. */
  readonly grant_id?: string
  /** Of a decision to ask: what an approval that is remembered would cover. Absent if it cannot be remembered. */
  readonly grant_rule?: GrantRule
}

/** A permission decision on one call, as the journal keeps it (tools-11). */
export type PermissionAudit = {
  scope: RuleScope
  tool_name: string
  /** Absent in a dry run that names no call. */
  tool_call_id?: string
  decision: RuleBehavior
  base_decision: RuleBehavior
  effective_mode: PermissionMode
  mode_effect?: string
  matched_rule_pattern?: string
  matched_rule_origin?: 'hook_update'
  /** The grant that let it pass. */
  grant_id?: string
  justification: string | null
  reason: string | null
  approval_request_id: string | null
}
/** The call that a decision was made on; `approval_request_id` is that of the request it led to. */
export interface AuditedCall {
  readonly tool_name: string
  readonly tool_call_id?: string | undefined
  readonly approval_request_id?: string | undefined
}
/** The record of a decision on a call: one for real calls and for the dry run. */
export const permissionAudit = (
  { tool_name, tool_call_id, approval_request_id }: AuditedCall,
  decision: PermissionDecision,
): PermissionAudit => ({
  scope: decision.scope,
  tool_name,
  ...(tool_call_id !== undefined && { tool_call_id }),
  decision: decision.decision,
  base_decision: decision.base_decision,
  effective_mode: decision.effective_mode,
  ...(decision.mode_effect !== undefined && { mode_effect: decision.mode_effect }),
  ...(decision.matched_rule !== undefined && { matched_rule_pattern: decision.matched_rule.tool_name_pattern }),
  ...(decision.matched_rule_origin !== undefined && { matched_rule_origin: decision.matched_rule_origin }),
  ...(decision.grant_id !== undefined && { grant_id: decision.grant_id }),
  justification: null,
  reason: decision.reason ?? null,
  approval_request_id: approval_request_id ?? null,
})
