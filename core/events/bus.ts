/**
 * The daemon's one event bus: listeners in this process, a replay window, and subscribers over SSE. Rules:
 * docs/rules/events.md.
 */
import type { Clock } from '../base/clock.js'
import { createChunks } from './chunks.js'
import type { EventFilter, EventKeys, EventSpec, Events, Publication, PublishedEvent } from './contract.js'
import { createDeltaLane, type DeltaLane } from './deltas.js'
import { createIdSpace, type IdSpace } from './epoch.js'
import { createFanOut, type FanOut, type Subscription, type View } from './fan-out.js'
import { createFrames, type WindowEvent } from './frames.js'
import type { Sink } from './subscriber.js'
import { createListeners, type EventFault } from './listeners.js'
import { carries, createWindow, type Window } from './window.js'

export type { EventFault } from './listeners.js'
export type { Subscription } from './fan-out.js'
export type { Gap, Sink } from './subscriber.js'

/** The `events` member of `/v1/status` (events-19). Ids are decimal strings. */
export type BusStatistics = {
  readonly history_capacity: number
  readonly retained_event_count: number
  readonly subscriber_count: number
  readonly oldest_event_id?: string
  readonly newest_event_id?: string
  readonly next_event_id: string
  readonly tail_event_id_cursor?: string
  readonly replay_buffer_utilization_percent: number
  readonly evicted_event_count: number
  readonly replay_gap_count: number
  readonly stream_lagged_event_count: number
  readonly scope_eviction_floor_id: string
  readonly evicted_session_scope_count: number
  readonly evicted_run_scope_count: number
}

export interface Bus extends Events {
  /** Adds an event whose weight is known and hands it to listeners and subscribers. */
  post(publication: Publication): void
  /** Adds an event and hands it to listeners and subscribers. `data` is made at most once, on first use. */
  publish<D extends object>(event: EventSpec<D>, keys: EventKeys, data: () => D): void
  /** As in `Events`; faults of the listener are charged to `owner`. */
  on<D extends object>(
    event: EventSpec<D>,
    listener: (data: D, keys: EventKeys) => unknown,
    listening?: { readonly wanted?: (() => boolean) | undefined; readonly owner?: string },
  ): () => void
  /** A sink for frames. Without a cursor it gets only what comes; with 0 the whole window. `include` names deltas. */
  subscribe(sink: Sink, view: View & { readonly include?: readonly string[] | undefined }): Subscription
  /** Id of the newest event, or of the place before the first: what a stream that begins now goes on from. */
  newestId(): string
  statistics(): BusStatistics
}

export interface BusOptions {
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'after'>
  readonly epoch: number
  /** Events kept for replay; clamped to 1..262144. */
  readonly capacity: number
  /** Bytes of events kept for replay; 64 MiB when absent. */
  readonly bytes?: number
  readonly onFault: (fault: EventFault) => void
}

const defaultBytes = 67_108_864

export const createBus = (options: BusOptions): Bus => {
  const { epoch, capacity, bytes: most = defaultBytes, onFault } = options
  const ids = createIdSpace(epoch)
  const chunks = createChunks()
  const window = createWindow({ capacity, bytes: most, release: chunks.release })
  const listeners = createListeners(onFault)
  const frames = createFrames({ ids, chunks, onFault, weigh: window.weigh })
  const fanOut = createFanOut({ window, ids, frames, onFault })
  const deltas = createDeltaLane({ ...options, flushEvents: fanOut.flush })

  const post = ({ name, keys, data, bytes }: Publication): void => {
    const event: WindowEvent = {
      counter: window.newest + 1,
      name,
      keys,
      bytes,
      make: data,
      data: undefined,
      frame: undefined,
      start: 0,
      end: 0,
      lent: 0,
    }
    window.push(event)
    fanOut.push(event)
    listeners.deliver(event, frames.data)
  }
  const publish = <D extends object>({ name }: EventSpec<D>, keys: EventKeys, data: () => D): void =>
    post({ name, keys, data, bytes: 0 })
  const since = (id: string, filter?: EventFilter): PublishedEvent[] => {
    if (!/^\d{1,20}$/u.test(id)) return []
    const found: PublishedEvent[] = []
    const place = ids.locate(BigInt(id), window.newest)
    const after = place === 'before' ? 0 : place
    for (let counter = Math.max(after + 1, window.oldest); counter <= window.newest; counter += 1) {
      const event = window.at(counter)
      if (event !== undefined && carries(event.keys, filter)) found.push(frames.published(event))
    }
    return found
  }
  return {
    post,
    publish,
    emit: publish,
    since,
    on: (spec, hear, { wanted, owner = 'core' } = {}) => listeners.on(spec.name, { hear, wanted, owner }),
    openDeltas: deltas.open,
    onDeltas: deltas.on,
    subscribe(sink, { include = [], ...view }) {
      const subscription = fanOut.subscribe(sink, view)
      return include.length === 0
        ? subscription
        : withDeltas(subscription, deltas.follow({ sink, include, filter: view.filter, live: () => subscription.live }))
    },
    newestId: () => ids.id(window.newest),
    statistics: () => measure({ window, ids, fanOut }),
  }
}

const withDeltas = (subscription: Subscription, deltas: ReturnType<DeltaLane['follow']>): Subscription => ({
  get live() {
    return subscription.live
  },
  catchUp() {
    subscription.catchUp()
    deltas.drained()
  },
  leave() {
    deltas.leave()
    subscription.leave()
  },
})

interface Measured {
  readonly window: Window
  readonly ids: IdSpace
  readonly fanOut: FanOut
}
const measure = ({ window, ids, fanOut }: Measured): BusStatistics => {
  const held = window.newest - window.oldest + 1
  return {
    history_capacity: window.capacity,
    retained_event_count: held,
    subscriber_count: fanOut.size,
    ...(held > 0 && {
      oldest_event_id: ids.id(window.oldest),
      newest_event_id: ids.id(window.newest),
      tail_event_id_cursor: ids.id(window.newest),
    }),
    next_event_id: ids.id(window.newest + 1),
    replay_buffer_utilization_percent: Math.round(window.fullness * 100),
    evicted_event_count: window.oldest - 1,
    replay_gap_count: fanOut.gaps,
    stream_lagged_event_count: fanOut.lagged,
    scope_eviction_floor_id: ids.id(window.forgotten),
    evicted_session_scope_count: window.evictedIds('session'),
    evicted_run_scope_count: window.evictedIds('run'),
  }
}
