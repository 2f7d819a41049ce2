/** Why a call would not be made, whatever is permitted: what can be told without making it. */
import { parse, type Json, type Problem } from '../../../../core/plugin.js'
import { callErrors } from '../../runs/contract.js'
import type { ToolRegistry } from '../../tools/contract.js'
import { weighJson } from './weight.js'

/** Why a tool cannot be called that the session does not see. */
export const absent = (tools: ToolRegistry, name: string, session_id: string): Problem =>
  tools.refusal(name, session_id) ??
  (tools.isOff(name, session_id)
    ? callErrors.tool_turned_off({ details: { name } })
    : callErrors.tool_not_found({ details: { name } }))

/** Why an input cannot be given to any tool. */
export const tooLarge = (input: Json, limit: number): Problem | undefined =>
  weighJson(input) > limit ? callErrors.call_input_too_large({ details: { limit } }) : undefined

/** A call that nobody has made. Without an input its tool alone is looked at, without a session all tools are seen. */
export interface ForeseenCall {
  readonly tool_name: string
  readonly session_id?: string | undefined
  readonly input?: Json | undefined
}

/** What such a call would fail with now, before anybody is asked; undefined if nothing can be told. */
export const foreseenFault = (
  tools: ToolRegistry,
  { tool_name, session_id, input }: ForeseenCall,
): Problem | undefined => {
  const tool = tools.find(tool_name, session_id)
  if (tool === undefined) return absent(tools, tool_name, session_id ?? '')
  if (input === undefined) return undefined
  const large = tooLarge(input, tools.limits().max_input_bytes)
  if (large !== undefined) return large
  return parse(tool.input, input).ok ? undefined : callErrors.call_input_invalid()
}
