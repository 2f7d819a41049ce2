/**
 * Followers of the bus. What is published in one turn of the event loop is
 * joined into one text for each view, made once and written to all its
 * readers. A reader that cannot keep up leaves the shared path and is fed from
 * the replay window when it drains; only what the window has lost is a gap.
 */
import type { EventFilter } from './contract.js'
import type { IdSpace } from './epoch.js'
import type { EventFault } from './listeners.js'
import { carries } from './window.js'
import type { Window, WindowEvent } from './window.js'

/** Where frames go: a socket. */
export interface Reader {
  /** False when it holds as much unsent text as it may; then `Follower.resume` is called when it has drained. */
  ready(): boolean
  write(frames: Uint8Array): void
}
export interface Follower {
  /** Continues after the reader has drained. */
  resume(): void
  leave(): void
}

/** Data of a `stream_gap` frame. Contract 1, "Events", rule 3. */
export interface Gap {
  readonly type: 'stream_gap'
  readonly skipped: number
  readonly resume_after_id?: string
  readonly reason: 'restart_epoch' | 'replay_window' | 'live_lag'
  readonly scope: string
  readonly skipped_is_estimate: boolean
}

interface Seat {
  readonly reader: Reader
  readonly filter: EventFilter | undefined
  /** Counter of the last event that is dealt with; not kept while live. */
  position: number
  /** Live seats are written to by `flush`. */
  live: boolean
  gone: boolean
  /** Gaps met from now on are the reader's own slowness. */
  settled: boolean
}

/** A part of a batch, up to and with the event `last`. */
interface Piece { readonly bytes: Uint8Array; readonly last: number }

/** Largest text written at once, in characters. */
const pieceLength = 65_536
const encoder = new TextEncoder()
const channelOf = (filter: EventFilter | undefined): string => (filter === undefined ? '' : `${filter.scope}\n${filter.id}`)

export interface FanOutOptions { readonly window: Window; readonly ids: IdSpace; readonly onFault: (fault: EventFault) => void }
export interface FanOut {
  readonly size: number
  readonly gaps: number
  readonly lagged: number
  push(event: WindowEvent): void
  follow(reader: Reader, view: { readonly filter?: EventFilter; readonly cursor?: bigint }): Follower
}

export const createFanOut = ({ window, ids, onFault }: FanOutOptions): FanOut => {
  const seats = new Set<Seat>()
  const channels = new Map<string, Set<Seat>>()
  let pending: WindowEvent[] = []
  let flushed = 0
  let gaps = 0
  let lagged = 0

  const setLive = (seat: Seat): void => {
    const channel = channelOf(seat.filter)
    const members = channels.get(channel) ?? new Set<Seat>()
    channels.set(channel, members.add(seat))
    seat.live = true
  }
  const unsetLive = (seat: Seat): void => {
    const channel = channelOf(seat.filter)
    const members = channels.get(channel)
    members?.delete(seat)
    if (members?.size === 0) channels.delete(channel)
    seat.live = false
  }
  const leave = (seat: Seat): void => {
    seat.gone = true
    seats.delete(seat)
    if (seat.live) unsetLive(seat)
  }
  const write = (seat: Seat, text: Uint8Array): void => {
    try {
      seat.reader.write(text)
    } catch (error) {
      leave(seat)
      onFault({ owner: 'core', event: 'stream', error })
    }
  }
  const writeGap = (seat: Seat, gap: Omit<Gap, 'type' | 'scope'>): void => {
    const { resume_after_id: id } = gap
    const data: Gap = { type: 'stream_gap', ...gap, scope: seat.filter?.scope ?? 'global' }
    gaps += 1
    if (gap.reason === 'live_lag') lagged += gap.skipped
    write(seat, encoder.encode(`event: stream_gap\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`))
  }
  /** Skips what the window has lost, and says so unless nothing of it concerned this view. */
  const skipLost = (seat: Seat): void => {
    const { skipped, estimate } = window.loss(seat.position, seat.filter)
    if (seat.position >= window.oldest - 1) return
    seat.position = window.oldest - 1
    const reason = seat.settled ? 'live_lag' : 'replay_window'
    if (skipped > 0) writeGap(seat, { skipped, resume_after_id: ids.id(seat.position), reason, skipped_is_estimate: estimate })
  }
  /** Feeds one reader from the window until it has everything, or is full. */
  const pump = (seat: Seat): void => {
    while (!seat.gone && seat.reader.ready()) {
      skipLost(seat)
      if (seat.gone) return
      if (seat.position >= window.newest) {
        seat.settled = true
        return setLive(seat)
      }
      const { text, last } = collect(window, seat)
      seat.position = last
      if (text !== '') write(seat, encoder.encode(text))
    }
    seat.settled = true
  }

  const feedLive = (seat: Seat, from: number, pieces: readonly Piece[]): void => {
    // A seat that joined in the middle of this batch has a part of it already.
    const joined = seat.position > from
    let done = Math.max(seat.position, from)
    for (const piece of pieces) {
      if (joined || seat.gone || !seat.reader.ready()) break
      write(seat, piece.bytes)
      done = piece.last
    }
    if (seat.gone || done === pieces.at(-1)?.last) return
    unsetLive(seat)
    seat.position = done
    pump(seat)
  }
  const flush = (): void => {
    const events = pending
    const from = flushed
    pending = []
    flushed = window.newest
    if (channels.size === 0) return
    for (const [channel, batch] of groupByChannel(events, channels)) {
      const pieces = encodePieces(batch)
      for (const seat of Array.from(channels.get(channel) ?? [])) feedLive(seat, from, pieces)
    }
  }
  return {
    get size() { return seats.size },
    get gaps() { return gaps },
    get lagged() { return lagged },
    push(event) {
      if (seats.size === 0) {
        pending = []
        flushed = event.counter
        return
      }
      if (pending.push(event) === 1) setImmediate(flush)
    },
    follow(reader, { filter, cursor }) {
      const seat: Seat = { reader, filter, position: window.newest, live: false, gone: false, settled: false }
      seats.add(seat)
      enter(seat, cursor)
      pump(seat)
      return { resume: () => { if (!seat.live) pump(seat) }, leave: () => leave(seat) }
    },
  }

  function enter(seat: Seat, cursor: bigint | undefined): void {
    if (cursor === undefined) return
    const place = ids.locate(cursor, window.newest)
    if (place !== 'before') { seat.position = place; return }
    const { skipped } = window.loss(0, seat.filter)
    seat.position = window.oldest - 1
    if (cursor === 0n) return
    writeGap(seat, { skipped: Math.max(1, skipped), resume_after_id: ids.id(seat.position), reason: 'restart_epoch', skipped_is_estimate: true })
  }
}

const collect = (window: Window, seat: Seat): { text: string; last: number } => {
  let text = ''
  let last = seat.position
  while (last < window.newest && text.length < pieceLength) {
    last += 1
    const event = window.at(last)
    if (event !== undefined && carries(event.keys, seat.filter)) text += event.frame()
  }
  return { text, last }
}

/** The events of each view that somebody follows. */
const groupByChannel = (events: readonly WindowEvent[], channels: ReadonlyMap<string, unknown>): Map<string, WindowEvent[]> => {
  const groups = new Map<string, WindowEvent[]>()
  const add = (channel: string, event: WindowEvent): void => {
    if (!channels.has(channel)) return
    const group = groups.get(channel)
    if (group === undefined) groups.set(channel, [event])
    else group.push(event)
  }
  for (const event of events) {
    add('', event)
    for (const scope in event.keys) add(`${scope}\n${event.keys[scope]}`, event)
  }
  return groups
}

const encodePieces = (events: readonly WindowEvent[]): Piece[] => {
  const pieces: Piece[] = []
  let text = ''
  for (const [index, event] of events.entries()) {
    text += event.frame()
    const full = text.length >= pieceLength || index === events.length - 1
    if (!full || text === '') continue
    pieces.push({ bytes: encoder.encode(text), last: event.counter })
    text = ''
  }
  return pieces
}
