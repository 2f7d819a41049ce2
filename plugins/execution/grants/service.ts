/** Makes grants of approvals. */
import type { Ids } from '../../../core/plugin.js'
import { covers, grantRuleOf, prefixFault, type GrantRule, type ToolRegistry } from '../tools/contract.js'
import type { Grant, GrantDraft, Grants } from './contract.js'
import { grantErrors } from './errors.js'
import type { GrantStore } from './store.js'

interface ServiceParts {
  readonly store: GrantStore
  readonly tools: ToolRegistry
  readonly ids: Ids
  readonly expires_after_ms: number
}

const widened = ({ rule, wish: { command_prefix: value } }: GrantDraft, path: string): GrantRule => {
  if (value === undefined) return rule
  const wanted: GrantRule = { kind: 'command_prefix', value }
  const fault =
    rule.kind === 'command'
      ? (prefixFault(value) ??
        (covers(wanted, rule)
          ? undefined
          : 'must be what the command begins with, and the command one program with plain arguments'))
      : 'goes only with a command that runs in the workspace, and not behind the run'
  if (fault === undefined) return wanted
  throw grantErrors.grant_invalid({ errors: [{ path: `${path}.command_prefix`, rule: fault }] })
}

export const createGrants = ({ store, tools, ids, expires_after_ms }: ServiceParts): Grants => ({
  draft(wanted, path) {
    const { session_id, tool_name, wish, from } = wanted
    const rule = widened(wanted, path)
    const grant_id = ids.make('grant')
    return {
      grant_id,
      write(tx) {
        const grant: Grant = {
          grant_id,
          ...(session_id === undefined ? { scope: 'user' } : { scope: 'session', session_id }),
          tool_name,
          rule,
          created_at_ms: tx.now,
          expires_at_ms: tx.now + (wish.expires_in_ms ?? expires_after_ms),
          ...from,
        }
        store.put(tx, grant)
        return grant
      },
    }
  },
  ruleOf(tool_name, input) {
    const tool = tools.find(tool_name)
    return tool === undefined ? undefined : grantRuleOf(tool, input)
  },
})
