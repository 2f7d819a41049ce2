/**
 * Texts while they are made. They have no id and no place in the window: what is written goes to those who follow at
 * that moment, and to nobody later.
 */
import type { Clock } from '../base/clock.js'
import type { DeltaSpec, Deltas, EventFilter, EventKeys } from './contract.js'
import { createDeltaFollower, type DeltaFollower, type DeltaText } from './delta-follower.js'
import { createDeltaListeners, type DeltaListeners } from './delta-listeners.js'
import { createDeltaText, openDeltaText } from './delta-text.js'
import { createDeltaTicks } from './delta-ticks.js'
import type { EventFault } from './listeners.js'
import type { Sink } from './subscriber.js'
import { carries } from './window.js'

export interface DeltaLaneOptions {
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'after'>
  /** Writes what was published so far: no delta overtakes it. */
  readonly flushEvents: () => void
  readonly onFault: (fault: EventFault) => void
}

/** What a client follows. */
export interface DeltaView {
  readonly sink: Sink
  readonly include: readonly string[]
  readonly filter: EventFilter | undefined
  readonly live: () => boolean
}

export interface DeltaLane {
  open<S, K extends string, D extends object>(spec: DeltaSpec<S, K, D>, keys: EventKeys, subject: S): Deltas<K>
  readonly on: DeltaListeners['on']
  follow(view: DeltaView): {
    /** The client has taken what it was sent. */
    drained(): void
    leave(): void
  }
}

const nobody: readonly DeltaFollower[] = []

export const createDeltaLane = (options: DeltaLaneOptions): DeltaLane => {
  const { clock, onFault } = options
  const followers = new Map<DeltaFollower, DeltaView>()
  const ticks = createDeltaTicks({ ...options, followers })
  const encode = createEncode()
  const listeners = createDeltaListeners(onFault)
  let membership = 0

  const audience = (word: string, keys: EventKeys): DeltaFollower[] =>
    Array.from(followers)
      .filter(([, { include, filter }]) => include.includes(word) && carries(keys, filter))
      .map(([follower]) => follower)
  return {
    open(spec, keys, subject) {
      let made: DeltaText | undefined
      const shown = openDeltaText({
        // Most texts are followed by nobody.
        text: () => (made ??= createDeltaText({ spec, keys, subject, clock, onFault })),
        ticks,
        membership: () => membership,
        audience: () => (followers.size === 0 ? nobody : audience(spec.include, keys)),
      })
      return listeners.told(spec, subject, shown)
    },
    on: listeners.on,
    follow(view) {
      const leave = (): void => {
        if (!followers.delete(follower)) return
        membership += 1
        ticks.forget(follower)
      }
      const onSinkFault = (error: unknown): void => {
        leave()
        onFault({ owner: 'core', event: 'stream', error })
      }
      const { sink, live } = view
      const follower = createDeltaFollower({ sink, live, encode, onFault: onSinkFault })
      followers.set(follower, view)
      membership += 1
      return { drained: () => follower.flush(clock.elapsed()), leave }
    },
  }
}

/** Clients of one view are sent the same: it is made once. */
const createEncode = (): ((text: string) => Uint8Array) => {
  let [last, bytes] = ['', Buffer.alloc(0)]
  return (text) => {
    if (text !== last) [last, bytes] = [text, Buffer.from(text)]
    return bytes
  }
}
