/** From the engine's request to the body of a response request. */
import type { Generation, ModelRequest, ModelTool, ToolChoice } from '../../execution/models/contract.js'
import { createConversationBytes } from '../streamed/contract.js'
import { thinks } from './models.js'
import { foundPages, searchTool } from './search.js'
import { wireItems } from './wire-items.js'

/** Bytes of the conversations that are kept as they are sent, with and without thoughts. */
const mostKept = 4 * 1024 * 1024

/** Makes the JSON of requests. Earlier messages are the larger part of most and are not made again. */
export const createRequestBodies = (): ((request: ModelRequest) => Buffer) => {
  const whole = createConversationBytes(wireItems.whole, mostKept)
  const thoughtless = createConversationBytes(wireItems.thoughtless, mostKept)
  return (request) => {
    const conversations = thinks(request.model) ? whole : thoughtless
    return Buffer.concat([
      Buffer.from(`${JSON.stringify(settingsOf(request)).slice(0, -1)},"input":[`),
      conversations.of(request.messages),
      Buffer.from(']}'),
    ])
  }
}

const settingsOf = ({ model, system, tools, web_search, generation }: ModelRequest): object => ({
  model,
  ...(system !== '' && { instructions: system }),
  max_output_tokens: generation.max_output_tokens,
  temperature: generation.temperature,
  reasoning: reasoningOf(generation),
  text: formatOf(generation),
  ...((tools.length > 0 || web_search === true) && {
    tools: [...tools.map(wireTool), ...(web_search === true ? [searchTool] : [])],
    tool_choice: toolChoice(generation.tool_choice),
    parallel_tool_calls: generation.allow_parallel_tool_calls === false ? false : undefined,
  }),
  // What is not stored can go back only if it comes along.
  ...includeOf([
    ...(thinks(model) ? ['reasoning.encrypted_content'] : []),
    ...(web_search === true ? [foundPages] : []),
  ]),
  store: false,
  stream: true,
})

const includeOf = (include: readonly string[]): object => (include.length === 0 ? {} : { include })

/** Without `strict` a schema would have to name each member as required. */
const wireTool = ({ name, description, parameters }: ModelTool): object => ({
  type: 'function',
  name,
  description,
  parameters,
  strict: false,
})

const toolChoice = (choice: ToolChoice | undefined): object | string | undefined =>
  choice?.type === 'specific' ? { type: 'function', name: choice.name } : choice?.type

/** No summary is what the protocol gives where none is asked for. */
const reasoningOf = ({ reasoning: { effort, summary } = {} }: Generation): object | undefined => {
  const asked = summary === 'none' ? undefined : summary
  return effort === undefined && asked === undefined ? undefined : { effort, summary: asked }
}

const formatOf = ({ response_format: format }: Generation): object | undefined =>
  format?.type === 'structured_json'
    ? { format: { type: 'json_schema', name: 'response', schema: format.schema, strict: true } }
    : undefined
