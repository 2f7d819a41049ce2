/** What an answer is made of: its texts, thoughts and calls, joined of the parts in which they come. */
import { unsafeCast, type JsonObject } from '../../../core/plugin.js'
import { isLink, type Link } from '../streamed/contract.js'

export interface Block {
  /** `search` and `found`: the server searched, and what came of it. */
  readonly type: 'text' | 'reasoning' | 'tool_call' | 'search' | 'found' | 'other'
  readonly id: string
  readonly name: string
  /** What is said or thought, or the JSON of an input. */
  text: string
  readonly signature: string
  /** Of a search and what it found: the part as it came. */
  readonly raw: JsonObject
}

const filled = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Undefined if it does not follow the protocol. */
export const blockOf = (part: unknown): Block | undefined => {
  if (!isLink(part)) return undefined
  const signature = filled(part['thoughtSignature'])
  if (isFilled(part['functionCall'])) return callOf(part['functionCall'], signature)
  const searched = searchOf(part)
  if (searched !== undefined) return searched
  // A signature may come alone, behind what it belongs to.
  const isAlone = Object.keys(part).every((name) => name === 'thought' || name === 'thoughtSignature')
  const text = part['text'] ?? (isAlone ? '' : undefined)
  if (text !== undefined && typeof text !== 'string') return undefined
  const type = text === undefined ? 'other' : part['thought'] === true ? 'reasoning' : 'text'
  return { type, id: '', name: '', text: text ?? '', signature, raw: {} }
}

/** Of other tools of the server nobody has asked for one. */
const searchOf = (part: Link): Block | undefined => {
  const type = isLink(part['toolCall']) ? 'search' : 'found'
  const one = isLink(part['toolCall']) ? part['toolCall'] : part['toolResponse']
  if (!isLink(one) || !filled(one['toolType']).startsWith('GOOGLE_SEARCH')) return undefined
  // It was parsed from JSON; its signature is a member of it.
  return { type, id: filled(one['id']), name: '', text: '', signature: '', raw: unsafeCast(part) }
}

/** Calls come whole; one whose input is in pieces was not asked for, and would be made with half of it. */
const callOf = (call: unknown, signature: string): Block | undefined => {
  if (!isLink(call) || call['willContinue'] === true || isFilled(call['partialArgs'])) return undefined
  return {
    type: 'tool_call',
    id: filled(call['id']),
    name: filled(call['name']).trim(),
    text: inputIn(call),
    signature,
    raw: {},
  }
}

const isFilled = (value: unknown): boolean => value !== undefined && value !== null

const inputIn = ({ args }: Link): string => (isFilled(args) ? JSON.stringify(args) : '')

/** Neighbours of one kind are one, unless one is signed: a signature belongs to its own part alone. */
export const addBlock = (to: Block[], block: Block): void => {
  const last = to.at(-1)
  const isSaid = block.type === 'text' || block.type === 'reasoning'
  if (block.type === 'other' || (isSaid && block.text + block.signature === '')) return
  const isOne = isSaid && last?.type === block.type && last.signature + block.signature === ''
  if (isOne) last.text += block.text
  else to.push(block)
}
