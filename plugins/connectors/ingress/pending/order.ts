/**
 * Events of a session begin in the order in which they came: a picture before the question about it. For a while only,
 * since the files of one may take an hour (ingress-18).
 */
import { timeKey, type Tx } from '../../../../core/plugin.js'
import { laneOf, type PendingEvent, type PendingStore } from './store.js'

/** How long an event holds up those behind it. */
export const holdMs = 60_000
/** Events of a session that are looked at. */
const most = 100

type Place = Pick<PendingEvent, 'kind' | 'name' | 'session_id'>

/** Those of the same connector in the session that still hold up others, in their order. */
const holding = ({ events }: Pick<PendingStore, 'events'>, place: Place, now: number): PendingEvent[] =>
  events
    .list({ index: 'session', group: place.session_id, limit: most, beyond: timeKey(now - holdMs) })
    .filter((event) => laneOf(event) === laneOf(place))

/** True if a new event must wait for one that came before it. */
export const isBehindOthers = (store: Pick<PendingStore, 'events'>, place: Place, now: number): boolean =>
  holding(store, place, now).length > 0

/** The event that one waits for. */
export const holderOf = (
  store: Pick<PendingStore, 'events'>,
  event: PendingEvent,
  now: number,
): PendingEvent | undefined => {
  const [first] = holding(store, event, now)
  return first?.id === event.id ? undefined : first
}

/** Takes an event away, in the commit that ends it, and lets the next one of its session go on. */
export const endEvent = (
  { events }: Pick<PendingStore, 'events'>,
  tx: Tx,
  { event, why }: { readonly event: PendingEvent; readonly why: string },
): void => {
  tx.remove(events, event.id, why)
  const [next] = holding({ events }, event, tx.now)
  if (next !== undefined && next.files.every(({ stored, missing }) => (stored ?? missing) !== undefined))
    tx.put(events, { ...next, due_at_ms: tx.now })
}
