/**
 * The replay window: the last `capacity` events, fewer where their bytes are
 * more than it may hold, and for four times as many evicted ones the keys they
 * carried, so that a filtered reader learns exactly what it lost (events-13 and events-14).
 */
import type { EventFilter, EventKeys } from './contract.js'
import type { WindowEvent } from './frames.js'

export interface Loss {
  readonly skipped: number
  readonly estimate: boolean
}

export interface WindowLimits {
  /** Events; clamped to 1..262144. */
  readonly capacity: number
  readonly bytes: number
}

export interface WindowOptions extends WindowLimits {
  /** Told of each event that leaves, oldest first. */
  readonly release: (event: WindowEvent) => void
}

export interface Window {
  readonly capacity: number
  /** The larger part of its limits that is in use, from 0 to 1. */
  readonly fullness: number
  /** Counter of the newest event; 0 before the first. */
  readonly newest: number
  /** Counter of the oldest event that is still kept; `newest + 1` if there is none. */
  readonly oldest: number
  /** Evictions up to this counter are forgotten. */
  readonly forgotten: number
  push(event: WindowEvent): void
  /** Tells what an event weighs now; the oldest leave if that is too much. */
  weigh(event: WindowEvent, bytes: number): void
  at(counter: number): WindowEvent | undefined
  /** What a reader that has everything up to `counter` cannot get any more. */
  loss(counter: number, filter?: EventFilter): Loss
  /** Distinct ids of a scope among the remembered evictions. */
  evictedIds(scope: string): number
}

const clampCapacity = (capacity: number): number => Math.min(262_144, Math.max(1, Math.trunc(capacity) || 1))

export const carries = (keys: EventKeys, filter: EventFilter | undefined): boolean =>
  filter === undefined ||
  (keys[filter.scope] === filter.id && (filter.within === undefined || keys[filter.within.scope] === filter.within.id))

/** Bytes of an event beside its frame. */
const overhead = 512

export const createWindow = ({ release, ...limits }: WindowOptions): Window => {
  const capacity = clampCapacity(limits.capacity)
  const remembered = capacity * 4
  const events: (WindowEvent | undefined)[] = []
  const evicted: EventKeys[] = []
  let newest = 0
  let oldest = 1
  let held = 0
  const forgotten = (): number => Math.max(0, oldest - 1 - remembered)

  const evict = (): void => {
    const old = events[oldest % capacity]
    events[oldest % capacity] = undefined
    oldest += 1
    if (old === undefined) return
    evicted[old.counter % remembered] = old.keys
    held -= old.bytes + overhead
    release(old)
  }
  /** The newest stays, whatever it weighs; an event that grows leaves before any newer one does. */
  const trim = (): void => {
    while (held > limits.bytes && oldest < newest) evict()
  }
  const countLost = (from: number, filter: EventFilter): number => {
    let lost = 0
    for (let counter = from + 1; counter < oldest; counter += 1) {
      const keys = evicted[counter % remembered]
      if (keys !== undefined && carries(keys, filter)) lost += 1
    }
    return lost
  }
  return {
    capacity,
    get fullness() {
      return Math.min(1, Math.max((newest - oldest + 1) / capacity, held / limits.bytes))
    },
    get newest() {
      return newest
    },
    get oldest() {
      return oldest
    },
    get forgotten() {
      return forgotten()
    },
    push(event) {
      if (newest - oldest + 1 === capacity) evict()
      events[event.counter % capacity] = event
      newest = event.counter
      held += event.bytes + overhead
      trim()
    },
    weigh(event, bytes) {
      if (event.counter >= oldest) held += bytes - event.bytes
      event.bytes = bytes
      trim()
    },
    at: (counter) => (counter < oldest || counter > newest ? undefined : events[counter % capacity]),
    loss(counter, filter) {
      const skipped = oldest - 1 - counter
      if (skipped <= 0) return { skipped: 0, estimate: false }
      if (filter === undefined) return { skipped, estimate: false }
      const known = countLost(Math.max(counter, forgotten()), filter)
      return counter >= forgotten()
        ? { skipped: known, estimate: false }
        : { skipped: Math.max(1, known), estimate: true }
    },
    evictedIds: (scope) => new Set(evicted.flatMap((keys) => keys[scope] ?? [])).size,
  }
}
