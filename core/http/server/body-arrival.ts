/** How a body comes: whether it stalls, and what is still read of one that was refused. */
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../base/clock.js'

export interface Pace {
  readonly clock: Clock
  /** Ms. */
  readonly stall: number
}

/** How far a body has come. */
export interface Progress {
  size: number
  /** It is not read, because there is no room for more of it yet. */
  waits: boolean
  /** It was not read for a part of the time since the last look. */
  waited: boolean
}

/** Bytes of a body that must have come in the time of so many looks at it. */
const stallBytes = 64 * 1024
const looks = 5

/** A body that hardly comes must not keep others from their turn, nor its connection. */
export const watchStall = ({ clock, stall }: Pace, progress: Progress, stalled: () => void): (() => void) => {
  let sizes = [0]
  let cancel = (): void => {}
  const look = (): void => {
    if (progress.waited) sizes = []
    sizes.push(progress.size)
    if (sizes.length > looks && progress.size - (sizes.shift() ?? 0) < stallBytes) return stalled()
    progress.waited = progress.waits
    cancel = clock.after(stall / looks, look)
  }
  cancel = clock.after(stall / looks, look)
  return () => cancel()
}

/** Bytes of a refused body that are read: a few of the largest that any route takes. */
const mostDropped = 128 * 1024 * 1024

const rests = new WeakMap<IncomingMessage, Promise<void>>()

/**
 * Reads and drops the rest of a body that is refused: most clients read no answer before all of it is sent, and find a
 * broken connection where nobody takes it.
 */
export const dropRest = (request: IncomingMessage, pace: Pace): void => {
  const dropped = new Promise<void>((resolve) => {
    const progress: Progress = { size: 0, waits: false, waited: false }
    const end = (): void => {
      unwatch()
      request.off('data', count)
      request.resume()
      resolve()
    }
    const count = ({ length }: Uint8Array): void => {
      progress.size += length
      if (progress.size > mostDropped) end()
    }
    const unwatch = watchStall(pace, progress, end)
    request.on('data', count)
    for (const event of ['end', 'error', 'close']) request.once(event, end)
    request.resume()
  })
  rests.set(request, dropped)
}

/** Resolves when nothing more is read of a refused body: until then its connection stays. Undefined of any other. */
export const restOf = (request: IncomingMessage): Promise<void> | undefined => rests.get(request)
