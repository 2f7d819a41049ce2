/** From the engine's request to the body of a chat completion. */
import type { JsonObject } from '../../../core/plugin.js'
import type { Generation, ModelRequest, ModelTool, ToolChoice } from '../../execution/models/contract.js'
import { createConversationBytes, isStrictSchema } from '../streamed/contract.js'
import { wireMessages } from './wire-messages.js'

/** The member that bounds an answer: OpenAI's newer models refuse the one that every other server knows. */
export type LimitName = 'max_tokens' | 'max_completion_tokens'

/** Bytes of the conversations that are kept as they are sent. */
const mostKept = 8 * 1024 * 1024

/**
 * Makes the JSON of requests. Tools and earlier messages are the larger part of most requests and the same in one after
 * the other: they are not made again.
 */
export const createRequestBodies = (limit: LimitName, searchTool?: JsonObject): ((request: ModelRequest) => Buffer) => {
  const conversations = createConversationBytes(wireMessages, mostKept)
  const toolBytes = createToolBytes()
  return (request) => {
    const said = conversations.of(request.messages)
    const own = request.web_search === true ? searchTool : undefined
    const hasTools = request.tools.length > 0 || own !== undefined
    const start = beginning(request, { limit, hasTools, isGoingOn: said.length > 0 })
    return Buffer.concat([start, said, toolBytes(request.tools, own)])
  }
}

/** Everything before the messages of the conversation. */
const beginning = (
  { model, system, generation }: ModelRequest,
  { limit, hasTools, isGoingOn }: { limit: LimitName; hasTools: boolean; isGoingOn: boolean },
): Buffer => {
  const settings = JSON.stringify({
    model,
    [limit]: generation.max_output_tokens,
    ...settingsOf(generation, hasTools),
    stream: true,
    stream_options: { include_usage: true },
  })
  const told = system === '' ? '' : JSON.stringify({ role: 'system', content: system })
  return Buffer.from(`${settings.slice(0, -1)},"messages":[${told}${told !== '' && isGoingOn ? ',' : ''}`)
}

const settingsOf = (generation: Generation, hasTools: boolean): object => ({
  temperature: generation.temperature,
  response_format: responseFormat(generation),
  reasoning_effort: generation.reasoning?.effort,
  ...(hasTools && {
    parallel_tool_calls: generation.allow_parallel_tool_calls === false ? false : undefined,
    tool_choice: toolChoice(generation.tool_choice),
  }),
})

const responseFormat = ({ response_format: format }: Generation): object | undefined =>
  format?.type === 'structured_json'
    ? {
        type: 'json_schema',
        json_schema: { schema: format.schema, strict: isStrictSchema(format.schema), name: 'response' },
      }
    : undefined

const toolChoice = (choice: ToolChoice | undefined): object | string | undefined =>
  choice?.type === 'specific' ? { type: 'function', function: { name: choice.name } } : choice?.type

/** Everything behind the messages; made again only when the tools are others than those of the call before. */
const createToolBytes = (): ((tools: readonly ModelTool[], own: JsonObject | undefined) => Buffer) => {
  let last: readonly ModelTool[] = []
  let lastOwn: JsonObject | undefined
  let bytes = Buffer.from(']}')
  return (tools, own) => {
    if (own === lastOwn && tools.length === last.length && tools.every((tool, n) => tool === last[n])) return bytes
    const functions = tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }))
    const wire = own === undefined ? functions : [...functions, own]
    last = tools
    lastOwn = own
    bytes = Buffer.from(wire.length === 0 ? ']}' : `],"tools":${JSON.stringify(wire)}}`)
    return bytes
  }
}
