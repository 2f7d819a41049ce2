/** What one client is still to be sent of deltas: joined until its tick, and lost before anything that is kept. */
import type { DeltaLoss, EventKeys } from './contract.js'
import type { Sink } from './subscriber.js'

/** A text, as far as those who follow it need to know. */
export interface DeltaText {
  readonly keys: EventKeys
  /** The frame of a piece; empty if its data could not be made. */
  frame(kind: string, text: string): string
  /** The frame that tells of a loss. */
  lossFrame(loss: Missed): string
}

interface Pending {
  readonly of: DeltaText
  readonly kind: string
  text: string
  count: number
}
type Missed = Omit<DeltaLoss, 'timestamp_ms'>

export interface DeltaFollower {
  /** When it is to be flushed; kept by the ticks. */
  due: 'soon' | 'later' | undefined
  /** UTF-16 code units that wait. */
  readonly chars: number
  /** Monotonic ms of the last write. */
  readonly wroteAt: number
  has(of: DeltaText): boolean
  add(of: DeltaText, kind: string, text: string): void
  /** Tells of what was said before, in front of what comes next. */
  miss(of: DeltaText, said: Missed): void
  /** Writes what waits in one go, or loses it if the client has not taken what it was sent before. */
  flush(elapsed: number): void
  /** Forgets what waits: the client has gone. */
  drop(): void
}

/** Texts whose losses one client is told of; of more, the oldest are forgotten. */
const mostLosses = 1_000

export interface DeltaFollowerParts {
  readonly sink: Sink
  /** False while the client is served from the replay window: deltas would overtake older events. */
  readonly live: () => boolean
  readonly encode: (text: string) => Uint8Array
  /** The sink threw. */
  readonly onFault: (error: unknown) => void
}

export const createDeltaFollower = ({ sink, live, encode, onFault }: DeltaFollowerParts): DeltaFollower => {
  let pending: Pending[] = []
  /** The newest piece of each text. */
  const newest = new Map<DeltaText, Pending>()
  const losses = new Map<string, Missed & { readonly of: DeltaText }>()
  let chars = 0
  let wroteAt = -Infinity

  const take = (): Pending[] => {
    const taken = pending
    pending = []
    newest.clear()
    chars = 0
    return taken
  }
  const miss = (of: DeltaText, { count, chars: missed }: Missed): void => {
    const key = JSON.stringify(of.keys)
    const known = losses.get(key) ?? { of, count: 0, chars: 0 }
    losses.set(key, { of: known.of, count: known.count + count, chars: known.chars + missed })
    if (losses.size <= mostLosses) return
    for (const oldest of losses.keys()) return void losses.delete(oldest)
  }
  const lose = ({ of, count, text }: Pending): void => miss(of, { count, chars: text.length })
  const tellLosses = (): string => {
    let text = ''
    for (const { of, ...loss } of losses.values()) text += of.lossFrame(loss)
    losses.clear()
    return text
  }
  return {
    due: undefined,
    drop: () => {
      take()
      losses.clear()
    },
    get chars() {
      return chars
    },
    get wroteAt() {
      return wroteAt
    },
    has: (of) => newest.has(of),
    miss,
    add(of, kind, text) {
      chars += text.length
      const last = newest.get(of)
      if (last?.kind === kind) {
        last.text += text
        last.count += 1
        return
      }
      const piece = { of, kind, text, count: 1 }
      newest.set(of, piece)
      pending.push(piece)
    },
    flush(elapsed) {
      if (pending.length === 0 && losses.size === 0) return
      const pieces = take()
      if (!live() || !sink.roomy()) return pieces.forEach(lose)
      wroteAt = elapsed
      let text = losses.size > 0 ? tellLosses() : ''
      for (const { of, kind, text: said } of pieces) text += of.frame(kind, said)
      try {
        if (text !== '') sink.write(encode(text))
      } catch (error) {
        onFault(error)
      }
    },
  }
}
