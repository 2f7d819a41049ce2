/** Collects what the server streams and decides at its end what the answer is. Nothing acts before that. */
import type { AssistantPart, ProviderMetadata, Usage, WebPage } from '../../execution/models/contract.js'
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
  usageIn,
  type Answer,
  type Asked,
  type Finish,
  type Gathered,
  type Link,
} from '../streamed/contract.js'
import { endItem, extendItem, isPiece, readItem, type Item } from './item.js'
import { search } from './search.js'
import { between, thought } from './thought.js'

interface Collected extends Gathered {
  /** By the index that the server gives, in the order in which they began. */
  readonly items: Map<number, Item>
  usage: Usage | undefined
}

export interface Making {
  /** Names calls of which the server gives no id. */
  readonly newId: () => string
  /** Wire name of the provider, under which what it gave is kept. */
  readonly provider: string
}

export const createAnswer = (asked: Asked, making: Making): Answer => {
  const so: Collected = { items: new Map(), usage: undefined, ...beginGathering() }
  return eventAnswer(so, {
    take: (event) => takeEvent(so, event, asked),
    end: () =>
      endingOf({
        fault: so.fault,
        finish: so.finish,
        usage: so.usage,
        parts: [...so.items.values()].flatMap((item) => partOf(item, making)),
      }),
  })
}

const takeEvent = (so: Collected, event: Link, asked: Asked): void => {
  const { type } = event
  switch (type) {
    case 'response.output_item.added':
    case 'response.output_item.done':
    case 'response.reasoning_summary_part.added':
      return takeItem(so, event)
    case 'response.completed':
    case 'response.incomplete':
    case 'response.cancelled':
    case 'response.failed':
      return takeEnd(so, event, asked)
    case 'error':
      so.fault = told(isLink(event['error']) ? event['error'] : event, asked)
      return
    default:
      // Others tell again what these told, or are of later versions.
      if (isPiece(type)) takeItem(so, event)
  }
}

const takeItem = (so: Collected, event: Link): void => {
  if (so.finish !== undefined) return
  const at = event['output_index']
  if (typeof at !== 'number' || !takePart(so, event, at)) refuse(so, offProtocol())
}

/** False if it does not fit what came before. */
const takePart = (so: Collected, event: Link, at: number): boolean => {
  const known = so.items.get(at)
  switch (event['type']) {
    case 'response.output_item.added': {
      const begun = readItem(event['item'])
      if (begun === undefined || known !== undefined) return false
      so.items.set(at, begun)
      return show(so, begun, begun.texts.join(between))
    }
    case 'response.output_item.done': {
      const whole = endItem(known, event['item'])
      if (whole === undefined) return false
      so.items.set(at, whole)
      const isShown = known?.texts.some((text) => text !== '') === true
      return isShown || show(so, whole, whole.texts.join(between))
    }
    case 'response.reasoning_summary_part.added':
      if (known?.type !== 'reasoning' || !known.isOpen) return false
      known.texts.push('')
      return true
    default: {
      const added = known && extendItem(known, event)
      return known !== undefined && added !== undefined && show(so, known, added)
    }
  }
}

const show = (so: Collected, { type }: Item, text: string): true => {
  if (text !== '' && (type === 'text' || type === 'reasoning')) so.fresh.add(type, text)
  return true
}

/** A server that counts no searches has made those that it tells. Pages that it opened are none. */
const usedIn = ({ items }: Collected, { usage }: Link): Usage | undefined => {
  const told = usageIn(usage, 'input', 'output')
  const searches = search.countedIn(usage) ?? [...items.values()].filter(search.isOne).length
  return told === undefined || searches === 0 ? told : { ...told, searches }
}

/** What is not whole was cut, whatever the server calls the reason. */
const cutBy = ({ incomplete_details: details }: Link): Finish =>
  isLink(details) && details['reason'] === 'content_filter' ? 'filtered' : 'length'

/** What tells of less than a whole answer holds, be it the event or the status in it (models-71). */
const endOf = ({ type }: Link, { status }: Link): (typeof worstFirst)[number] | 'completed' =>
  worstFirst.find((end) => status === end || type === `response.${end}`) ?? 'completed'
const worstFirst = ['failed', 'cancelled', 'incomplete'] as const

const takeEnd = (so: Collected, event: Link, asked: Asked): void => {
  const response = isLink(event['response']) ? event['response'] : {}
  const end = endOf(event, response)
  if (end === 'completed' || end === 'incomplete') takeOutput(so, response)
  so.usage = usedIn(so, response) ?? so.usage
  switch (end) {
    case 'failed':
      so.fault = told(response['error'], asked)
      return
    case 'cancelled':
      return finishWith(so, 'broken')
    case 'incomplete':
      return finishWith(so, cutBy(response))
    case 'completed':
      // What the limit cut has no end of its own.
      if ([...so.items.values()].some(({ isOpen }) => isOpen)) refuse(so, failures.invalid('A part of it has no end.'))
      return finishWith(so, 'stop')
  }
}

/** A server that told of no item while it came tells of them all at the end. */
const takeOutput = (so: Collected, { output }: Link): void => {
  if (so.items.size > 0 || !Array.isArray(output)) return
  for (const [output_index, item] of output.entries())
    takeItem(so, { type: 'response.output_item.done', output_index, item })
}

const partOf = (item: Item, { newId, provider }: Making): AssistantPart[] => {
  const { type, id, call_id, name, phase, texts } = item
  const text = texts.join('')
  switch (type) {
    case 'text':
      return text === '' ? [] : [{ type, text, ...citing(search.cites(item)), ...metadata(provider, { id, phase }) }]
    case 'reasoning':
      return text === '' && item.encrypted_content === '' ? [] : [thought.part(item, provider)]
    case 'tool_call':
      return [{ type, id: call_id === '' ? newId() : call_id, name, ...toolInput(text), ...metadata(provider, { id }) }]
    case 'search':
      return [search.part(item, provider)]
    case 'other':
      return []
  }
}

const citing = (cites: WebPage[]): { cites?: WebPage[] } => (cites.length === 0 ? {} : { cites })

/** What of it is no blank. */
const metadata = (provider: string, own: Readonly<Record<string, string>>): { metadata?: ProviderMetadata } => {
  const told = Object.entries(own).filter(([, value]) => value !== '')
  return told.length === 0 ? {} : { metadata: { [provider]: Object.fromEntries(told) } }
}
