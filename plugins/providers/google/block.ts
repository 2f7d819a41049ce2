/** What an answer is made of: its texts, thoughts and calls, joined of the parts in which they come. */
import type { AssistantPart } from '../../execution/models/contract.js'
import { isLink, keptSignature, toolInput, type Link } from '../streamed/contract.js'
import { thought } from './thought.js'

export interface Block {
  readonly type: 'text' | 'reasoning' | 'tool_call' | 'other'
  readonly id: string
  readonly name: string
  /** What is said or thought, or the JSON of an input. */
  text: string
  readonly signature: string
}

const filled = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Undefined if it does not follow the protocol. */
export const blockOf = (part: unknown): Block | undefined => {
  if (!isLink(part)) return undefined
  const signature = filled(part['thoughtSignature'])
  if (isFilled(part['functionCall'])) return callOf(part['functionCall'], signature)
  // A signature may come alone, behind what it belongs to.
  const isAlone = Object.keys(part).every((name) => name === 'thought' || name === 'thoughtSignature')
  const text = part['text'] ?? (isAlone ? '' : undefined)
  if (text !== undefined && typeof text !== 'string') return undefined
  const type = text === undefined ? 'other' : part['thought'] === true ? 'reasoning' : 'text'
  return { type, id: '', name: '', text: text ?? '', signature }
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
  }
}

const isFilled = (value: unknown): boolean => value !== undefined && value !== null

const inputIn = ({ args }: Link): string => (isFilled(args) ? JSON.stringify(args) : '')

/** Neighbours of one kind are one, unless one is signed: a signature belongs to its own part alone. */
export const addBlock = (to: Block[], block: Block): void => {
  const last = to.at(-1)
  if (block.type === 'other' || (block.type !== 'tool_call' && block.text + block.signature === '')) return
  const isOne = block.type !== 'tool_call' && last?.type === block.type && last.signature + block.signature === ''
  if (isOne) last.text += block.text
  else to.push(block)
}

export const partOf = ({ type, id, name, text, signature }: Block, newId: () => string): AssistantPart[] => {
  const signed = signature === '' ? undefined : keptSignature.as(signature)
  switch (type) {
    case 'text':
      return [{ type, text, ...(signed && { metadata: signed }) }]
    case 'reasoning':
      return [{ type, text, metadata: thought.metadata(signature) }]
    case 'tool_call':
      return [{ type, id: id === '' ? newId() : id, name, ...toolInput(text), ...(signed && { metadata: signed }) }]
    case 'other':
      return []
  }
}
