/**
 * Followers of the bus. What is published in one turn of the event loop is
 * joined into one text for each view, made once and written to all its
 * readers. A reader that cannot keep up leaves the shared path and is fed from
 * the replay window when it drains; only what the window has lost is a gap.
 */
import type { EventFilter } from './contract.js'
import type { IdSpace } from './epoch.js'
import type { Frames, WindowEvent } from './frames.js'
import type { EventFault } from './listeners.js'
import { createSeat, encoder, pieceLength, type Gap, type Piece, type Reader, type Seat } from './seat.js'
import type { Window } from './window.js'

export interface Follower {
  /** Continues after the reader has drained. */
  resume(): void
  leave(): void
}
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
  /** Events that slow readers lost. */
  readonly lagged: number
  push(event: WindowEvent): void
  follow(reader: Reader, view: View): Follower
}

export const createFanOut = ({ window, ids, frames, onFault }: FanOutOptions): FanOut => {
  const seats = new Set<Seat>()
  const channels = createChannels()
  const batch = createBatch({ window, channels, frames })
  let gaps = 0
  let lagged = 0
  const onGap = ({ reason, skipped }: Gap): void => {
    gaps += 1
    if (reason === 'live_lag') lagged += skipped
  }
  const follow = (reader: Reader, { filter, cursor }: View): Follower => {
    const seat: Seat = createSeat({
      reader,
      filter,
      window,
      ids,
      frames,
      onGap,
      setLive: (live) => channels.set(channelOf(filter), seat, live),
      onFault: (error) => {
        seats.delete(seat)
        onFault({ owner: 'core', event: 'stream', error })
      },
    })
    seats.add(seat)
    seat.enter(cursor)
    seat.pump()
    return {
      resume: seat.pump,
      leave: () => {
        seats.delete(seat)
        seat.leave()
      },
    }
  }
  return {
    get size() {
      return seats.size
    },
    get gaps() {
      return gaps
    },
    get lagged() {
      return lagged
    },
    push: (event) => batch.push(event, seats.size > 0),
    follow,
  }
}

const channelOf = (filter: EventFilter | undefined): string => {
  if (filter === undefined) return ''
  const { scope, id, within } = filter
  return within === undefined ? `${scope}\n${id}` : `${scope}\n${id}\n${within.scope}\n${within.id}`
}

/** Live seats by view. */
interface Channels {
  set(channel: string, seat: Seat, live: boolean): void
  has(channel: string): boolean
  /** Somebody follows less than everything. */
  readonly filtered: boolean
  seats(channel: string): readonly Seat[]
}
const createChannels = (): Channels => {
  const members = new Map<string, Set<Seat>>()
  return {
    set(channel, seat, live) {
      const seats = members.get(channel) ?? new Set<Seat>()
      if (live) members.set(channel, seats.add(seat))
      else if (seats.delete(seat) && seats.size === 0) members.delete(channel)
    },
    has: (channel) => members.has(channel),
    get filtered() {
      return members.size > (members.has('') ? 1 : 0)
    },
    seats: (channel) => Array.from(members.get(channel) ?? []),
  }
}

/** Gathers the events of one turn, then hands each view its text. */
const createBatch = ({ window, channels, frames }: { window: Window; channels: Channels; frames: Frames }) => {
  let pending: WindowEvent[] = []
  let flushed = 0
  const flush = (): void => {
    const [events, from] = [pending, flushed]
    pending = []
    flushed = window.newest
    for (const [channel, group] of groupByChannel(events, channels)) {
      const pieces = encodePieces(group, frames)
      for (const seat of channels.seats(channel)) seat.feed(from, pieces)
    }
  }
  return {
    push(event: WindowEvent, followed: boolean): void {
      if (!followed) {
        pending = []
        flushed = event.counter
      } else if (pending.push(event) === 1) setImmediate(flush)
    },
  }
}

/** The events of each view that somebody follows. */
const groupByChannel = (events: readonly WindowEvent[], channels: Channels): Map<string, WindowEvent[]> => {
  const groups = new Map<string, WindowEvent[]>()
  const add = (channel: string, event: WindowEvent): void => {
    if (!channels.has(channel)) return
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

const encodePieces = (events: readonly WindowEvent[], { frame }: Frames): Piece[] => {
  const pieces: Piece[] = []
  let text = ''
  for (const [index, event] of events.entries()) {
    text += frame(event)
    const whole = text.length >= pieceLength || index === events.length - 1
    if (!whole || text === '') continue
    pieces.push({ bytes: encoder.encode(text), last: event.counter })
    text = ''
  }
  return pieces
}
