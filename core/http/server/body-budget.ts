/**
 * The bytes of request bodies that are in flight: received, or still needed by their handlers. What does not fit waits
 * in order, for a while. Large bodies have a share, so that small ones never wait behind them.
 */
import type { Clock } from '../../base/clock.js'

export interface BodyLimits {
  /** Bytes of all bodies together; one body alone may be larger. */
  readonly bodyBytes: number
  /** Ms that a body waits for its turn. */
  readonly bodyWait: number
  /** Ms in which 64 KiB of a large body must come. */
  readonly bodyStall: number
}

/** What one request holds. */
export interface Hold {
  /** Takes more; a promise waits for its turn. False: its time is over, or what it is for has ended. */
  take(bytes: number): true | Promise<boolean>
  /** Gives everything back. Called again it does nothing. */
  end(): void
}

export interface BodyBudget {
  open(kind: 'small' | 'large'): Hold
  /** Bytes that are held now. */
  readonly bytes: number
}

interface Waiting {
  readonly owner: object
  readonly bytes: number
  readonly settle: (taken: boolean) => void
}
/** Bodies of one kind: together they hold at most `most`. */
interface Class {
  readonly most: number
  held: number
  readonly line: Set<Waiting>
}

/** Of all bytes, what large bodies may hold together. */
const largeShare = 0.75

export const createBodyBudget = ({
  clock,
  bodyBytes,
  bodyWait,
}: Omit<BodyLimits, 'bodyStall'> & { clock: Clock }): BodyBudget => {
  const classes = {
    small: { most: bodyBytes, held: 0, line: new Set<Waiting>() },
    large: { most: bodyBytes * largeShare, held: 0, line: new Set<Waiting>() },
  }
  const all = [classes.small, classes.large]
  const held = (): number => classes.small.held + classes.large.held
  const fits = (of: Class, bytes: number): boolean =>
    of.held === 0 || (of.held + bytes <= of.most && held() + bytes <= bodyBytes)
  const admit = (): void => {
    for (const of of all)
      for (const waiting of of.line) {
        if (!fits(of, waiting.bytes)) break
        of.held += waiting.bytes
        waiting.settle(true)
      }
  }
  const wait = (of: Class, owner: object, bytes: number): Promise<boolean> =>
    new Promise((resolve) => {
      const waiting: Waiting = {
        owner,
        bytes,
        settle: (taken) => {
          cancel()
          of.line.delete(waiting)
          resolve(taken)
        },
      }
      const cancel = clock.after(bodyWait, () => {
        waiting.settle(false)
        admit()
      })
      of.line.add(waiting)
    })
  const open = (of: Class): Hold => {
    const owner = {}
    let own = 0
    let ended = false
    const took = (bytes: number): boolean => {
      own += bytes
      // Whoever has gone while it waited takes nothing along.
      if (ended) end()
      return !ended
    }
    const end = (): void => {
      ended = true
      of.held -= own
      own = 0
      for (const waiting of of.line) if (waiting.owner === owner) waiting.settle(false)
      admit()
    }
    return {
      take: (bytes) => {
        if (of.line.size > 0 || !fits(of, bytes)) return wait(of, owner, bytes).then((taken) => taken && took(bytes))
        of.held += bytes
        own += bytes
        return true
      },
      end,
    }
  }
  return {
    open: (kind) => open(classes[kind]),
    get bytes() {
      return held()
    },
  }
}
