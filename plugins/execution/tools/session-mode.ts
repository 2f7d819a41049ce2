/** Modes and rules that plugins give to sessions. */
import {
  answerOf,
  array,
  definePoint,
  enums,
  hasMembers,
  literal,
  open,
  optional,
  string,
  withAnswers,
  type Point,
} from '../../../core/plugin.js'
import { permissionModes, type PermissionMode, type PermissionRule } from './decision.js'

/** The permission mode and rules that a plugin gives to sessions. */
export interface SessionMode {
  readonly id: string
  /** Beats the daemon's mode; of several the strictest holds. Undefined for none. Asked for each call: must be fast. */
  mode(session_id: string): PermissionMode | undefined
  /** Looked at before all others, in the order in which plugins were loaded. Must be fast. */
  rules(session_id: string): readonly PermissionRule[]
}
const rule = open({
  scope: enums(['user', 'project', 'session']),
  tool_name_pattern: string({ min: 1 }),
  behavior: enums(['allow', 'deny', 'ask']),
  reason: optional(string()),
  origin: optional(literal('hook_update')),
})
/** Who cannot say which calls may pass lets none pass. */
const denied = (plugin: string): PermissionRule => ({
  scope: 'session',
  tool_name_pattern: '*',
  behavior: 'deny',
  reason: `The plugin ${plugin}, which gives sessions permission rules, cannot say them.`,
})
/** Everyone who gives modes and rules to sessions. */
export const SessionModes: Point<SessionMode> = withAnswers(
  definePoint<SessionMode>(
    'session-modes@1',
    ({ id }) => id,
    hasMembers('a giver of permission modes', { id: 'id', mode: 'function', rules: 'function' }),
  ),
  {
    mode: answerOf(enums(permissionModes), 'plan', { nothing: undefined }),
    rules: answerOf(array(rule), [], { named: (plugin) => [denied(plugin)] }),
  },
)
