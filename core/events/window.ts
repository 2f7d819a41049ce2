/**
 * The replay window: the last `capacity` events, and for four times as many
 * evicted ones the keys they carried, so that a filtered reader learns exactly
 * what it lost. Contract 1, "Events", rules 3 to 5.
 */
import type { EventFilter, EventKeys } from './contract.js'
import type { WindowEvent } from './frames.js'

export interface Loss {
  readonly skipped: number
  readonly estimate: boolean
}

export interface Window {
  readonly capacity: number
  /** Counter of the newest event; 0 before the first. */
  readonly newest: number
  /** Counter of the oldest event that is still kept; `newest + 1` if there is none. */
  readonly oldest: number
  /** Evictions up to this counter are forgotten. */
  readonly forgotten: number
  push(event: WindowEvent): void
  at(counter: number): WindowEvent | undefined
  /** What a reader that has everything up to `counter` cannot get any more. */
  loss(counter: number, filter?: EventFilter): Loss
  /** Distinct ids of a scope among the remembered evictions. */
  evictedIds(scope: string): number
}

const clampCapacity = (capacity: number): number => Math.min(262_144, Math.max(1, Math.trunc(capacity) || 1))

export const carries = (keys: EventKeys, filter: EventFilter | undefined): boolean =>
  filter === undefined || keys[filter.scope] === filter.id

export const createWindow = (wanted: number): Window => {
  const capacity = clampCapacity(wanted)
  const remembered = capacity * 4
  const events: WindowEvent[] = []
  const evicted: EventKeys[] = []
  let newest = 0
  const oldest = (): number => Math.max(1, newest - capacity + 1)
  const forgotten = (): number => Math.max(0, oldest() - 1 - remembered)

  const countLost = (from: number, filter: EventFilter): number => {
    let lost = 0
    for (let counter = from + 1; counter < oldest(); counter += 1) {
      const keys = evicted[counter % remembered]
      if (keys !== undefined && carries(keys, filter)) lost += 1
    }
    return lost
  }
  return {
    capacity,
    get newest() {
      return newest
    },
    get oldest() {
      return oldest()
    },
    get forgotten() {
      return forgotten()
    },
    push(event) {
      const slot = event.counter % capacity
      const old = events[slot]
      if (old !== undefined) evicted[old.counter % remembered] = old.keys
      events[slot] = event
      newest = event.counter
    },
    at: (counter) => (counter < oldest() || counter > newest ? undefined : events[counter % capacity]),
    loss(counter, filter) {
      const skipped = oldest() - 1 - counter
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
