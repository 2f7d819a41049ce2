/**
 * Events of a session begin in the order in which they came: a picture before the question about it. One whose files
 * are not there holds up others for a while only, since they may take an hour (ingress-18).
 */
import type { Tx } from '../../../../core/plugin.js'
import { isComplete, laneOf, type PendingEvent, type PendingStore } from './store.js'

/** How long files that are not there hold up what came behind them. */
export const holdMs = 60_000
/** Events of a session that are looked at. */
const most = 100

type Place = Pick<PendingEvent, 'kind' | 'name' | 'session_id'>

/** Those of the same connector in the session that still hold up others, in their order. */
const holding = ({ events }: Pick<PendingStore, 'events'>, place: Place, now: number): PendingEvent[] =>
  events
    .list({ index: 'session', group: place.session_id, limit: most })
    .filter((event) => laneOf(event) === laneOf(place) && (isComplete(event) || event.accepted_at_ms > now - holdMs))

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
  if (next !== undefined && isComplete(next)) tx.put(events, { ...next, due_at_ms: tx.now })
}
