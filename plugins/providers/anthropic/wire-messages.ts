/** From the messages of a conversation to those of the wire. What the model thought goes back as it came. */
import { assertNever } from '../../../core/plugin.js'
import type { AssistantPart, ModelMessage, TextPart, ToolResultPart } from '../../execution/models/contract.js'
import { objectInput, resultText, wireId } from '../streamed/contract.js'
import { search } from './search.js'
import { thought } from './thought.js'

/**
 * Blank text and empty messages are refused: they are left out. The content is the last member of each. What searches
 * found goes back where the server may search.
 */
export const wireMessages = (from: ModelMessage, searches: boolean): object[] => {
  switch (from.role) {
    case 'user':
      return message('user', from.content.flatMap(userBlocks))
    case 'assistant':
      return message(
        'assistant',
        from.content.flatMap((part) => assistantBlock(part, searches)),
      )
    case 'tool':
      return message('user', from.content.map(resultBlock))
    default:
      return assertNever(from)
  }
}

const message = (role: 'user' | 'assistant', content: object[]): object[] =>
  content.length === 0 ? [] : [{ role, content }]

const textBlock = (text: string): object[] => (text.trim() === '' ? [] : [{ type: 'text', text }])

const userBlocks = ({ text, image }: TextPart): object[] => [
  ...textBlock(text),
  ...(image === undefined
    ? []
    : [{ type: 'image', source: { type: 'base64', media_type: image.media_type, data: image.base64 } }]),
]

const assistantBlock = (part: AssistantPart, searches: boolean): object[] => {
  switch (part.type) {
    case 'text':
      return textBlock(part.text).map((block) => (searches ? { ...block, ...search.citations(part) } : block))
    case 'search':
      return searches ? search.wire(part) : []
    case 'reasoning':
      return thought.wire(part)
    case 'tool_call':
      return [{ type: 'tool_use', id: wireId(part.id), name: part.name, input: objectInput(part.input) }]
    default:
      return assertNever(part)
  }
}

const resultBlock = ({ tool_call_id, output, is_error }: ToolResultPart): object => ({
  type: 'tool_result',
  tool_use_id: wireId(tool_call_id),
  content: resultText(output),
  ...(is_error && { is_error }),
})
