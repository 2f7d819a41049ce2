/** The operator's settings for tools. */
import {
  array,
  defaulted,
  doc,
  enums,
  integer,
  named,
  object,
  optional,
  string,
  unsafeCast,
  type AnyStruct,
  type Infer,
  type StructOf,
} from '../../../core/plugin.js'
import { permissionModes, sandboxes, type ToolLimits } from './contract.js'

const MiB = 1024 * 1024

/** The limits of tool calls unless they are configured (tools-18). */
export const defaultLimits: ToolLimits = Object.freeze({
  max_input_bytes: 16 * MiB,
  max_output_bytes: 16 * MiB,
  max_result_envelope_bytes: 24 * MiB,
  max_timeout_ms: 180_000,
  max_parallel_tools: 16,
  max_calls_per_turn: 256,
  max_cumulative_output_bytes: 64 * MiB,
  max_cumulative_result_envelope_bytes: 96 * MiB,
  max_sandbox: 'network_enabled',
})

const bound = (description: string) => doc(integer({ min: 1 }), description)

const limitFields = {
  max_input_bytes: bound('Largest input of one tool call, in bytes of JSON.'),
  max_output_bytes: bound('Largest output of one tool call, in bytes of JSON.'),
  max_result_envelope_bytes: bound(
    'Largest result of one tool call with all that is kept beside its output, in bytes.',
  ),
  max_timeout_ms: bound(
    "Longest time a tool call may take, milliseconds; a tool's own limit holds when it is shorter.",
  ),
  max_parallel_tools: bound('Tool calls of one run that may work at the same time.'),
  max_calls_per_turn: bound('Tool calls that one model turn may make.'),
  max_cumulative_output_bytes: bound('Output of all tool calls of one model turn, in bytes.'),
  max_cumulative_result_envelope_bytes: bound('Results of all tool calls of one model turn, in bytes.'),
  max_sandbox: doc(
    enums(sandboxes),
    'The widest power a tool may declare; a tool that declares more is denied. `inherited` sets no bound.',
  ),
}

const limitsWith = (change: (struct: AnyStruct, name: keyof ToolLimits) => AnyStruct): AnyStruct =>
  object<Record<string, AnyStruct>>(
    Object.fromEntries(
      Object.entries(limitFields).map(([name, struct]) => [name, change(struct, unsafeCast<keyof ToolLimits>(name))]),
    ),
  )

/** The limits of tool calls. Bytes and milliseconds; tools-18. */
export const ToolLimitsView: StructOf<ToolLimits> = named('ToolLimits', object(limitFields))
/** Some of them. */
export const SomeToolLimits = unsafeCast<StructOf<Partial<ToolLimits>>>(limitsWith((struct) => optional(struct)))
const ToolLimitsConfig = unsafeCast<StructOf<ToolLimits>>(
  limitsWith((struct, name) => defaulted(struct, defaultLimits[name])),
)

const ConfiguredRule = object({
  scope: doc(enums(['user', 'project']), 'Rules of the project are looked at before those of the user.'),
  tool_name_pattern: doc(
    string({
      min: 1,
      max: 200,
      pattern: '^[^*\\s]*\\*?$',
      told: 'must be the name of a tool, or its beginning with a * behind it',
    }),
    'An exact tool name, a prefix with a trailing star, or `*`.',
  ),
  behavior: enums(['allow', 'deny', 'ask']),
  reason: optional(string({ min: 1, max: 500 })),
})

export const ToolsConfig = object({
  permission_mode: doc(
    defaulted(enums(permissionModes), 'default'),
    'What becomes of tools that would ask: see "Permission modes". A session\'s own mode beats it.',
  ),
  permission_rules: doc(
    defaulted(array(ConfiguredRule, { max: 1000 }), []),
    'Rules that decide before the built-in ones. The most exact pattern wins.',
  ),
  limits: doc(defaulted(ToolLimitsConfig, defaultLimits), 'Bounds of every tool call.'),
})
export type ToolsConfig = Infer<typeof ToolsConfig>
