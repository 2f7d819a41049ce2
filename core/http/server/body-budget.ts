/**
 * The bytes of request bodies that are in flight: received, or still needed by their handlers. They count as they come,
 * and what does not fit waits, for a while. Larger bodies have a share, so that smaller ones never wait behind them.
 */
import type { Clock } from '../../base/clock.js'

export interface BodyLimits {
  /** Bytes of all bodies together; of each kind one body may go beyond, so that there is one that comes to its end. */
  readonly bodyBytes: number
  /** Ms that a body waits for its turn, all its waits together. */
  readonly bodyWait: number
  /** Ms in which 64 KiB of a body must come, or what is left of it. */
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
  /** For a body of at most so many bytes. */
  open(most: number): Hold
  /** Bytes that are held now. */
  readonly bytes: number
}

/** A body that holds something, or waits to. */
interface Owner {
  /** Grows from body to body. */
  readonly no: number
  held: number
  /** Ms that it may still wait. */
  left: number
}
interface Waiting {
  readonly owner: Owner
  readonly bytes: number
  readonly settle: (taken: boolean) => void
}
interface Kind {
  /** The longest body of the kind. */
  readonly upto: number
  /** Bytes that bodies of this kind and longer ones may hold together. */
  readonly most: number
  held: number
  /** The one that has held something for the longest comes first. */
  readonly holders: Set<Owner>
  /** The oldest first: what has begun comes to its end before others begin. */
  line: readonly Waiting[]
}

const createKind = (upto: number, most: number): Kind => ({ upto, most, held: 0, holders: new Set(), line: [] })

export const createBodyBudget = ({
  clock,
  bodyBytes,
  bodyWait,
}: Omit<BodyLimits, 'bodyStall'> & { clock: Clock }): BodyBudget => {
  const tiny = createKind(64 * 1024, bodyBytes)
  const small = createKind(1024 * 1024, (bodyBytes / 8) * 7)
  const large = createKind(Infinity, (bodyBytes / 4) * 3)
  const kinds = [large, small, tiny]
  const hasRoom = (of: Kind, bytes: number): boolean => {
    let sum = bytes
    for (const kind of kinds) {
      sum += kind.held
      if (kind.upto <= of.upto && sum > kind.most) return false
    }
    return true
  }
  /** Whoever has begun first, or begins alone, goes on whatever there is. */
  const isFirst = ({ holders }: Kind, owner: Owner): boolean => (holders.values().next().value ?? owner) === owner
  const give = (of: Kind, owner: Owner, bytes: number): void => {
    of.held += bytes
    owner.held += bytes
    of.holders.add(owner)
  }
  const admit = (): void => {
    for (const of of kinds) {
      let isFull = false
      for (const { owner, bytes, settle } of of.line) {
        isFull ||= !hasRoom(of, bytes)
        if (isFull && !isFirst(of, owner)) continue
        give(of, owner, bytes)
        settle(true)
      }
    }
  }
  const wait = (of: Kind, owner: Owner, bytes: number): Promise<boolean> =>
    new Promise((resolve) => {
      const began = clock.elapsed()
      const settle = (taken: boolean): void => {
        cancel()
        owner.left -= clock.elapsed() - began
        of.line = of.line.filter((one) => one !== waiting)
        resolve(taken)
      }
      const waiting: Waiting = { owner, bytes, settle }
      const cancel = clock.after(Math.max(0, owner.left), () => {
        settle(false)
        admit()
      })
      const behind = of.line.findLastIndex(({ owner: { no } }) => no < owner.no) + 1
      of.line = of.line.toSpliced(behind, 0, waiting)
    })
  const mayTake = (of: Kind, owner: Owner, bytes: number): boolean =>
    isFirst(of, owner) || (hasRoom(of, bytes) && (of.line[0]?.owner.no ?? Infinity) > owner.no)
  let opened = 0
  const open = (of: Kind): Hold => {
    const owner: Owner = { no: (opened += 1), held: 0, left: bodyWait }
    return {
      take(bytes) {
        if (!mayTake(of, owner, bytes)) return wait(of, owner, bytes)
        give(of, owner, bytes)
        return true
      },
      end() {
        for (const waiting of of.line) if (waiting.owner === owner) waiting.settle(false)
        of.held -= owner.held
        owner.held = 0
        of.holders.delete(owner)
        admit()
      },
    }
  }
  return {
    open: (most) => open(most <= tiny.upto ? tiny : most <= small.upto ? small : large),
    get bytes() {
      return kinds.reduce((sum, { held }) => sum + held, 0)
    },
  }
}
