/** Which tools a session has turned off (sessions-32 and sessions-33). The most exact name decides, as with rules. */
import { nearest } from '../../../core/plugin.js'
import { matchRule, nativeWebSearch, type PermissionRule, type ToolGate, type ToolRegistry } from '../tools/contract.js'
import type { Sessions, ToolOverrides } from './contract.js'
import { sessionErrors } from './errors.js'

const rulesOf = ({ enable, disable }: ToolOverrides): PermissionRule[] => [
  ...disable.map((tool_name_pattern) => ({ scope: 'session', tool_name_pattern, behavior: 'deny' }) as const),
  ...enable.map((tool_name_pattern) => ({ scope: 'session', tool_name_pattern, behavior: 'allow' }) as const),
]

/** Hides what is turned off; what others hide stays hidden, whatever is enabled. */
export const overrideGate = (sessions: Pick<Sessions, 'find'>): ToolGate => ({
  id: 'tool-overrides',
  tells: true,
  hidden(session_id) {
    const overrides = sessions.find(session_id)?.tool_overrides
    if (overrides === undefined) return undefined
    const rules = rulesOf(overrides)
    return ({ name }) => matchRule(rules, name)?.behavior === 'deny'
  },
})

/** Tools of servers that are not connected are not known. */
const mayComeLater = (name: string): boolean => name.startsWith('mcp__')

/** Overrides as they are stored; undefined if nothing is turned off or on. Throws `tool_overrides_invalid`. */
export const checkedOverrides = (
  tools: Pick<ToolRegistry, 'list'>,
  { enable, disable }: ToolOverrides,
): ToolOverrides | undefined => {
  const names = [...tools.list(), nativeWebSearch].map(({ name }) => name)
  const faultOf = (name: string, other: readonly string[]): string | undefined => {
    if (other.includes(name)) return 'must not be both enabled and disabled'
    if (name.endsWith('*') || mayComeLater(name) || names.includes(name)) return undefined
    const meant = nearest(name.toLowerCase(), names)
    return `must be the name of a tool${meant === undefined ? '' : `; did you mean ${meant}?`}`
  }
  const errors = [
    ...enable.map((name, at) => ({ path: `enable.${at}`, rule: faultOf(name, disable) })),
    ...disable.map((name, at) => ({ path: `disable.${at}`, rule: faultOf(name, enable) })),
  ].flatMap(({ path, rule }) => (rule === undefined ? [] : [{ path: `body.tool_overrides.${path}`, rule }]))
  if (errors.length > 0) throw sessionErrors.tool_overrides_invalid({ errors })
  const sorted = (list: readonly string[]): string[] => [...new Set(list)].sort()
  return enable.length + disable.length === 0 ? undefined : { enable: sorted(enable), disable: sorted(disable) }
}
