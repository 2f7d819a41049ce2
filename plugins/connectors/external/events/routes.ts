/** Where sidecars send events (external-10, external-25 to external-28). */
import { defineRoute, jsonReply, object, string, type IngressHead, type Route } from '../../../../core/plugin.js'
import { ingressDomain, ingressErrors } from '../../ingress/contract.js'
import { admitSender, connectorOf, sharedScheme, type AccessParts, type Sender } from '../setup/access.js'
import { BatchAnswer, EventAnswer, EventBatch, GivenEvent, mostEvents, type BatchItem } from './event.js'
import { mostBody } from './limits.js'
import { createEventTaker, type ReceiveParts } from './receive.js'

export interface EventRouteParts extends ReceiveParts, AccessParts {}

const params = object({ name: string({ min: 1, max: 200 }) })
const problems = [
  ingressErrors.bad_request,
  ingressErrors.unauthorized,
  ingressErrors.not_found,
  ingressErrors.forbidden,
  ingressErrors.conflict,
  ingressErrors.external_ingress_rate_limited,
  ingressErrors.rate_limited,
  ingressErrors.service_unavailable,
]

const forSidecars = (parts: EventRouteParts) => ({
  method: 'POST' as const,
  access: 'ingress' as const,
  ingress: (head: IngressHead<{ name: string }>) => admitSender(parts, head),
  scheme: sharedScheme,
  params,
  bodyForm: 'lenient' as const,
  bodyLimit: mostBody,
  // Its content alone may have 1 MiB.
  fileBytes: () => mostBody,
  problemDomain: ingressDomain,
  problems,
  durability: 'A' as const,
})

const tooMany = () => ingressErrors.bad_request({ details: { what: `a batch has at most ${mostEvents} events` } })

export const eventRoutes = (parts: EventRouteParts): readonly Route[] => [
  defineRoute({
    ...forSidecars(parts),
    id: 'external.event',
    path: '/v1/connectors/external/:name/events',
    summary: 'Takes an event of a sidecar; the same event again is the same run.',
    body: GivenEvent,
    reply: jsonReply(EventAnswer),
    example: {
      body: {
        protocol_version: 2,
        instance_id: 'sidecar-1',
        event_id: 'message-1',
        thread: { path: ['guild-1', 'channel-2'] },
        content: 'Hello',
        reply_route: 'channel-2',
      },
    },
    handler: ({ body, hashes, caller: { subject } }) =>
      createEventTaker(parts, { ...requestOf(parts, subject), hashes }).take(body),
  }),
  defineRoute({
    ...forSidecars(parts),
    id: 'external.events',
    path: '/v1/connectors/external/:name/events/batch',
    summary: 'Takes events of a sidecar in their order, each for itself.',
    body: EventBatch,
    reply: jsonReply(BatchAnswer),
    example: {
      body: {
        protocol_version: 2,
        events: [{ instance_id: 'sidecar-1', event_id: 'message-1', routing_key: 'inbox', content: 'Hello' }],
      },
    },
    async handler({ body: { protocol_version, events }, hashes, caller: { subject } }) {
      if (events.length > mostEvents) throw tooMany()
      const taker = createEventTaker(parts, { ...requestOf(parts, subject), hashes, protocol_version })
      const results: BatchItem[] = []
      for (const event of events) results.push(await taker.takeItem(event))
      return results.length === 0 ? {} : { results }
    },
  }),
]

const requestOf = (parts: EventRouteParts, { name, isProven }: Sender) => ({
  connector: connectorOf(parts, name),
  isProven,
})
