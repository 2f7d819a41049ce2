/** From the messages of a conversation to the contents of the wire. What the model gave goes back as it came. */
import { assertNever } from '../../../core/plugin.js'
import type { AssistantPart, ModelMessage, TextPart, ToolResultPart } from '../../execution/models/contract.js'
import { keptSignature, objectInput } from '../streamed/contract.js'
import { search } from './search.js'
import { thought } from './thought.js'

/** What the vendor takes for the signature of a call that another provider's model made. */
const foreign = 'skip_thought_signature_validator'

export interface WireOptions {
  /** A first call without signature is refused. */
  readonly mustSign: boolean
  /** What was searched goes back: it is refused where nothing can be searched. */
  readonly searches: boolean
}

/** Empty texts and contents are refused: they are left out. */
export const wireMessages =
  (options: WireOptions) =>
  (from: ModelMessage): object[] => {
    switch (from.role) {
      case 'user':
        return content('user', from.content.flatMap(userParts))
      case 'assistant':
        return content('model', modelParts(from.content, options))
      case 'tool':
        return content('user', from.content.map(resultPart))
      default:
        return assertNever(from)
    }
  }

const content = (role: 'user' | 'model', parts: object[]): object[] => (parts.length === 0 ? [] : [{ role, parts }])

const textPart = (text: string, thoughtSignature: string | undefined): object[] =>
  text === '' && thoughtSignature === undefined ? [] : [{ text, thoughtSignature }]

const userParts = ({ text, image }: TextPart): object[] => [
  ...textPart(text, undefined),
  ...(image === undefined ? [] : [{ inlineData: { mimeType: image.media_type, data: image.base64 } }]),
]

const modelParts = (parts: readonly AssistantPart[], { mustSign, searches }: WireOptions): object[] => {
  const first = mustSign ? parts.find(({ type }) => type === 'tool_call') : undefined
  const sent = searches ? parts : parts.filter(({ type }) => type !== 'search')
  return sent.flatMap((part) => modelPart(part, part === first ? foreign : undefined))
}

const modelPart = (part: AssistantPart, otherwise: string | undefined): object[] => {
  const thoughtSignature = keptSignature.of(part.metadata) ?? otherwise
  switch (part.type) {
    case 'text':
      return textPart(part.text, thoughtSignature)
    case 'reasoning':
      return thought.isOwn(part) ? [{ text: part.text, thought: true, thoughtSignature }] : []
    case 'tool_call':
      return [{ functionCall: { id: part.id, name: part.name, args: objectInput(part.input) }, thoughtSignature }]
    case 'search':
      return search.wire(part)
    default:
      return assertNever(part)
  }
}

const resultPart = ({ tool_call_id, name, output, is_error }: ToolResultPart): object => ({
  functionResponse: { id: tool_call_id, name, response: is_error ? { error: output } : { output } },
})
