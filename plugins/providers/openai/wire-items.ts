/** From the messages of a conversation to the items of the wire. What the model thought goes back as it came. */
import { assertNever } from '../../../core/plugin.js'
import type { AssistantPart, ModelMessage, TextPart, ToolCallPart } from '../../execution/models/contract.js'
import { dataUrl, kept, resultText, wireId } from '../streamed/contract.js'
import { search } from './search.js'
import { thought } from './thought.js'

/** Whose items are written, and whether models take thoughts. */
interface Taker {
  readonly provider: string
  readonly takesThoughts: boolean
}

const itemsOf = (from: ModelMessage, taker: Taker): object[] => {
  switch (from.role) {
    case 'user':
      return from.content.length === 0 ? [] : [userItem(from.content)]
    case 'assistant':
      return assistantItems(from.content, taker)
    case 'tool':
      return from.content.map(({ tool_call_id, output }) => ({
        type: 'function_call_output',
        call_id: wireId(tool_call_id),
        output: resultText(output),
      }))
    default:
      return assertNever(from)
  }
}

/** For models of a vendor that think, and for those that refuse thoughts. */
export const wireItems = (provider: string) => ({
  whole: (from: ModelMessage): object[] => itemsOf(from, { provider, takesThoughts: true }),
  thoughtless: (from: ModelMessage): object[] => itemsOf(from, { provider, takesThoughts: false }),
})

const userItem = (content: readonly TextPart[]): object => ({
  type: 'message',
  role: 'user',
  content: content.flatMap(({ text, image }) => [
    { type: 'input_text', text },
    ...(image === undefined ? [] : [{ type: 'input_image', image_url: dataUrl(image) }]),
  ]),
})

/**
 * A thought without what it led to is refused, and so is an item under its id without the thought that led to it: the
 * one is left out, and the other goes without its id. A search has no form without one: it is left out too.
 */
const assistantItems = (parts: readonly AssistantPart[], { provider, takesThoughts }: Taker): object[] => {
  const last = parts.findLastIndex((part) => part.type === 'tool_call' || (part.type === 'text' && part.text !== ''))
  const items: object[] = []
  let [isLed, isLost] = [false, false]
  for (const part of parts.slice(0, last + 1)) {
    if (part.type === 'reasoning') {
      const item = takesThoughts ? thought.wire(part, provider) : undefined
      isLost ||= item === undefined
      if (item === undefined) continue
      items.push(item)
      isLed = true
    } else if (part.type === 'search') {
      const item = isLost ? undefined : search.wire(part, provider)
      if (item !== undefined) items.push(item)
    } else if (part.type === 'tool_call') items.push(callItem(part, { provider, isLed }))
    else if (part.text !== '') items.push(textItem(part, { provider, isLed }))
  }
  return items
}

/** Whose item it was to be, and whether a thought of the same answer stands before it. */
interface Place {
  readonly provider: string
  readonly isLed: boolean
}

const own = (part: AssistantPart, provider: string, name: 'id' | 'phase'): object => {
  const value = kept(part.metadata, provider, name)
  return value === undefined ? {} : { [name]: value }
}

const textItem = (part: TextPart, { provider, isLed }: Place): object => ({
  type: 'message',
  ...(isLed && own(part, provider, 'id')),
  role: 'assistant',
  ...own(part, provider, 'phase'),
  content: [{ type: 'output_text', text: part.text }],
})

const callItem = (part: ToolCallPart, { provider, isLed }: Place): object => ({
  type: 'function_call',
  ...(isLed && own(part, provider, 'id')),
  call_id: wireId(part.id),
  name: part.name,
  arguments: JSON.stringify(part.input),
})
