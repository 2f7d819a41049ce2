/** A tool of a server, as models call it. */
import {
  fromJsonSchema,
  redactedTo,
  visible,
  type Count,
  type Json,
  type JsonObject,
  type Problem,
  type StructOf,
} from '../../../../core/plugin.js'
import {
  failedCall,
  foreignToolName,
  type Effect,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from '../../../execution/tools/contract.js'
import type { Failure } from '../connection/failure.js'
import { effectOf, type ListedTool } from '../servers/listed.js'
import type { McpServer } from '../servers/mcp-server.js'
import { askedProblem } from '../servers/problem.js'
import { resultText } from './result.js'
import { shownSchema } from './shown-schema.js'

/** How often a call that may be repeated is made, when the connection ends during it. */
const mostAttempts = 3
/** Characters of a description. */
const mostDescription = 4_000
/** Of what a call says of how far it is, as much as is told of any. */
const mostProgress = 500

/** What a call of an operator and one of a model have in common. */
export type Calling = Pick<ToolCall, 'signal' | 'report' | 'is_repeated'>

export interface ForeignTool extends Tool<StructOf<JsonObject>> {
  /** As the server lists it. */
  readonly input_schema: Json
  readonly call: (input: JsonObject, calling: Calling) => Promise<Called>
}

/** What came of a call: what the tool answered, an error of its own too; or what the daemon says in place of that. */
export type Called =
  | { readonly type: 'answered'; readonly text: string; readonly is_error: boolean }
  | { readonly type: 'failed' | 'unknown'; readonly problem: Problem }

const failed = (server: string, effect: Effect, failure: Failure): Called => ({
  type: failure.type === 'lost' && effect !== 'read' ? 'unknown' : 'failed',
  problem: askedProblem(server, failure),
})

/** What tools of servers share. */
export interface ForeignParts {
  readonly calls: Count
  /** Of what a server says: it may say what it was told in confidence. */
  readonly redact: (text: string) => string
}

const answered = async (result: JsonObject, redact: ForeignParts['redact']): Promise<Called> => ({
  type: 'answered',
  text: await resultText(result, redact),
  is_error: result['isError'] === true,
})

/** As models are told it. */
const outcomeOf = (called: Called): ToolOutcome => {
  if (called.type === 'answered')
    return { type: 'result', output: { text: called.text }, ...(called.is_error && { is_error: true }) }
  return called.type === 'failed' ? failedCall(called.problem) : { type: 'unknown', problem: called.problem }
}

/** The attempt of an earlier life of the daemon. */
const cutOff: Failure = { type: 'lost', reason: 'the daemon ended while it made the call, and cannot repeat it now' }

const redacted =
  (report: NonNullable<Calling['report']>, redact: ForeignParts['redact']): NonNullable<Calling['report']> =>
  ({ message, ...progress }) =>
    report({ ...progress, ...(message !== undefined && { message: redactedTo(message, mostProgress, redact) }) })

const createCall = (
  server: McpServer,
  { name, effect }: { readonly name: string; readonly effect: Effect },
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
    return asked.type === 'answered' ? answered(asked.result, redact) : failed(server.name, effect, asked)
  }
}

/** A tool that models may be shown, as far as its server alone decides. */
export type FitTool = Pick<ForeignTool, 'name' | 'description' | 'input' | 'input_schema'> &
  Pick<ListedTool, 'said_effect'> & { readonly origin: NonNullable<ForeignTool['origin']> }

/** The tool; or what is wrong with it, in words. */
export const toFitTool = async (
  server: McpServer,
  listed: ListedTool,
  parts: ForeignParts,
): Promise<FitTool | string> => {
  if (listed.only_as_task) return 'it can only be called as a task (taskSupport is required)'
  const input_schema = shownSchema(listed.input_schema, parts.redact)
  if (parts.redact(listed.name) !== listed.name) return 'its name has a secret in it'
  if (input_schema === undefined) return 'its input has signs that are not shown, or a secret'
  const input = await fromJsonSchema(input_schema)
  if (!input.ok) return input.issues.map(({ path, rule }) => `${path} ${rule}`.trim()).join('; ')
  if (!isObjectSchema(input_schema)) return 'its input is no object'
  const origin = { server: server.name, tool: listed.name }
  return {
    name: foreignToolName(origin),
    origin,
    description: visible(redactedTo(listed.description, mostDescription, parts.redact)).slice(0, mostDescription),
    input: input.value,
    input_schema,
    said_effect: listed.said_effect,
  }
}

/** The tool as the entry of its server has it now. */
export const toForeignTool = (
  server: McpServer,
  { said_effect, ...fit }: FitTool,
  parts: ForeignParts,
): ForeignTool => {
  const name = fit.origin.tool
  const effect = effectOf(server.entry, name, said_effect)
  const call = createCall(server, { name, effect }, parts)
  return {
    ...fit,
    effect,
    parallel: effect === 'read',
    timeout_ms: server.entry.tool_timeout_sec * 1_000,
    sandbox: 'inherited',
    run: async (input, calling) => outcomeOf(await call(input, calling)),
    call,
  }
}

const isObjectSchema = (schema: Json): boolean =>
  typeof schema === 'object' && schema !== null && !Array.isArray(schema) && Reflect.get(schema, 'type') === 'object'
