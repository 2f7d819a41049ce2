/** A call of a tool by an operator: in the ledger, where a session is named that it is for. */
import {
  digest,
  parse,
  visibleLine,
  type Ids,
  type Json,
  type JsonObject,
  type Log,
  type State,
} from '../../../core/plugin.js'
import type { ExternalActions, OpenCalls } from '../../execution/external-actions/contract.js'
import type { Sessions } from '../../execution/sessions/contract.js'
import { mcpErrors } from './config/errors.js'
import type { Oauth } from './oauth/oauth.js'
import type { Called, ForeignTool } from './tools/foreign-tool.js'
import type { Published } from './tools/published.js'

export interface OperatorParts {
  readonly state: State
  readonly ids: Ids
  readonly log: Log
  readonly published: Published
  readonly sessions: Pick<Sessions, 'get'>
  readonly ledger: () => ExternalActions | undefined
  readonly calls: OpenCalls
  readonly signal: AbortSignal
  readonly oauth: Pick<Oauth, 'needsLogin'>
}

export interface OperatorWish {
  readonly tool_name: string
  readonly input: Json
  readonly session_id: string | undefined
}

/** Throws `mcp_tool_name_empty` or `mcp_tool_not_found`. */
export const getTool = (published: Published, wished: string): ForeignTool => {
  const name = wished.trim()
  if (name === '') throw mcpErrors.mcp_tool_name_empty()
  const tool = published.find(name)
  if (tool === undefined) throw mcpErrors.mcp_tool_not_found({ details: { name: visibleLine(name) } })
  return tool
}

const inputOf = (tool: ForeignTool, input: Json): JsonObject => {
  const parsed = parse(tool.input, input)
  if (parsed.ok) return parsed.value
  throw mcpErrors.mcp_input_invalid({
    details: { name: tool.name },
    errors: parsed.issues.map(({ path, rule }) => ({ path: `body.input${path === '' ? '' : `.${path}`}`, rule })),
  })
}

/** Makes it: what is not in the ledger is not done. */
const entered = async (
  { state, ids, ledger, calls }: OperatorParts,
  { tool, input, session_id }: { tool: ForeignTool; input: JsonObject; session_id: string },
  make: () => Promise<Called>,
): Promise<Called> => {
  const call = { action_id: ids.make('call'), session_id }
  await state.commit((tx) => {
    ledger()?.intend(tx, {
      ...call,
      kind: 'tool',
      target: tool.name,
      request_digest: digest(input),
      attempt: 1,
      approved_by: { type: 'configuration', id: 'admin' },
    })
    calls.begin(tx, call)
  })
  const called = await make()
  const outcome = called.type === 'answered' ? (called.is_error ? 'failed' : 'done') : called.type
  await state.commit((tx) => calls.conclude(tx, call, { outcome }))
  return called
}

/** What the tool answers, with an error of its own too. Throws what the daemon says in place of an answer. */
export const callAsOperator = async (
  parts: OperatorParts,
  { tool_name, input: given, session_id }: OperatorWish,
): Promise<{ output: { text: string }; is_error: boolean }> => {
  const tool = getTool(parts.published, tool_name)
  const input = inputOf(tool, given)
  if (session_id !== undefined) parts.sessions.get(session_id)
  parts.log.info('an operator calls an MCP tool', { tool: tool.name, session_id, request_digest: digest(input) })
  const make = () => tool.call(input, { signal: parts.signal })
  const called =
    session_id === undefined || tool.effect === 'read'
      ? await make()
      : await entered(parts, { tool, input, session_id }, make)
  if (called.type === 'answered') return { output: { text: called.text }, is_error: called.is_error }
  const { problem } = called
  const wasAsked = problem.code !== mcpErrors.mcp_server_unavailable.code
  throw (wasAsked ? undefined : parts.oauth.needsLogin(tool.origin?.server ?? '')) ?? problem
}
