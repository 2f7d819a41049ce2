/** One item of an answer, put together of its pieces. */
import { unsafeCast, type JsonObject } from '../../../core/plugin.js'
import { isLink, type Link } from '../streamed/contract.js'
import { between } from './thought.js'

export interface Item {
  readonly type: 'text' | 'reasoning' | 'tool_call' | 'search' | 'other'
  readonly id: string
  readonly call_id: string
  readonly name: string
  readonly phase: string
  readonly encrypted_content: string
  /** Of a search: all of it. */
  readonly raw: JsonObject
  /** Of a text: what it refers to. */
  readonly annotations: readonly JsonObject[]
  /** What is said, the paragraphs of what is thought, or the JSON of an input. */
  texts: string[]
  isOpen: boolean
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

/** It was parsed from JSON. */
const jsonOf = (value: Link): JsonObject => unsafeCast(value)

const annotationsIn = (parts: unknown): JsonObject[] =>
  Array.isArray(parts)
    ? parts
        .filter(isLink)
        .flatMap(({ annotations }) => (Array.isArray(annotations) ? annotations.filter(isLink) : []).map(jsonOf))
    : []

const item = (type: Item['type'], from: Link, texts: readonly string[]): Item => ({
  type,
  id: textIn(from['id']),
  call_id: textIn(from['call_id']),
  name: textIn(from['name']).trim(),
  phase: textIn(from['phase']),
  encrypted_content: textIn(from['encrypted_content']),
  raw: type === 'search' ? jsonOf(from) : {},
  annotations: type === 'text' ? annotationsIn(from['content']) : [],
  texts: texts.filter((text) => text !== ''),
  isOpen: true,
})

/** As far as it is told; undefined if it is none. */
export const readItem = (value: unknown): Item | undefined => {
  if (!isLink(value)) return undefined
  switch (value['type']) {
    case 'message':
      return item('text', value, [textsIn(value['content']).join('')])
    case 'reasoning': {
      const summary = textsIn(value['summary'])
      return item('reasoning', value, summary.length > 0 ? summary : textsIn(value['content']))
    }
    case 'function_call':
      return item('tool_call', value, [textIn(value['arguments'])])
    case 'web_search_call':
      return item('search', value, [])
    default:
      return typeof value['type'] === 'string' ? item('other', value, []) : undefined
  }
}

/** What a model refuses with is what it says instead. */
const textsIn = (parts: unknown): string[] =>
  Array.isArray(parts)
    ? parts.filter(isLink).flatMap(({ text, refusal }) => [textIn(text) + textIn(refusal)].filter((one) => one !== ''))
    : []

/** Events that add a piece, and to what. */
const pieces = new Map<unknown, Item['type']>([
  ['response.output_text.delta', 'text'],
  ['response.refusal.delta', 'text'],
  ['response.reasoning_summary_text.delta', 'reasoning'],
  ['response.reasoning_text.delta', 'reasoning'],
  ['response.function_call_arguments.delta', 'tool_call'],
])

export const isPiece = (type: unknown): boolean => pieces.has(type)

/** The text that it adds; undefined if it does not belong to the item. */
export const extendItem = (to: Item, { type, delta }: Link): string | undefined => {
  if (to.type !== pieces.get(type) || !to.isOpen || typeof delta !== 'string') return undefined
  const last = to.texts.pop() ?? ''
  const isNext = last === '' && delta !== '' && to.texts.some((text) => text !== '')
  to.texts.push(last + delta)
  return isNext ? between + delta : delta
}

/** What the end tells holds; where it tells nothing, what came before it. Undefined if it is another item. */
export const endItem = (began: Item | undefined, value: unknown): Item | undefined => {
  const whole = readItem(value)
  if (whole === undefined || (began !== undefined && (!began.isOpen || began.type !== whole.type))) return undefined
  return {
    ...whole,
    id: whole.id || (began?.id ?? ''),
    call_id: whole.call_id || (began?.call_id ?? ''),
    name: whole.name || (began?.name ?? ''),
    texts: whole.texts.length > 0 ? whole.texts : (began?.texts ?? []),
    // An item that the limit of the answer cut ends so too.
    isOpen: isLink(value) && value['status'] === 'incomplete',
  }
}
