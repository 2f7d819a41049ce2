/**
 * When deltas leave: at once to a client that was sent none for a tick, and with the first words of a text; else with
 * all that comes until the tick is over. One timer serves all clients.
 */
import type { Clock } from '../base/clock.js'
import type { DeltaFollower, DeltaText } from './delta-follower.js'

/** The longest that a delta waits for others, ms; timers are late by a few. */
const tickMs = 15
/** Code units that wait for one client, and for all together; more is written at once. */
const mostForOne = 65_536
const mostForAll = 16_777_216

export interface DeltaTicks {
  give(
    follower: DeltaFollower,
    delta: { readonly of: DeltaText; readonly kind: string; readonly text: string; readonly first: boolean },
  ): void
  /** Writes what waits for these clients, after everything that was published so far. */
  flush(followers: Iterable<DeltaFollower>): void
  forget(follower: DeltaFollower): void
}

export interface DeltaTicksOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'after'>
  readonly flushEvents: () => void
  readonly followers: ReadonlyMap<DeltaFollower, unknown>
}

export const createDeltaTicks = ({ clock, flushEvents, followers }: DeltaTicksOptions): DeltaTicks => {
  const soon = new Set<DeltaFollower>()
  const later = new Set<DeltaFollower>()
  let chars = 0
  let cancel: (() => void) | undefined

  const flush = (group: Iterable<DeltaFollower>): void => {
    flushEvents()
    const now = clock.elapsed()
    for (const follower of group) {
      chars -= follower.chars
      follower.flush(now)
    }
  }
  const flushAll = (group: Set<DeltaFollower>): void => {
    const due = Array.from(group)
    group.clear()
    flush(due)
  }
  const endTick = (): void => {
    cancel = undefined
    flushAll(later)
  }
  const wake = (follower: DeltaFollower, first: boolean): void => {
    if (soon.has(follower) || (!first && later.has(follower))) return
    const left = follower.wroteAt + tickMs - clock.elapsed()
    if (first || left <= 0) {
      if (soon.add(follower).size === 1) setImmediate(() => flushAll(soon))
    } else {
      later.add(follower)
      cancel ??= clock.after(left, endTick)
    }
  }
  return {
    flush,
    give(follower, { of, kind, text, first }) {
      follower.add(of, kind, text)
      chars += text.length
      if (follower.chars > mostForOne) flush([follower])
      else if (chars > mostForAll) flush(followers.keys())
      else wake(follower, first)
    },
    forget(follower) {
      chars -= follower.chars
      soon.delete(follower)
      later.delete(follower)
      if (followers.size > 0) return
      cancel?.()
      cancel = undefined
    },
  }
}
