import {
  boolean,
  defineRoute,
  doc,
  enums,
  jsonReply,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  string,
  type Route,
  type Skip,
} from '../../../core/plugin.js'
import { deliveryStatuses, DeliveryView } from './contract.js'
import { listDeliveries } from './delivery-list.js'
import { deliveryErrors } from './errors.js'
import { absentDelivery, replayDelivery, resolveDeadLetter, type ReplayParts } from './dead-letters.js'
import { viewDelivery } from './views.js'

const id = () => string({ min: 1, max: 200 })
const params = object({ delivery_id: id() })
const filters = { session_id: optional(id()), run_id: optional(id()), plugin: optional(string({ min: 1, max: 100 })) }
const Replayed = object({ replayed_from_delivery_id: string(), delivery: DeliveryView })

export interface DeliveryRouteParts extends ReplayParts {
  readonly skip: Skip
}

export const deliveryRoutes = (parts: DeliveryRouteParts): readonly Route[] => [
  list(parts),
  deadLetter(parts),
  read(parts),
  replay(parts),
  resolve(parts),
]

const list = ({ store, skip }: DeliveryRouteParts): Route =>
  defineRoute({
    id: 'deliveries.list',
    method: 'GET',
    path: '/v1/deliveries',
    summary: 'Lists deliveries by the time of their next attempt, arrival or end. The plain array holds the latest.',
    access: 'read',
    query: object({ ...filters, status: optional(enums(deliveryStatuses)), ...pageFields }),
    reply: jsonReply(pageOf(DeliveryView)),
    problems: [...pageProblems],
    handler: ({ query }) => listDeliveries(store, query, skip),
  })

const deadLetter = ({ store, skip }: DeliveryRouteParts): Route =>
  defineRoute({
    id: 'deliveries.dead_letter',
    method: 'GET',
    path: '/v1/deliveries/dead-letter',
    summary: 'Lists deliveries that are no longer attempted.',
    access: 'read',
    query: object({ ...filters, status: optional(enums(deliveryStatuses)), ...pageFields }),
    reply: jsonReply(pageOf(DeliveryView)),
    problems: [...pageProblems],
    handler: ({ query }) => listDeliveries(store, { ...query, only: 'dead_lettered' }, skip),
  })

const read = ({ store }: ReplayParts): Route =>
  defineRoute({
    id: 'deliveries.get',
    method: 'GET',
    path: '/v1/deliveries/:delivery_id',
    summary: 'Reads a delivery.',
    access: 'read',
    params,
    reply: jsonReply(DeliveryView),
    problems: [deliveryErrors.delivery_not_found],
    handler: ({ params: { delivery_id } }) => {
      const delivery = store.deliveries.find(delivery_id)
      if (delivery === undefined) throw absentDelivery(store, 'delivery', delivery_id)
      return viewDelivery(delivery)
    },
  })

const replay = (parts: ReplayParts): Route =>
  defineRoute({
    id: 'deliveries.replay',
    method: 'POST',
    path: '/v1/deliveries/:delivery_id/replay',
    summary: 'Sends a dead letter again as a new delivery. Repeated, it answers with the delivery of before.',
    access: 'admin',
    params,
    query: object({ force: optional(doc(boolean(), 'Makes another delivery even if there is one already.')) }),
    body: object({}),
    bodyOptional: true,
    reply: jsonReply(Replayed),
    problems: [deliveryErrors.delivery_not_found],
    durability: 'A',
    handler: async ({ params: { delivery_id }, query: { force = false } }) => ({
      replayed_from_delivery_id: delivery_id,
      delivery: viewDelivery(await replayDelivery(parts, delivery_id, force)),
    }),
  })

const resolve = ({ store }: ReplayParts): Route =>
  defineRoute({
    id: 'deliveries.resolve',
    method: 'POST',
    path: '/v1/deliveries/:delivery_id/resolve',
    summary: 'Says that nobody has to see to a dead letter any more; a second time changes nothing.',
    access: 'admin',
    params,
    body: object({ reason: optional(doc(string({ min: 1, max: 500 }), 'Why; shown to all who see the delivery.')) }),
    bodyOptional: true,
    reply: jsonReply(DeliveryView),
    problems: [deliveryErrors.delivery_not_found],
    durability: 'A',
    example: { body: { reason: 'The receiver was given up.' } },
    handler: async ({ params: { delivery_id }, body: { reason = 'resolved' } }) =>
      viewDelivery(await resolveDeadLetter(store, delivery_id, reason)),
  })
