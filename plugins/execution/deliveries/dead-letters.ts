/** A dead letter, sent again as a new delivery (deliveries-20 and deliveries-21) or resolved (deliveries-35). */
import { createHash } from 'node:crypto'
import type { Problem, Tx } from '../../../core/plugin.js'
import { deliveryErrors } from './errors.js'
import {
  nameFiles,
  lastPlace,
  nextPlace,
  payloadOf,
  payloadTime,
  type DeadDelivery,
  type DeliveryRecord,
  type DeliveryStore,
  type OpenDelivery,
} from './store.js'

export const isUnresolved = (delivery: DeliveryRecord | undefined): delivery is DeadDelivery =>
  delivery?.status === 'dead_lettered' && delivery.dead_letter_resolved_at_ms === undefined

export interface Resolution {
  readonly tx: Tx
  readonly store: DeliveryStore
  readonly reason: string
}
/** Of an unresolved one. */
export const markResolved = (letter: DeadDelivery, { tx, store, reason }: Resolution): DeadDelivery => {
  const dead_letter_resolved_at_ms = Math.max(tx.now, letter.dead_lettered_at_ms)
  const resolved = { ...letter, dead_letter_resolved_at_ms, dead_letter_resolution_reason: reason }
  tx.put(store.deliveries, resolved)
  return resolved
}

const fell = ', or it fell: the archives of archive_dir, if there are any, have it (holdfast state show --archive FILE)'

/** Nobody can tell from its id, which is a digest, whether a delivery fell or never was. */
export const absentDelivery = (
  { deliveries }: DeliveryStore,
  sought: 'delivery' | 'dead letter',
  delivery_id: string,
): Problem => {
  const or_fell = deliveries.falls > 0 && !deliveries.has(delivery_id) ? fell : ''
  return deliveryErrors.delivery_not_found({ details: { sought, delivery_id, or_fell } })
}

export const findDeadLetter = (store: DeliveryStore, delivery_id: string): DeadDelivery => {
  const delivery = store.deliveries.find(delivery_id)
  if (delivery?.status !== 'dead_lettered') throw absentDelivery(store, 'dead letter', delivery_id)
  return delivery
}

/** The first reason stays. Throws `delivery_not_found` (404) for what is no dead letter. */
export const resolveDeadLetter = (store: DeliveryStore, delivery_id: string, reason: string): Promise<DeadDelivery> =>
  store.state.commit((tx) => {
    const letter = findDeadLetter(store, delivery_id)
    return isUnresolved(letter) ? markResolved(letter, { tx, store, reason }) : letter
  })

export interface ReplayParts {
  readonly store: DeliveryStore
  /** Called when a lane has something new, and that is durable. */
  readonly wake: (target: string) => void
}

/**
 * The latest replay of a dead letter, or a new one if there is none or `force` is set. Throws `delivery_not_found`
 * (404) for what is no dead letter.
 */
export const replayDelivery = (parts: ReplayParts, delivery_id: string, force: boolean): Promise<DeliveryRecord> =>
  parts.store.state.commit((tx) => {
    const { deliveries } = parts.store
    const original = findDeadLetter(parts.store, delivery_id)
    const [known] = deliveries.list({ index: 'replays', group: delivery_id, limit: 1, order: 'desc' })
    return force || known === undefined ? addReplay(parts, tx, original) : known
  })

const addReplay = ({ store, wake }: ReplayParts, tx: Tx, original: DeadDelivery): OpenDelivery => {
  const {
    status: _,
    dead_lettered_at_ms: __,
    terminal_error: ___,
    dead_letter_resolved_at_ms: ______,
    dead_letter_resolution_reason: ____,
    last_error: _____,
    ...kept
  } = original
  const replay: OpenDelivery = {
    ...kept,
    delivery_id: replayId(original.delivery_id, store.deliveries.count('replays', original.delivery_id)),
    replayed_from_delivery_id: original.delivery_id,
    payload_at_ms: payloadTime(original),
    place: nextPlace(
      tx.now,
      lastPlace(store, 'lane', original.target),
      lastPlace(store, 'run', original.run_id),
      lastPlace(store, 'replays', original.delivery_id),
    ),
    created_at_ms: tx.now,
    attempts: 0,
    status: 'pending',
    next_attempt_at_ms: tx.now,
  }
  tx.insert(store.deliveries, replay)
  nameFiles({ tx, files: store.files }, replay, payloadOf(store, original))
  if (isUnresolved(original)) markResolved(original, { tx, store, reason: 'replayed' })
  tx.after(() => wake(replay.target))
  return replay
}

const replayId = (original: string, before: number): string =>
  `delivery_${createHash('sha256').update(`${original}:${before}`).digest('hex').slice(0, 32)}`
