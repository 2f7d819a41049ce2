/** One block of an answer, put together of its pieces. */
import { unsafeCast, type JsonObject } from '../../../core/plugin.js'
import { isLink, type Link } from '../streamed/contract.js'

export interface Block {
  readonly type: 'text' | 'reasoning' | 'redacted' | 'tool_call' | 'search' | 'found' | 'other'
  readonly id: string
  readonly name: string
  /** What is said or thought, the data of a hidden thought, or the JSON of an input. */
  text: string
  signature: string
  /** Of a search and what it found: as it began. */
  readonly raw: JsonObject
  /** Of a text: where it is from. */
  readonly citations: JsonObject[]
  isOpen: boolean
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

const block = (type: Block['type'], more: Partial<Block> = {}): Block => ({
  type,
  id: '',
  name: '',
  text: '',
  signature: '',
  raw: {},
  citations: [],
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
    case 'server_tool_use':
      // Of other tools nobody has asked for one.
      return value['name'] === 'web_search'
        ? block('search', { id: textIn(value['id']), text: wholeInput(value), raw: rawOf(value) })
        : block('other')
    case 'web_search_tool_result':
      return block('found', { id: textIn(value['tool_use_id']), raw: rawOf(value) })
    default:
      return typeof value['type'] === 'string' ? block('other') : undefined
  }
}

/** Of a page that a search found: of others nobody has asked. */
const citationIn = ({ citation }: Link): JsonObject[] =>
  isLink(citation) && citation['type'] === 'web_search_result_location' ? [rawOf(citation)] : []

/** It was parsed from JSON. */
const rawOf = (value: Link): JsonObject => unsafeCast(value)

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
      return to.type === 'tool_call' || to.type === 'search' ? grow(to, delta['partial_json']) : undefined
    case 'citations_delta':
      if (to.type === 'text') to.citations.push(...citationIn(delta))
      return ''
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
