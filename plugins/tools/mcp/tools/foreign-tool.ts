/** A tool of a server, as models call it. */
import { fromJsonSchema, type Count, type Json, type JsonObject, type StructOf } from '../../../../core/plugin.js'
import {
  failedCall,
  foreignToolName,
  type Effect,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from '../../../execution/tools/contract.js'
import { mcpErrors } from '../config/errors.js'
import type { Failure } from '../connection/failure.js'
import type { ListedTool } from '../servers/listed.js'
import type { McpServer } from '../servers/server.js'
import { resultText } from './result.js'
import { shownSchema, shownText } from './shown-schema.js'

/** How often a call that may be repeated is made, when the connection ends during it. */
const mostAttempts = 3
/** Characters of a description. */
const mostDescription = 4_000

/** What a call of an operator and one of a model have in common. */
export type Calling = Pick<ToolCall, 'signal' | 'report' | 'is_repeated'>

export interface ForeignTool extends Tool<StructOf<JsonObject>> {
  /** As the server lists it. */
  readonly input_schema: Json
  readonly call: (input: JsonObject, calling: Calling) => Promise<ToolOutcome>
}

const failed = (server: string, effect: Effect, { type, reason }: Failure): ToolOutcome => {
  if (type === 'refused') return failedCall(mcpErrors.mcp_call_refused({ details: { reason } }))
  if (type === 'unsent') return failedCall(mcpErrors.mcp_server_unavailable({ details: { server, reason } }))
  const problem = mcpErrors.mcp_outcome_unknown({ details: { server, reason } })
  return effect === 'read' ? failedCall(problem) : { type: 'unknown', problem }
}

/** What tools of servers share. */
export interface ForeignParts {
  readonly calls: Count
  /** Of what a server says: it may say what it was told in confidence. */
  readonly redact: (text: string) => string
}

const outcomeOf = (result: JsonObject, redact: ForeignParts['redact']): ToolOutcome => ({
  type: 'result',
  output: { text: resultText(result, redact) },
  ...(result['isError'] === true && { is_error: true }),
})

/** The attempt of an earlier life of the daemon. */
const cutOff: Failure = { type: 'lost', reason: 'the daemon ended while it made the call, and cannot repeat it now' }

const redacted =
  (report: NonNullable<Calling['report']>, redact: ForeignParts['redact']): NonNullable<Calling['report']> =>
  ({ message, ...progress }) =>
    report({ ...progress, ...(message !== undefined && { message: redact(message) }) })

const createCall = (
  server: McpServer,
  { name, effect }: ListedTool,
  { calls, redact }: ForeignParts,
): ForeignTool['call'] => {
  const timeout_ms = server.entry.tool_timeout_sec * 1_000
  const attempt = (input: JsonObject, { signal, report }: Calling) =>
    server.ask(
      'tools/call',
      { name, arguments: input },
      { timeout_ms, signal, ...(report !== undefined && { onProgress: redacted(report, redact) }) },
    )
  return async (input, calling) => {
    let asked = await attempt(input, calling)
    // What an attempt may have done is done, whatever becomes of later ones.
    let lost = asked.type === 'lost' ? asked : calling.is_repeated === true ? cutOff : undefined
    for (let made = 1; made < mostAttempts && effect !== 'once' && !calling.signal.aborted; made += 1) {
      if (asked.type !== 'lost') break
      lost = asked
      asked = await attempt(input, calling)
    }
    if (asked.type !== 'answered') asked = lost ?? asked
    calls.add(1, server.name, asked.type)
    return asked.type === 'answered' ? outcomeOf(asked.result, redact) : failed(server.name, effect, asked)
  }
}

/** The tool; or what is wrong with it, in words. */
export const toForeignTool = async (
  server: McpServer,
  listed: ListedTool,
  parts: ForeignParts,
): Promise<ForeignTool | string> => {
  if (listed.only_as_task) return 'it can only be called as a task (taskSupport is required)'
  const input_schema = shownSchema(listed.input_schema, parts.redact)
  if (parts.redact(listed.name) !== listed.name) return 'its name has a secret in it'
  if (input_schema === undefined) return 'its input has signs that are not shown, or a secret'
  const input = await fromJsonSchema(input_schema)
  if (!input.ok) return input.issues.map(({ path, rule }) => `${path} ${rule}`.trim()).join('; ')
  if (!isObjectSchema(input_schema)) return 'its input is no object'
  const origin = { server: server.name, tool: listed.name }
  const call = createCall(server, listed, parts)
  return {
    name: foreignToolName(origin),
    origin,
    description: shownText(listed.description, parts.redact).slice(0, mostDescription),
    input: input.value,
    input_schema,
    effect: listed.effect,
    parallel: listed.effect === 'read',
    timeout_ms: server.entry.tool_timeout_sec * 1_000,
    sandbox: 'inherited',
    run: call,
    call,
  }
}

const isObjectSchema = (schema: Json): boolean =>
  typeof schema === 'object' && schema !== null && !Array.isArray(schema) && Reflect.get(schema, 'type') === 'object'
