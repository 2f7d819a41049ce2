/** One block of an answer, put together of its pieces. */
import { isLink, type Link } from '../streamed/contract.js'

export interface Block {
  readonly type: 'text' | 'reasoning' | 'redacted' | 'tool_call' | 'other'
  readonly id: string
  readonly name: string
  /** What is said or thought, the data of a hidden thought, or the JSON of an input. */
  text: string
  signature: string
  isOpen: boolean
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

const block = (type: Block['type'], more: Partial<Block> = {}): Block => ({
  type,
  id: '',
  name: '',
  text: '',
  signature: '',
  isOpen: true,
  ...more,
})

/** Undefined if it is none. */
export const beginBlock = (value: unknown): Block | undefined => {
  if (!isLink(value)) return undefined
  switch (value['type']) {
    case 'text':
      return block('text', { text: textIn(value['text']) })
    case 'thinking':
      return block('reasoning', { text: textIn(value['thinking']), signature: textIn(value['signature']) })
    case 'redacted_thinking':
      return block('redacted', { text: textIn(value['data']) })
    case 'tool_use':
      return block('tool_call', {
        id: textIn(value['id']),
        name: textIn(value['name']).trim(),
        text: wholeInput(value),
      })
    default:
      return typeof value['type'] === 'string' ? block('other') : undefined
  }
}

/** Servers that do not stream inputs send them whole; others begin with an empty one. */
const wholeInput = ({ input }: Link): string =>
  isLink(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : ''

/** The text that it adds, empty for what shows nothing; undefined if it does not belong to the block. */
export const extendBlock = (to: Block, delta: unknown): string | undefined => {
  if (!isLink(delta)) return undefined
  if (to.type === 'other') return ''
  switch (delta['type']) {
    case 'text_delta':
      return to.type === 'text' ? grow(to, delta['text']) : undefined
    case 'thinking_delta':
      return to.type === 'reasoning' ? grow(to, delta['thinking']) : undefined
    case 'input_json_delta':
      return to.type === 'tool_call' ? grow(to, delta['partial_json']) : undefined
    case 'signature_delta':
      to.signature += textIn(delta['signature'])
      return ''
    default:
      return typeof delta['type'] === 'string' ? '' : undefined
  }
}

const grow = (to: Block, piece: unknown): string | undefined => {
  if (typeof piece !== 'string') return undefined
  to.text += piece
  return piece
}
