/** Collects what the server streams and decides at its end what the answer is. Nothing acts before that. */
import type { AssistantPart } from '../../execution/models/contract.js'
import {
  beginGathering,
  endingOf,
  eventAnswer,
  failures,
  finishWith,
  isLink,
  isWhole,
  keptSignature,
  offProtocol,
  refuse,
  told,
  toolInput,
  type Answer,
  type Asked,
  type Finish,
  type Gathered,
  type Link,
} from '../streamed/contract.js'
import { addBlock, blockOf, type Block } from './block.js'
import { beginGrounding, search, takeGrounding, type Grounding } from './search.js'
import { withCode } from './status.js'
import { thought } from './thought.js'
import { tell, usageIn, type Told } from './usage.js'

interface Collected extends Gathered {
  readonly blocks: Block[]
  readonly grounding: Grounding
  used: Told | undefined
}

export interface AnswerOptions {
  readonly newId: () => string
  /** The protocol has no word for it: of several calls the first one counts, and the model is free to ask again. */
  readonly onlyOneCall: boolean
}

export const createAnswer = (asked: Asked, { newId, onlyOneCall }: AnswerOptions): Answer => {
  const so: Collected = { blocks: [], grounding: beginGrounding(), used: undefined, ...beginGathering() }
  return eventAnswer(so, {
    take: (event) => takeEvent(so, event, asked),
    end() {
      const { blocks, grounding, used } = so
      const parts = search.grounded(
        search.settled(blocks).flatMap((block) => partOf(block, newId)),
        grounding,
      )
      return endingOf({
        fault: so.fault,
        finish: so.finish,
        usage: used && usageIn(used, search.count(blocks, grounding)),
        parts: onlyOneCall ? withOneCall(parts) : parts,
      })
    },
  })
}

const withOneCall = (parts: readonly AssistantPart[]): AssistantPart[] => {
  const first = parts.find(({ type }) => type === 'tool_call')
  return parts.filter((part) => part.type !== 'tool_call' || part === first)
}

const takeEvent = (so: Collected, event: Link, asked: Asked): void => {
  const { error, usageMetadata, promptFeedback } = event
  if (error !== undefined && error !== null) {
    so.fault = told(withCode(error), asked)
    return
  }
  so.used = tell(so.used, usageMetadata)
  const candidate = candidateIn(event)
  if (isLink(promptFeedback) && isWord(promptFeedback['blockReason'])) finishWith(so, 'filtered')
  else if (candidate === null || (candidate !== undefined && !takeCandidate(so, candidate))) refuse(so, offProtocol())
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** The answer that was asked for; null if it is none, undefined if the event has none. */
const candidateIn = ({ candidates }: Link): Link | null | undefined => {
  const list = candidates ?? []
  if (!Array.isArray(list) || !list.every(isLink)) return null
  return list.find(({ index }) => (index ?? 0) === 0)
}

/** False if it does not follow the protocol. */
const takeCandidate = (so: Collected, candidate: Link): boolean => {
  if (so.finish === undefined && !takeParts(so, candidate)) return false
  if (isWord(candidate['finishReason'])) finish(so, candidate['finishReason'])
  return true
}

const takeParts = (so: Collected, { content, groundingMetadata }: Link): boolean => {
  const said = content ?? {}
  const parts = isLink(said) ? (said['parts'] ?? []) : undefined
  if (!Array.isArray(parts)) return false
  const blocks = parts.map(blockOf)
  if (!blocks.every((block) => block !== undefined)) return false
  for (const block of blocks) show(so, block)
  takeGrounding(so.grounding, groundingMetadata)
  return true
}

const show = (so: Collected, block: Block): void => {
  if (block.text !== '' && (block.type === 'text' || block.type === 'reasoning')) so.fresh.add(block.type, block.text)
  addBlock(so.blocks, block)
}

/** `unusable`: what the model wrote is not what it was to write, and it may write better. */
const finishes = new Map<string, Finish | 'unusable' | undefined>([
  ['FINISH_REASON_UNSPECIFIED', undefined],
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['CONTINUATION', 'length'],
  ['SAFETY', 'filtered'],
  ['RECITATION', 'filtered'],
  ['LANGUAGE', 'filtered'],
  ['BLOCKLIST', 'filtered'],
  ['PROHIBITED_CONTENT', 'filtered'],
  ['SPII', 'filtered'],
  ['IMAGE_SAFETY', 'filtered'],
  ['IMAGE_PROHIBITED_CONTENT', 'filtered'],
  ['IMAGE_RECITATION', 'filtered'],
  ['MALFORMED_FUNCTION_CALL', 'unusable'],
  ['MALFORMED_RESPONSE', 'unusable'],
  ['UNEXPECTED_TOOL_CALL', 'unusable'],
  ['TOO_MANY_TOOL_CALLS', 'unusable'],
  ['MISSING_THOUGHT_SIGNATURE', 'unusable'],
])

const finish = (so: Collected, reason: string): void => {
  const found = finishes.has(reason) ? finishes.get(reason) : 'other'
  if (found === 'unusable') {
    if (isWhole(so)) so.fault ??= failures.invalid(`Its model ended with ${reason}.`)
  } else if (found !== undefined) finishWith(so, found)
}

const partOf = (block: Block, newId: () => string): AssistantPart[] => {
  const { type, id, name, text, signature } = block
  const signed = signature === '' ? undefined : keptSignature.as(signature)
  switch (type) {
    case 'text':
      return [{ type, text, ...(signed && { metadata: signed }) }]
    case 'reasoning':
      return [{ type, text, metadata: thought.metadata(signature) }]
    case 'tool_call':
      return [{ type, id: id === '' ? newId() : id, name, ...toolInput(text), ...(signed && { metadata: signed }) }]
    case 'search':
    case 'found':
      return [search.part(block)]
    case 'other':
      return []
  }
}
