/** From the engine's request to the body of a chat completion. What a provider once gave beside a call goes back. */
import { assertNever } from '../../../core/plugin.js'
import type {
  AssistantPart,
  Generation,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ToolChoice,
  ToolResultPart,
} from '../../execution/models/contract.js'
import { thoughtSignature } from './thought-signature.js'

/** The member that bounds an answer: OpenAI's newer models refuse the one that every other server knows. */
export type LimitName = 'max_tokens' | 'max_completion_tokens'

/** The JSON of a request. */
export const requestBody = ({ model, system, messages, tools, generation }: ModelRequest, limit: LimitName): string => {
  const said = messages.flatMap(wireMessages)
  if (system !== '') said.unshift({ role: 'system', content: system })
  const settings = JSON.stringify({
    model,
    [limit]: generation.max_output_tokens,
    ...settingsOf(generation, tools.length > 0),
    stream: true,
    stream_options: { include_usage: true },
    messages: said,
  })
  return tools.length === 0 ? settings : `${settings.slice(0, -1)},"tools":[${tools.map(toolText).join(',')}]}`
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

/** Tools are the larger part of most requests and always the same. */
const toolTexts = new WeakMap<ModelTool, string>()

const toolText = (tool: ModelTool): string => {
  const known = toolTexts.get(tool)
  if (known !== undefined) return known
  const { name, description, parameters } = tool
  const text = JSON.stringify({ type: 'function', function: { name, description, parameters } })
  toolTexts.set(tool, text)
  return text
}

/** Servers refuse an assistant message without content, so one that said nothing is left out. */
const wireMessages = (from: ModelMessage): object[] => {
  switch (from.role) {
    case 'user':
      return [{ role: 'user', content: userContent(from.content) }]
    case 'assistant':
      return from.content.length === 0 ? [] : [assistantMessage(from.content)]
    case 'tool':
      return from.content.map(toolMessage)
    default:
      return assertNever(from)
  }
}

const userContent = (parts: Extract<ModelMessage, { role: 'user' }>['content']): object | string => {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only.text : parts.map(({ text }) => ({ type: 'text', text }))
}

const assistantMessage = (parts: readonly AssistantPart[]): object => {
  const [text, reasoning] = [textOf(parts, 'text'), textOf(parts, 'reasoning')]
  const calls = parts.flatMap((part) => (part.type === 'tool_call' ? [wireCall(part)] : []))
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

const textOf = (parts: readonly AssistantPart[], type: 'text' | 'reasoning'): string =>
  parts.map((part) => (part.type === type ? part.text : '')).join('')

const wireCall = ({ id, name, input, metadata }: Extract<AssistantPart, { type: 'tool_call' }>): object => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
  ...thoughtSignature.wire(metadata),
})

const toolMessage = ({ tool_call_id, output }: ToolResultPart): object => ({
  role: 'tool',
  tool_call_id,
  content: typeof output === 'string' ? output : JSON.stringify(output),
})
