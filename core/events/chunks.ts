/**
 * The bytes of the frames of the window, outside the heap that is searched for garbage: one behind another in chunks,
 * in the order of the events. A chunk is filled again when its newest event has left the window, so what is published
 * leaves nothing behind. Beyond the bytes of its events the store holds at most an eighth, two chunks and the spare
 * ones.
 */

/** Where an event's frame is. */
export interface Framed {
  /** Position in this epoch: 1, 2, 3 … */
  readonly counter: number
  /** The chunk, or bytes of its own; undefined while there is no frame. */
  frame: Buffer | undefined
  start: number
  end: number
  /** How many beside the window may still ask for the frame. */
  lent: number
}

export interface Chunks {
  /** Room for a frame of this size; the caller fills it. */
  place(event: Framed, size: number): Buffer
  /** The oldest event leaves the window. Its frame is lost, unless it is lent. */
  release(event: Framed): void
}

const chunkBytes = 65_536
/** A larger frame has bytes of its own: less than that is left empty at the end of a chunk. */
const mostShared = chunkBytes / 8
/** Chunks kept for later: what is published in one turn leaves at once, before its successors are framed. */
const mostSpare = 8

interface Chunk {
  readonly bytes: Buffer
  used: number
  /** Counter of its newest event. */
  newest: number
}

export const createChunks = (): Chunks => {
  /** Oldest first; the last one is being filled. */
  const chunks: Chunk[] = []
  const spare: Buffer[] = []
  let filling: Chunk | undefined
  let gone = 0

  const begin = (): Chunk => {
    filling = { bytes: spare.pop() ?? Buffer.allocUnsafeSlow(chunkBytes), used: 0, newest: 0 }
    chunks.push(filling)
    return filling
  }
  /** What comes late, behind newer events or when the window has let go, would keep a chunk from being filled again. */
  const isShared = ({ counter }: Framed, size: number): boolean =>
    size <= mostShared && counter > gone && (filling === undefined || counter > filling.newest)
  const recycle = (oldest: Chunk): void => {
    chunks.shift()
    if (oldest === filling) filling = undefined
    if (spare.length < mostSpare) spare.push(oldest.bytes)
  }
  return {
    place(event, size) {
      event.start = 0
      event.end = size
      if (!isShared(event, size)) return (event.frame = Buffer.allocUnsafeSlow(size))
      const chunk = filling === undefined || filling.used + size > chunkBytes ? begin() : filling
      event.start = chunk.used
      event.end = chunk.used += size
      chunk.newest = event.counter
      return (event.frame = chunk.bytes)
    },
    release(event) {
      gone = event.counter
      const { frame, start, end } = event
      if (frame !== undefined && event.lent > 0 && end - start < frame.length) {
        event.frame = Buffer.from(frame.subarray(start, end))
        event.start = 0
        event.end = end - start
      }
      const oldest = chunks[0]
      if (oldest !== undefined && oldest.newest <= gone) recycle(oldest)
    },
  }
}

/** Copies frames that have been made into one buffer of this size; neighbours at once. */
export const joinFrames = (events: readonly Framed[], size: number): Buffer => {
  const joined = Buffer.allocUnsafe(size)
  let at = 0
  for (let index = 0; index < events.length;) {
    const { frame, start } = events[index] ?? {}
    let end = events[index]?.end
    for (index += 1; frame !== undefined && events[index]?.frame === frame && events[index]?.start === end; index += 1)
      end = events[index]?.end
    at += frame?.copy(joined, at, start, end) ?? 0
  }
  return joined
}
