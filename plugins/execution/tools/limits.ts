/** The limits of tool calls (tools-18). */
import { doc, enums, integer, named, object, type StructOf } from '../../../core/plugin.js'

/** What a tool may reach, from nothing of its own to the network; `inherited` leaves it to what the tool calls. */
export const sandboxes = ['inherited', 'read_only', 'workspace_write', 'network_enabled'] as const
/** One of `sandboxes`. */
export type Sandbox = (typeof sandboxes)[number]

/** Limits of tool calls, bytes and milliseconds (tools-18). */
export interface ToolLimits {
  readonly max_input_bytes: number
  readonly max_output_bytes: number
  readonly max_result_envelope_bytes: number
  readonly max_timeout_ms: number
  readonly max_parallel_tools: number
  readonly max_calls_per_turn: number
  readonly max_cumulative_output_bytes: number
  readonly max_cumulative_result_envelope_bytes: number
  readonly max_sandbox: Sandbox
}

const bound = (description: string) => doc(integer({ min: 1 }), description)

/** Each limit by itself. */
export const limitFields = {
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

/** The limits of tool calls. Bytes and milliseconds; tools-18. */
export const ToolLimitsView: StructOf<ToolLimits> = named('ToolLimits', object(limitFields))
