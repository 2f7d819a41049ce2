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
  /** Those that are due at the end of this turn of the event loop, and at the end of the tick. */
  let soon: DeltaFollower[] = []
  let later: DeltaFollower[] = []
  let chars = 0
  let cancel: (() => void) | undefined

  const flush = (group: Iterable<DeltaFollower>): void => {
    flushEvents()
    const now = clock.elapsed()
    for (const follower of group) {
      chars -= follower.chars
      follower.due = undefined
      follower.flush(now)
    }
  }
  const endTurn = (): void => {
    const due = soon
    soon = []
    flush(due)
  }
  const endTick = (): void => {
    const due = later
    later = []
    cancel = undefined
    flush(due)
  }
  const wake = (follower: DeltaFollower, first: boolean): void => {
    if (follower.due === 'soon' || (follower.due === 'later' && !first)) return
    const left = first ? 0 : follower.wroteAt + tickMs - clock.elapsed()
    follower.due = left > 0 ? 'later' : 'soon'
    if (left > 0) {
      later.push(follower)
      cancel ??= clock.after(left, endTick)
    } else if (soon.push(follower) === 1) setImmediate(endTurn)
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
      follower.drop()
      if (followers.size > 0) return
      cancel?.()
      cancel = undefined
    },
  }
}
