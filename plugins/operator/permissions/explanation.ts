/** The dry-run answer about one tool (tools-8). */
import {
  doc,
  boolean,
  enums,
  literal,
  named,
  nullable,
  object,
  optional,
  string,
  type Infer,
} from '../../../core/plugin.js'
import { GrantRule, permissionAudit, permissionModes, type PermissionDecision } from '../../execution/tools/contract.js'

const Behavior = enums(['allow', 'deny', 'ask'])
const Scope = enums(['user', 'project', 'session'])

const PermissionRuleView = named(
  'PermissionRule',
  object({ scope: Scope, tool_name_pattern: string(), behavior: Behavior, reason: optional(string()) }),
)

const origins = ['static', 'hook_update'] as const

const AuditPreview = named(
  'PermissionAudit',
  object({
    scope: Scope,
    tool_name: doc(string(), 'Name of the tool.'),
    tool_call_id: optional(doc(string(), 'Id of the tool call.')),
    decision: Behavior,
    base_decision: optional(Behavior),
    effective_mode: optional(enums(permissionModes)),
    mode_effect: optional(string()),
    matched_rule_pattern: optional(string()),
    matched_rule_origin: optional(enums(origins)),
    grant_id: optional(doc(string(), 'Id of the grant that lets it pass.')),
    justification: doc(nullable(string()), 'Why, in the words of who decided.'),
    reason: nullable(string()),
    approval_request_id: nullable(string()),
  }),
)

export const PermissionExplanation = named(
  'PermissionExplanation',
  object({
    tool_call_id: doc(string(), 'Id of the tool call.'),
    tool_name: doc(string(), 'Name of the tool.'),
    effective_mode: enums(permissionModes),
    decision: Behavior,
    base_decision: optional(Behavior),
    mode_applied: optional(boolean()),
    mode_effect: optional(string()),
    approval_required: boolean(),
    hooks_evaluated: literal(false),
    hook_policy: literal('not_executed_in_dry_run'),
    scope: Scope,
    reason: optional(string()),
    matched_rule: optional(PermissionRuleView),
    matched_rule_origin: optional(doc(enums(origins), 'Who gave the rule: a hook, or none.')),
    built_in: optional(doc(literal(true), 'Nobody gave the rule: it holds where no other fits.')),
    grant_id: optional(doc(string(), 'Id of the grant that lets this input pass.')),
    fails_with: optional(
      doc(
        string(),
        'Code that a call fails with now, whatever is decided: such as `tool_not_found` or `call_input_too_large`.',
      ),
    ),
    grant_rule: optional(doc(GrantRule, 'What is covered when an approval of this input is remembered.')),
    audit_preview: AuditPreview,
  }),
)
export type PermissionExplanation = Infer<typeof PermissionExplanation>

/** A decision on a call, with what the call would fail with anyway. */
export type ForeseenDecision = PermissionDecision & Pick<PermissionExplanation, 'fails_with'>

/** Stands for an id that only a real call has. */
const dryRun = 'dry-run'

export const explain = (
  tool_name: string,
  tool_call_id: string | undefined,
  decision: ForeseenDecision,
): PermissionExplanation => {
  const { matched_rule, matched_rule_origin = 'static', approval_required } = decision
  const origin: Partial<{ matched_rule_origin: (typeof origins)[number] }> =
    matched_rule === undefined ? {} : { matched_rule_origin }
  const call = { tool_name, tool_call_id, approval_request_id: approval_required ? dryRun : undefined }
  return {
    tool_call_id: tool_call_id ?? dryRun,
    tool_name,
    ...decision,
    ...origin,
    hooks_evaluated: false,
    hook_policy: 'not_executed_in_dry_run',
    audit_preview: { ...permissionAudit(call, decision), ...origin },
  }
}
