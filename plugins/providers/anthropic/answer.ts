/** Collects what the server streams and decides at its end what the answer is. Nothing acts before that. */
import type { AssistantPart } from '../../execution/models/contract.js'
import {
  beginGathering,
  endingOf,
  eventAnswer,
  failures,
  finishWith,
  isLink,
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
import { beginBlock, extendBlock, type Block } from './block.js'
import { tell, usageIn, type Told } from './usage.js'
import { search } from './search.js'
import { thought } from './thought.js'

interface Collected extends Gathered {
  /** By the index that the server gives, in the order in which they began. */
  readonly blocks: Map<number, Block>
  used: Told | undefined
}

export const createAnswer = (asked: Asked, newId: () => string): Answer => {
  const so: Collected = {
    blocks: new Map(),
    used: undefined,
    ...beginGathering(),
  }
  return eventAnswer(so, {
    take: (event) => takeEvent(so, event, asked),
    end: () =>
      endingOf({
        fault: so.fault,
        finish: so.finish,
        usage: so.used && usageIn(so.used),
        parts: settled(so).flatMap((block) => partOf(block, newId)),
      }),
  })
}

/** A search that found nothing yet goes back only where the server wants to go on with it. */
const settled = ({ blocks, finish }: Collected): Block[] => {
  const all = [...blocks.values()]
  const found = new Set(all.flatMap(({ type, id }) => (type === 'found' ? [id] : [])))
  return all.filter(({ type, id }) => type !== 'search' || finish === 'paused' || found.has(id))
}

const takeEvent = (so: Collected, event: Link, asked: Asked): void => {
  switch (event['type']) {
    case 'message_start':
      so.used = tell(so.used, isLink(event['message']) ? event['message']['usage'] : undefined)
      return
    case 'content_block_start':
    case 'content_block_delta':
    case 'content_block_stop':
      if (so.finish === undefined && !takeBlock(so, event)) refuse(so, offProtocol())
      return
    case 'message_delta':
      return takeEnd(so, event)
    case 'message_stop':
      so.isDone = true
      return
    case 'error':
      so.fault = told(isLink(event['error']) ? event['error'] : {}, asked)
      return
    default:
    // Pings, and what later versions add: the protocol asks to pass them over.
  }
}

/** False if it does not fit what came before. */
const takeBlock = (so: Collected, { type, index, content_block, delta }: Link): boolean => {
  if (typeof index !== 'number') return false
  const known = so.blocks.get(index)
  if (type === 'content_block_start') {
    const block = beginBlock(content_block)
    if (known !== undefined || block === undefined) return false
    so.blocks.set(index, block)
    show(so, block, block.text)
    return true
  }
  if (known === undefined || !known.isOpen) return false
  if (type === 'content_block_stop') {
    known.isOpen = false
    return true
  }
  const added = extendBlock(known, delta)
  if (added !== undefined) show(so, known, added)
  return added !== undefined
}

const show = (so: Collected, { type }: Block, text: string): void => {
  if (text !== '' && (type === 'text' || type === 'reasoning')) so.fresh.add(type, text)
}

const finishes = new Map<unknown, Finish>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['pause_turn', 'paused'],
  ['refusal', 'filtered'],
])

const takeEnd = (so: Collected, { delta, usage }: Link): void => {
  so.used = tell(so.used, usage)
  const reason = isLink(delta) ? delta['stop_reason'] : undefined
  if (typeof reason !== 'string' || reason === '') return
  const finish = finishes.get(reason) ?? 'other'
  // What the limit cut has no end of its own.
  const isCut = finish !== 'length' && [...so.blocks.values()].some(({ isOpen }) => isOpen)
  if (isCut) refuse(so, failures.invalid('A part of it has no end.'))
  finishWith(so, finish)
}

const partOf = (block: Block, newId: () => string): AssistantPart[] => {
  const { type, id, name, text, signature } = block
  switch (type) {
    case 'text':
      return text === '' ? [] : [search.cited(block)]
    case 'search':
      return [search.asked(block)]
    case 'found':
      return [search.found(block)]
    case 'reasoning':
      return text === '' && signature === '' ? [] : [thought.signed(text, signature)]
    case 'redacted':
      return [thought.redacted(text)]
    case 'tool_call':
      return [{ type, id: id === '' ? newId() : id, name, ...toolInput(text) }]
    case 'other':
      return []
  }
}
