/** From the engine's request to the body of a chat completion. */
import type { Generation, ModelRequest, ModelTool, ToolChoice } from '../../execution/models/contract.js'
import { createConversationBytes } from '../streamed/contract.js'
import { wireMessages } from './wire-messages.js'

/** The member that bounds an answer: OpenAI's newer models refuse the one that every other server knows. */
export type LimitName = 'max_tokens' | 'max_completion_tokens'

/** Bytes of the conversations that are kept as they are sent. */
const mostKept = 8 * 1024 * 1024

/**
 * Makes the JSON of requests. Tools and earlier messages are the larger part of most requests and the same in one after
 * the other: they are not made again.
 */
export const createRequestBodies = (limit: LimitName): ((request: ModelRequest) => Buffer) => {
  const conversations = createConversationBytes(wireMessages, mostKept)
  const toolBytes = createToolBytes()
  return (request) => {
    const said = conversations.of(request.messages)
    return Buffer.concat([beginning(request, limit, said.length > 0), said, toolBytes(request.tools)])
  }
}

/** Everything before the messages of the conversation. */
const beginning = (
  { model, system, tools, generation }: ModelRequest,
  limit: LimitName,
  isGoingOn: boolean,
): Buffer => {
  const settings = JSON.stringify({
    model,
    [limit]: generation.max_output_tokens,
    ...settingsOf(generation, tools.length > 0),
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
    ? { type: 'json_schema', json_schema: { schema: format.schema, strict: true, name: 'response' } }
    : undefined

const toolChoice = (choice: ToolChoice | undefined): object | string | undefined =>
  choice?.type === 'specific' ? { type: 'function', function: { name: choice.name } } : choice?.type

/** Everything behind the messages; made again only when the tools are others than those of the call before. */
const createToolBytes = (): ((tools: readonly ModelTool[]) => Buffer) => {
  let last: readonly ModelTool[] = []
  let bytes = Buffer.from(']}')
  return (tools) => {
    if (tools.length === last.length && tools.every((tool, n) => tool === last[n])) return bytes
    const wire = tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters },
    }))
    last = tools
    bytes = Buffer.from(tools.length === 0 ? ']}' : `],"tools":${JSON.stringify(wire)}}`)
    return bytes
  }
}
