/** From the messages of a conversation to those of the wire. What a provider once gave beside a call goes back. */
import { assertNever } from '../../../core/plugin.js'
import type { AssistantPart, ModelMessage, TextPart, ToolResultPart } from '../../execution/models/contract.js'
import { dataUrl, resultText } from '../streamed/contract.js'
import { thoughtSignature } from './thought-signature.js'

/** Servers refuse an assistant message without content, so one that said nothing is left out. */
export const wireMessages = (from: ModelMessage): object[] => {
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
  return parts.length === 1 && only !== undefined && only.image === undefined ? only.text : parts.flatMap(userPart)
}

const userPart = ({ text, image }: TextPart): object[] => [
  { type: 'text', text },
  ...(image === undefined ? [] : [{ type: 'image_url', image_url: { url: dataUrl(image) } }]),
]

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
  content: resultText(output),
})
