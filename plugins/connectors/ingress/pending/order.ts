/**
 * Events of a session begin in the order in which they came: a picture before the question about it. One whose files
 * are not there holds up others for a while only, since they may take an hour (ingress-18).
 */
import { timeKey, type Tx } from '../../../../core/plugin.js'
import { patienceMs } from './fetch-files.js'
import { arrivalKey, isComplete, placeOf, type PendingEvent, type PendingStore } from './store.js'

/** How long files that are not there hold up what came behind them. */
export const holdMs = 60_000

type Place = Parameters<typeof placeOf>[0]
type Events = Pick<PendingStore, 'events'>

/** Sort key behind which an event holds up others whether its files are there or not. */
const freshFrom = (now: number): string => timeKey(now - holdMs + 1)

/** True if a new event must wait for one that came before it. */
export const isBehindOthers = ({ events }: Events, place: Place, now: number): boolean =>
  events.count('ready', placeOf(place)) > 0 || events.count('place', placeOf(place), freshFrom(now)) > 0

/** The event that one waits for: the first of its connector in its session that holds up others. */
export const holderOf = ({ events }: Events, event: PendingEvent, now: number): PendingEvent | undefined => {
  const group = placeOf(event)
  const [first] = [
    ...events.list({ index: 'ready', group, limit: 1 }),
    ...events.list({ index: 'place', group, limit: 1, beyond: freshFrom(now) }),
  ].toSorted((one, other) => (arrivalKey(one) < arrivalKey(other) ? -1 : 1))
  return first?.id === event.id ? undefined : first
}

/** When what waits for an event is looked at again, unless that one ends before. */
export const freeAt = (holder: PendingEvent, now: number): number =>
  // The clock may have been set back since it came.
  isComplete(holder) ? now + patienceMs : Math.min(holder.accepted_at_ms, now) + holdMs

/** Takes an event away, in the commit that ends it, and lets the next one of its session go on. */
export const endEvent = (
  { events }: Events,
  tx: Tx,
  { event, why }: { readonly event: PendingEvent; readonly why: string },
): void => {
  tx.remove(events, event.id, why)
  const [next] = events.list({ index: 'ready', group: placeOf(event), limit: 1 })
  if (next === undefined) return
  const holder = holderOf({ events }, next, tx.now)
  const due_at_ms = holder === undefined ? tx.now : freeAt(holder, tx.now)
  if (due_at_ms < next.due_at_ms) tx.put(events, { ...next, due_at_ms })
}
