/** From the data of one event to what it says. Servers differ: what is absent, null or blank says nothing. */
import type { Usage, WebPage } from '../../execution/models/contract.js'
import type { ToolPiece } from './tool-pieces.js'
import { isLink, readEvent, usageIn, type Link } from '../streamed/contract.js'
import { search } from './search.js'
import { thoughtSignature } from './thought-signature.js'

export interface Piece {
  readonly type: 'piece'
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly ToolPiece[]
  /** Pages that it names as where it has this from. */
  readonly cites: readonly WebPage[]
  /** Why the model stopped, in the server's word; empty while it goes on. */
  readonly finish: string
  readonly usage: Usage | undefined
}
export type Chunk =
  | Piece
  /** What the server put into its stream instead of an answer. */
  | { readonly type: 'error'; readonly error: unknown }
  | { readonly type: 'garbage' }
  /** More than is read: others would wait meanwhile. */
  | { readonly type: 'excess' }

export const excess: Chunk = { type: 'excess' }
const garbage: Chunk = { type: 'garbage' }
const nothing: Link = {}

export const readChunk = (data: string): Chunk => {
  const value = readEvent(data)
  if (value === 'excess') return excess
  return value === 'garbage' ? garbage : chunkOf(value, 'delta')
}

/** What a completion says that came as one and not in chunks; undefined if the JSON is none. */
export const readCompletion = (data: string): Chunk | undefined => {
  const value = readEvent(data)
  if (value === 'excess') return excess
  if (value === 'garbage') return data.startsWith('{') ? garbage : undefined
  const { choices } = value
  const isOne = (Array.isArray(choices) && choices.length > 0) || errorIn(value) !== undefined
  return isOne ? chunkOf(value, 'message') : undefined
}

const chunkOf = (value: Link, said: 'delta' | 'message'): Chunk => {
  const error = errorIn(value)
  if (error !== undefined) return error === null ? garbage : { type: 'error', error }
  const choices = value['choices'] ?? []
  const choice = Array.isArray(choices) ? answerIn(choices) : undefined
  if (!isLink(choice)) return garbage
  const delta = choice[said] ?? nothing
  const finish = choice['finish_reason'] ?? ''
  if (!isLink(delta) || typeof finish !== 'string') return garbage
  return piece(delta, finish.trim(), usageIn(value['usage'], 'prompt', 'completion'))
}

/** Of several choices the first one is the answer, wherever it stands. */
const answerIn = (choices: readonly unknown[]): unknown =>
  choices.find((choice) => !isLink(choice) || (choice['index'] ?? 0) === 0) ?? nothing

/** The error that an event is; null for one that says nothing, undefined if the event is none. */
const errorIn = (value: Link): unknown => {
  const error = value['error'] ?? (value['object'] === 'error' ? value : undefined)
  if (error === undefined) return undefined
  if (typeof error === 'string') return error.trim() === '' ? null : { message: error }
  return isLink(error) && typeof error['message'] === 'string' ? error : null
}

const piece = (delta: Link, finish: string, usage: Usage | undefined): Chunk => {
  const said = contentIn(delta['content'] ?? '')
  const pieces = delta['tool_calls'] ?? noCalls
  if (said === undefined || !Array.isArray(pieces)) return garbage
  const calls = pieces.length === 0 ? noCalls : pieces.map(toolPiece)
  if (!calls.every((call) => call !== undefined)) return garbage
  const reasoning = filled(delta['reasoning_content']) ?? filled(delta['reasoning']) ?? ''
  // A refusal is what the model says instead.
  const text = said.text + (filled(delta['refusal']) ?? '')
  const cites = search.cites(delta['annotations'])
  return { type: 'piece', text, reasoning: reasoning + said.reasoning, calls, cites, finish, usage }
}

const noCalls: readonly ToolPiece[] = []

const filled = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const named = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

/** Content is a text or a list of parts (Mistral); undefined if it is neither. */
const contentIn = (content: unknown): { text: string; reasoning: string } | undefined => {
  if (typeof content === 'string') return { text: content, reasoning: '' }
  if (!Array.isArray(content)) return undefined
  const parts = content.filter(isLink)
  return {
    text: textIn(parts),
    reasoning: parts.map(({ type, thinking }) => (type === 'thinking' ? textIn(thinking) : '')).join(''),
  }
}

const textIn = (parts: unknown): string =>
  Array.isArray(parts)
    ? parts.map((part) => (isLink(part) && part['type'] === 'text' ? (filled(part['text']) ?? '') : '')).join('')
    : ''

const toolPiece = (value: unknown): ToolPiece | undefined => {
  if (!isLink(value)) return undefined
  const { index, id, function: asked } = value
  const called = asked ?? nothing
  if (!isLink(called)) return undefined
  const input = inputIn(called['arguments'] ?? '')
  if (input === undefined) return undefined
  return {
    index: typeof index === 'number' ? index : undefined,
    id: named(id),
    name: named(called['name']),
    input,
    signature: thoughtSignature.read(value),
  }
}

/** A text that holds JSON, or where a server sends the whole at once, the JSON itself. */
const inputIn = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value
  return isLink(value) ? JSON.stringify(value) : undefined
}
