/** One client of an event stream: live on the shared path, or served from the replay window until it has caught up. */
import { joinFrames } from './chunks.js'
import type { EventFilter } from './contract.js'
import type { IdSpace } from './epoch.js'
import type { Frames, WindowEvent } from './frames.js'
import { carries, type Window } from './window.js'

/** Where frames go: a socket. */
export interface Sink {
  /** False when it holds as much unsent text as it may; then `Subscriber.catchUp` is called when it has drained. */
  ready(): boolean
  /** False when unsent text waits that is worth more than deltas. */
  roomy(): boolean
  write(frames: Uint8Array): void
}

/** Data of a `stream_gap` frame (events-11). */
export interface Gap {
  readonly type: 'stream_gap'
  readonly skipped: number
  readonly resume_after_id: string
  readonly reason: 'restart_epoch' | 'replay_window' | 'live_lag'
  readonly scope: string
  readonly skipped_is_estimate: boolean
}

/** A part of a batch, up to and with the event `last`. */
export interface Piece {
  readonly bytes: Uint8Array
  readonly last: number
}

/** Frames are gathered up to this many bytes, then written. */
export const pieceLength = 65_536
const encoder = new TextEncoder()

export interface SubscriberParts {
  readonly sink: Sink
  readonly filter: EventFilter | undefined
  readonly window: Window
  readonly ids: IdSpace
  readonly frames: Frames
  /** Joins or leaves the shared path. */
  readonly setLive: (live: boolean) => void
  readonly onGap: (gap: Gap) => void
  /** The sink threw. */
  readonly onFault: (error: unknown) => void
}

export interface Subscriber {
  /** It has everything that was published before this turn of the event loop. */
  readonly live: boolean
  /** Begins after a cursor; says so if that cannot be had any more. */
  start(cursor: bigint | undefined): void
  /** Writes from the window until the sink has everything, or is full. No effect while live. */
  catchUp(): void
  /** Takes a batch of the shared path whose events follow `from`. */
  deliver(from: number, pieces: readonly Piece[]): void
  leave(): void
}

interface SubscriberState extends SubscriberParts {
  /** Counter of the last event that is dealt with; not kept while live. */
  position: number
  phase: 'behind' | 'live' | 'gone'
  /** Losses before the first pause are of the replay; later ones are the sink's own slowness. */
  replayed: boolean
}

export const createSubscriber = (parts: SubscriberParts): Subscriber => {
  const subscriber: SubscriberState = { ...parts, position: parts.window.newest, phase: 'behind', replayed: false }
  return {
    get live() {
      return subscriber.phase === 'live'
    },
    start: (cursor) => start(subscriber, cursor),
    catchUp: () => catchUp(subscriber),
    deliver(from, pieces) {
      const done = writePieces(subscriber, from, pieces)
      if (subscriber.phase !== 'live' || done === pieces.at(-1)?.last) return
      become(subscriber, 'behind')
      subscriber.position = done
      catchUp(subscriber)
    },
    leave: () => become(subscriber, 'gone'),
  }
}

const become = (subscriber: SubscriberState, next: SubscriberState['phase']): void => {
  const before = subscriber.phase
  subscriber.phase = next
  if ((before === 'live') !== (next === 'live')) subscriber.setLive(next === 'live')
}

const write = (subscriber: SubscriberState, bytes: Uint8Array): void => {
  try {
    subscriber.sink.write(bytes)
  } catch (error) {
    become(subscriber, 'gone')
    subscriber.onFault(error)
  }
}

const writeGap = (subscriber: SubscriberState, gap: Pick<Gap, 'skipped' | 'reason' | 'skipped_is_estimate'>): void => {
  const data: Gap = {
    type: 'stream_gap',
    ...gap,
    resume_after_id: subscriber.ids.id(subscriber.position),
    scope: subscriber.filter?.scope ?? 'global',
  }
  subscriber.onGap(data)
  write(subscriber, encoder.encode(`event: stream_gap\nid: ${data.resume_after_id}\ndata: ${JSON.stringify(data)}\n\n`))
}

const start = (subscriber: SubscriberState, cursor: bigint | undefined): void => {
  if (cursor === undefined) return
  const { window, ids, filter } = subscriber
  const found = ids.locate(cursor, window.newest)
  subscriber.position = found === 'before' ? window.oldest - 1 : found
  if (found === 'before' && cursor !== 0n)
    writeGap(subscriber, {
      skipped: Math.max(1, window.loss(0, filter).skipped),
      reason: 'restart_epoch',
      skipped_is_estimate: true,
    })
}

const catchUp = (subscriber: SubscriberState): void => {
  while (subscriber.phase === 'behind' && subscriber.sink.ready()) {
    skipLost(subscriber)
    if (subscriber.position < subscriber.window.newest) writeNext(subscriber)
    else if (subscriber.phase === 'behind') become(subscriber, 'live')
  }
  subscriber.replayed = true
}

/** Passes over what the window has lost, and says so unless nothing of it concerned this view. */
const skipLost = (subscriber: SubscriberState): void => {
  const { window, position, filter, replayed } = subscriber
  if (position >= window.oldest - 1) return
  const { skipped, estimate } = window.loss(position, filter)
  subscriber.position = window.oldest - 1
  if (skipped > 0)
    writeGap(subscriber, { skipped, reason: replayed ? 'live_lag' : 'replay_window', skipped_is_estimate: estimate })
}

const writeNext = (subscriber: SubscriberState): void => {
  const { bytes, last } = collect(subscriber)
  subscriber.position = last
  if (bytes.length > 0 && subscriber.phase === 'behind') write(subscriber, bytes)
}

/** Writes the pieces that the sink has room for; returns the last event dealt with. */
const writePieces = (subscriber: SubscriberState, from: number, pieces: readonly Piece[]): number => {
  // A subscriber that joined in the middle of this batch has a part of it already and goes on alone.
  if (subscriber.position > from) return subscriber.position
  let done = from
  for (const piece of pieces) {
    if (subscriber.phase !== 'live' || !subscriber.sink.ready()) break
    write(subscriber, piece.bytes)
    done = piece.last
  }
  return done
}

const collect = ({ window, frames, position, filter }: SubscriberState): { bytes: Uint8Array; last: number } => {
  const events: WindowEvent[] = []
  let size = 0
  let last = position
  while (last < window.newest && size < pieceLength) {
    last += 1
    const event = window.at(last)
    if (event === undefined || !carries(event.keys, filter)) continue
    events.push(event)
    event.lent += 1
    size += frames.make(event)
  }
  const bytes = joinFrames(events, size)
  for (const event of events) event.lent -= 1
  return { bytes, last }
}
