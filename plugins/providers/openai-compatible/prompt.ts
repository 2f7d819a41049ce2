/** From the engine's request to the vendor's. What a provider once gave beside a part goes back with it. */
import { assertNever, unsafeCast, type Json } from '../../../core/plugin.js'
import type {
  AssistantPart,
  Generation,
  ModelMessage,
  ModelRequest,
  ToolChoice,
  ToolResultPart,
} from '../../execution/models/contract.js'
import { vendorName, type ChatOptions } from './chat-model.js'

type Prompt = ChatOptions['prompt']
type Message = Prompt[number]
type Content<R extends Message['role']> = Extract<Message, { role: R }>['content']
type VendorTools = NonNullable<ChatOptions['tools']>
type VendorChoice = NonNullable<ChatOptions['toolChoice']>

export const chatOptions = (
  { system, messages, tools, generation }: ModelRequest,
  abortSignal: AbortSignal,
): ChatOptions => ({
  prompt: [...(system === '' ? [] : [{ role: 'system' as const, content: system }]), ...messages.flatMap(message)],
  tools: tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    description,
    inputSchema: parameters,
  })) satisfies VendorTools,
  ...(generation.tool_choice !== undefined && { toolChoice: toolChoice(generation.tool_choice) }),
  ...(generation.max_output_tokens !== undefined && { maxOutputTokens: generation.max_output_tokens }),
  ...(generation.temperature !== undefined && { temperature: generation.temperature }),
  ...responseFormat(generation),
  providerOptions: {
    [vendorName]: {
      ...(generation.allow_parallel_tool_calls === false && tools.length > 0 && { parallel_tool_calls: false }),
      ...(generation.reasoning?.effort !== undefined && { reasoningEffort: generation.reasoning.effort }),
    },
  },
  abortSignal,
  includeRawChunks: true,
})

const responseFormat = ({ response_format: format }: Generation): Pick<ChatOptions, 'responseFormat'> =>
  format?.type === 'structured_json'
    ? { responseFormat: { type: 'json', name: 'response', schema: format.schema } }
    : {}

const toolChoice = (choice: ToolChoice): VendorChoice =>
  choice.type === 'specific' ? { type: 'tool', toolName: choice.name } : choice

/** Servers refuse an assistant message without content, so one that said nothing is left out. */
const message = (from: ModelMessage): Message[] => {
  switch (from.role) {
    case 'user':
      return [{ role: 'user', content: from.content.map(({ text }) => ({ type: 'text', text })) }]
    case 'assistant':
      return from.content.length === 0 ? [] : [{ role: 'assistant', content: from.content.map(assistantPart) }]
    case 'tool':
      return [{ role: 'tool', content: from.content.map(toolResult) }]
    default:
      return assertNever(from)
  }
}

const assistantPart = (part: AssistantPart): Content<'assistant'>[number] => {
  const beside =
    part.metadata === undefined
      ? {}
      : { providerOptions: unsafeCast<NonNullable<ChatOptions['providerOptions']>>(part.metadata) }
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...beside }
    case 'reasoning':
      return { type: 'reasoning', text: part.text, ...beside }
    case 'tool_call':
      return { type: 'tool-call', toolCallId: part.id, toolName: part.name, input: part.input, ...beside }
    default:
      return assertNever(part)
  }
}

type ToolContent = Content<'tool'>[number]
type ToolOutput = Extract<ToolContent, { type: 'tool-result' }>['output']

const toolResult = ({ tool_call_id, name, output, is_error }: ToolResultPart): ToolContent => ({
  type: 'tool-result',
  toolCallId: tool_call_id,
  toolName: name,
  output: toolOutput(output, is_error),
})

const toolOutput = (value: Json, isError: boolean): ToolOutput => {
  if (typeof value === 'string') return { type: isError ? 'error-text' : 'text', value }
  return { type: isError ? 'error-json' : 'json', value: unsafeCast(value) }
}
