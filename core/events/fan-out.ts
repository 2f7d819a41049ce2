/**
 * Subscribers of the bus. What is published in one turn of the event loop is
 * joined for each view, and the same bytes are written to all its
 * subscribers. A subscriber that cannot keep up leaves the shared path and is
 * served from the replay window when it drains; only what the window has lost is a gap.
 */
import { joinFrames } from './chunks.js'
import type { EventFilter } from './contract.js'
import type { IdSpace } from './epoch.js'
import type { Frames, WindowEvent } from './frames.js'
import type { EventFault } from './listeners.js'
import { createSubscriber, pieceLength, type Gap, type Piece, type Sink, type Subscriber } from './subscriber.js'
import type { Window } from './window.js'

/** What a sink holds of its place on the bus. */
export type Subscription = Pick<Subscriber, 'live' | 'catchUp' | 'leave'>
export interface View {
  readonly filter?: EventFilter
  readonly cursor?: bigint
}

export interface FanOutOptions {
  readonly window: Window
  readonly ids: IdSpace
  readonly frames: Frames
  readonly onFault: (fault: EventFault) => void
}
export interface FanOut {
  readonly size: number
  readonly gaps: number
  /** Events that slow subscribers lost. */
  readonly lagged: number
  push(event: WindowEvent): void
  /** Writes what was published in this turn now. */
  flush(): void
  subscribe(sink: Sink, view: View): Subscription
}

export const createFanOut = ({ window, ids, frames, onFault }: FanOutOptions): FanOut => {
  const subscribers = new Set<Subscriber>()
  const channels = createChannels()
  const batch = createBatch({ window, channels, frames })
  let gaps = 0
  let lagged = 0
  const onGap = ({ reason, skipped }: Gap): void => {
    gaps += 1
    if (reason === 'live_lag') lagged += skipped
  }
  const subscribe = (sink: Sink, { filter, cursor }: View): Subscription => {
    const subscriber: Subscriber = createSubscriber({
      sink,
      filter,
      window,
      ids,
      frames,
      onGap,
      setLive: (live) => channels.set(channelOf(filter), subscriber, live),
      onFault: (error) => {
        subscribers.delete(subscriber)
        onFault({ owner: 'core', event: 'stream', error })
      },
    })
    subscribers.add(subscriber)
    subscriber.start(cursor)
    subscriber.catchUp()
    return {
      get live() {
        return subscriber.live
      },
      catchUp: subscriber.catchUp,
      leave: () => {
        subscribers.delete(subscriber)
        subscriber.leave()
      },
    }
  }
  return {
    get size() {
      return subscribers.size
    },
    get gaps() {
      return gaps
    },
    get lagged() {
      return lagged
    },
    push: (event) => batch.push(event, subscribers.size > 0),
    flush: batch.flush,
    subscribe,
  }
}

const channelOf = (filter: EventFilter | undefined): string => {
  if (filter === undefined) return ''
  const { scope, id, within } = filter
  return within === undefined ? `${scope}\n${id}` : `${scope}\n${id}\n${within.scope}\n${within.id}`
}

/** Live subscribers by view. */
interface Channels {
  set(channel: string, subscriber: Subscriber, live: boolean): void
  has(channel: string): boolean
  /** Somebody follows less than everything. */
  readonly filtered: boolean
  subscribers(channel: string): readonly Subscriber[]
}
const createChannels = (): Channels => {
  const members = new Map<string, Set<Subscriber>>()
  return {
    set(channel, subscriber, live) {
      const subscribers = members.get(channel) ?? new Set<Subscriber>()
      if (live) members.set(channel, subscribers.add(subscriber))
      else if (subscribers.delete(subscriber) && subscribers.size === 0) members.delete(channel)
    },
    has: (channel) => members.has(channel),
    get filtered() {
      return members.size > (members.has('') ? 1 : 0)
    },
    subscribers: (channel) => Array.from(members.get(channel) ?? []),
  }
}

/** Gathers the events of one turn, then hands each view its bytes. */
const createBatch = ({ window, channels, frames }: { window: Window; channels: Channels; frames: Frames }) => {
  let pending: WindowEvent[] = []
  let flushed = 0
  const flush = (): void => {
    if (pending.length === 0) return
    const [events, from] = [pending, flushed]
    pending = []
    flushed = window.newest
    const groups = groupByChannel(events, channels, frames)
    for (const [channel, group] of groups) {
      const pieces = cutPieces(group, frames)
      for (const subscriber of channels.subscribers(channel)) subscriber.deliver(from, pieces)
    }
    letGo(events)
  }
  return {
    flush,
    push(event: WindowEvent, wanted: boolean): void {
      if (!wanted) {
        letGo(pending)
        pending = []
        flushed = event.counter
        return
      }
      event.lent += 1
      if (pending.push(event) === 1) setImmediate(flush)
    },
  }
}

const letGo = (events: readonly WindowEvent[]): void => {
  for (const event of events) event.lent -= 1
}

/** The events of each view that somebody follows; their frames are made in the order of the events. */
const groupByChannel = (
  events: readonly WindowEvent[],
  channels: Channels,
  frames: Frames,
): Map<string, WindowEvent[]> => {
  const groups = new Map<string, WindowEvent[]>()
  const add = (channel: string, event: WindowEvent): void => {
    if (!channels.has(channel)) return
    frames.make(event)
    const group = groups.get(channel)
    if (group === undefined) groups.set(channel, [event])
    else group.push(event)
  }
  for (const event of events) {
    add('', event)
    if (!channels.filtered) continue
    for (const scope in event.keys) {
      const channel = `${scope}\n${event.keys[scope]}`
      add(channel, event)
      for (const other in event.keys) if (other !== scope) add(`${channel}\n${other}\n${event.keys[other]}`, event)
    }
  }
  return groups
}

const cutPieces = (events: readonly WindowEvent[], frames: Frames): Piece[] => {
  const pieces: Piece[] = []
  let [from, size] = [0, 0]
  let index = -1
  for (const event of events) {
    index += 1
    size += frames.make(event)
    const whole = size >= pieceLength || index === events.length - 1
    if (!whole || size === 0) continue
    pieces.push({ bytes: joinFrames(events.slice(from, index + 1), size), last: event.counter })
    from = index + 1
    size = 0
  }
  return pieces
}
