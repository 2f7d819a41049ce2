/** Lists of deliveries in order of time (deliveries-3). */
import {
  arraySource,
  latest,
  listPage,
  type ListReply,
  type PageRequest,
  type PageSource,
  type Skip,
} from '../../../core/plugin.js'
import { deliveryStatuses, type DeliveryView } from './contract.js'
import { keyOf, splitGroup, type DeliveryRecord, type DeliveryStore } from './store.js'
import { viewDelivery } from './views.js'

export interface DeliveryFilter {
  readonly session_id?: string | undefined
  readonly run_id?: string | undefined
  readonly plugin?: string | undefined
  readonly status?: DeliveryRecord['status'] | undefined
  /** Of these alone, whatever `status` asks for. */
  readonly only?: DeliveryRecord['status'] | undefined
}

/** Longest plain array without a limit. */
const plainMost = 1000

interface Scope {
  readonly index: string
  readonly group: string
}

const compare = (a: DeliveryRecord, b: DeliveryRecord): number => (keyOf(a) < keyOf(b) ? -1 : 1)

/** Several groups that are each in order, read as one. */
const merged = ({ deliveries }: DeliveryStore, scopes: readonly Scope[]): PageSource<DeliveryRecord> => ({
  count: () => scopes.reduce((sum, { index, group }) => sum + deliveries.count(index, group), 0),
  key: keyOf,
  list: (range) => {
    const found = scopes.flatMap((scope) => deliveries.list({ ...scope, ...range })).toSorted(compare)
    return (range.order === 'asc' ? found : found.toReversed()).slice(0, range.limit)
  },
})

const all = ({ deliveries }: DeliveryStore, scopes: readonly Scope[], skip: Skip): DeliveryRecord[] =>
  scopes.flatMap(({ index, group }) => deliveries.list({ index, group, limit: deliveries.count(index, group), skip }))

/** A run and a session have few deliveries, so further filters look at each of them. */
const sourceOf = (
  store: DeliveryStore,
  { session_id, run_id, plugin, status, only }: DeliveryFilter,
  skip: Skip,
): PageSource<DeliveryRecord> => {
  const statuses = deliveryStatuses.filter((one) => one === (status ?? one) && one === (only ?? one))
  const fits = (delivery: DeliveryRecord): boolean =>
    (session_id === undefined || delivery.session_id === session_id) &&
    (plugin === undefined || delivery.plugin === plugin) &&
    statuses.includes(delivery.status)
  if (run_id !== undefined) return arraySource(all(store, [{ index: 'run', group: run_id }], skip).filter(fits), keyOf)
  const split = (index: string, value: string): Scope[] =>
    statuses.map((one) => ({ index, group: splitGroup(value, one) }))
  if (session_id !== undefined && plugin !== undefined)
    return arraySource(all(store, split('session', session_id), skip).filter(fits), keyOf)
  if (session_id !== undefined) return merged(store, split('session', session_id))
  if (plugin !== undefined) return merged(store, split('plugin', plugin))
  return merged(
    store,
    statuses.map((one) => ({ index: 'status', group: one })),
  )
}

/**
 * The answer of a list in the form that the query asks for. A plain array without a limit is bounded: it holds the
 * latest.
 */
export const listDeliveries = (
  store: DeliveryStore,
  query: DeliveryFilter & PageRequest,
  skipDelivery: Skip,
): ListReply<DeliveryView> => {
  const skip: Skip = (key, error) => skipDelivery(key.slice(key.indexOf(':') + 1), error)
  const source = sourceOf(store, query, skip)
  if (query.page === true || query.cursor !== undefined || query.limit !== undefined)
    return listPage({ query, source, label: 'delivery_time_asc,delivery_id_asc', view: viewDelivery, skip })
  return latest({ source, view: viewDelivery, skip }, plainMost)
}
