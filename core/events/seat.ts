/** One follower's place: live on the shared path, or fed on its own from the replay window until it has caught up. */
import type { EventFilter } from './contract.js'
import type { IdSpace } from './epoch.js'
import type { Frames } from './frames.js'
import { carries, type Window } from './window.js'

/** Where frames go: a socket. */
export interface Reader {
  /** False when it holds as much unsent text as it may; then `Follower.resume` is called when it has drained. */
  ready(): boolean
  write(frames: Uint8Array): void
}

/** Data of a `stream_gap` frame. Contract 1, "Events", rule 3. */
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

/** Largest text written at once, in characters. */
export const pieceLength = 65_536
export const encoder = new TextEncoder()

export interface SeatParts {
  readonly reader: Reader
  readonly filter: EventFilter | undefined
  readonly window: Window
  readonly ids: IdSpace
  readonly frames: Frames
  /** Joins or leaves the shared path. */
  readonly setLive: (live: boolean) => void
  readonly onGap: (gap: Gap) => void
  /** The reader threw. */
  readonly onFault: (error: unknown) => void
}

export interface Seat {
  /** Places the seat after a cursor; says so if that cannot be had any more. */
  enter(cursor: bigint | undefined): void
  /** Feeds the reader from the window until it has everything, or is full. No effect while live. */
  pump(): void
  /** Takes a batch of the shared path whose events follow `from`. */
  feed(from: number, pieces: readonly Piece[]): void
  leave(): void
}

interface Place extends SeatParts {
  /** Counter of the last event that is dealt with; not kept while live. */
  position: number
  state: 'behind' | 'live' | 'gone'
  /** Losses before the first pause are of the replay; later ones are the reader's own slowness. */
  settled: boolean
}

export const createSeat = (parts: SeatParts): Seat => {
  const place: Place = { ...parts, position: parts.window.newest, state: 'behind', settled: false }
  return {
    enter: (cursor) => enter(place, cursor),
    pump: () => pump(place),
    feed(from, pieces) {
      const done = writePieces(place, from, pieces)
      if (place.state !== 'live' || done === pieces.at(-1)?.last) return
      become(place, 'behind')
      place.position = done
      pump(place)
    },
    leave: () => become(place, 'gone'),
  }
}

const become = (place: Place, next: Place['state']): void => {
  const before = place.state
  place.state = next
  if ((before === 'live') !== (next === 'live')) place.setLive(next === 'live')
}

const write = (place: Place, bytes: Uint8Array): void => {
  try {
    place.reader.write(bytes)
  } catch (error) {
    become(place, 'gone')
    place.onFault(error)
  }
}

const writeGap = (place: Place, gap: Pick<Gap, 'skipped' | 'reason' | 'skipped_is_estimate'>): void => {
  const data: Gap = {
    type: 'stream_gap',
    ...gap,
    resume_after_id: place.ids.id(place.position),
    scope: place.filter?.scope ?? 'global',
  }
  place.onGap(data)
  write(place, encoder.encode(`event: stream_gap\nid: ${data.resume_after_id}\ndata: ${JSON.stringify(data)}\n\n`))
}

const enter = (place: Place, cursor: bigint | undefined): void => {
  if (cursor === undefined) return
  const { window, ids, filter } = place
  const found = ids.locate(cursor, window.newest)
  place.position = found === 'before' ? window.oldest - 1 : found
  if (found === 'before' && cursor !== 0n)
    writeGap(place, {
      skipped: Math.max(1, window.loss(0, filter).skipped),
      reason: 'restart_epoch',
      skipped_is_estimate: true,
    })
}

const pump = (place: Place): void => {
  while (place.state === 'behind' && place.reader.ready()) {
    skipLost(place)
    if (place.position < place.window.newest) deliver(place)
    else if (place.state === 'behind') become(place, 'live')
  }
  place.settled = true
}

/** Passes over what the window has lost, and says so unless nothing of it concerned this view. */
const skipLost = (place: Place): void => {
  const { window, position, filter, settled } = place
  if (position >= window.oldest - 1) return
  const { skipped, estimate } = window.loss(position, filter)
  place.position = window.oldest - 1
  if (skipped > 0)
    writeGap(place, { skipped, reason: settled ? 'live_lag' : 'replay_window', skipped_is_estimate: estimate })
}

const deliver = (place: Place): void => {
  const { text, last } = collect(place)
  place.position = last
  if (text !== '' && place.state === 'behind') write(place, encoder.encode(text))
}

/** Writes the pieces that the reader has room for; returns the last event dealt with. */
const writePieces = (place: Place, from: number, pieces: readonly Piece[]): number => {
  // A seat that joined in the middle of this batch has a part of it already and goes on alone.
  if (place.position > from) return place.position
  let done = from
  for (const piece of pieces) {
    if (place.state !== 'live' || !place.reader.ready()) break
    write(place, piece.bytes)
    done = piece.last
  }
  return done
}

const collect = ({ window, frames, position, filter }: Place): { text: string; last: number } => {
  let text = ''
  let last = position
  while (last < window.newest && text.length < pieceLength) {
    last += 1
    const event = window.at(last)
    if (event !== undefined && carries(event.keys, filter)) text += frames.frame(event)
  }
  return { text, last }
}
