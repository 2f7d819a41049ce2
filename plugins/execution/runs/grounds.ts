/** What lets a call act, as the ledger of effects names it. */
import type { ActionGrounds } from '../external-actions/contract.js'
import type { PermissionAudit } from '../tools/contract.js'

/** What let a call run without a person: the mode if it changed the answer of the rules, else the rule. */
export const groundsOf = ({ mode_effect, matched_rule_pattern, effective_mode }: PermissionAudit): ActionGrounds =>
  mode_effect !== undefined
    ? { type: 'mode', id: mode_effect }
    : matched_rule_pattern !== undefined
      ? { type: 'rule', id: matched_rule_pattern }
      : { type: 'mode', id: effective_mode }
