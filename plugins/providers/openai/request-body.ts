/** From the engine's request to the body of a response request. */
import type { Generation, ModelRequest, ModelTool, ToolChoice } from '../../execution/models/contract.js'
import { createConversationBytes, isStrictSchema } from '../streamed/contract.js'
import { foundPages, searchTool } from './search.js'
import type { Vendor } from './vendor.js'
import { wireItems } from './wire-items.js'

/** Bytes of the conversations that are kept as they are sent, with and without thoughts. */
const mostKept = 4 * 1024 * 1024

/** Makes the JSON of requests. Earlier messages are the larger part of most and are not made again. */
export const createRequestBodies = (vendor: Vendor): ((request: ModelRequest) => Buffer) => {
  const { whole, thoughtless } = wireItems(vendor.provider)
  const withThoughts = createConversationBytes(whole, mostKept)
  const withoutThoughts = createConversationBytes(thoughtless, mostKept)
  return (request) => {
    const conversation = (vendor.thinks(request.model) ? withThoughts : withoutThoughts).of(request.messages)
    const before = JSON.stringify(vendor.before(request)).slice(0, -1)
    const comma = before !== '[' && conversation.length > 0 ? ',' : ''
    return Buffer.concat([
      Buffer.from(`${JSON.stringify(settingsOf(request, vendor)).slice(0, -1)},"input":${before}${comma}`),
      conversation,
      Buffer.from(']}'),
    ])
  }
}

const settingsOf = (request: ModelRequest, vendor: Vendor): object => ({
  model: request.model,
  ...vendor.own(request),
  ...askedOf(request),
  // What is not stored can go back only if it comes along.
  ...includeOf([
    ...(vendor.thinks(request.model) ? ['reasoning.encrypted_content'] : []),
    ...(request.web_search === true && vendor.asksForPages ? [foundPages] : []),
  ]),
  store: false,
  stream: true,
})

const askedOf = ({ tools, web_search, generation }: ModelRequest): object => ({
  max_output_tokens: generation.max_output_tokens,
  temperature: generation.temperature,
  reasoning: reasoningOf(generation),
  text: formatOf(generation),
  ...((tools.length > 0 || web_search === true) && {
    tools: [...tools.map(wireTool), ...(web_search === true ? [searchTool] : [])],
    tool_choice: toolChoice(generation.tool_choice),
    parallel_tool_calls: generation.allow_parallel_tool_calls === false ? false : undefined,
  }),
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
    ? {
        format: { type: 'json_schema', name: 'response', schema: format.schema, strict: isStrictSchema(format.schema) },
      }
    : undefined
