/** What is to fall now: the plan, and for each kind exactly what the state would take away for it. */
import type { Fall, Holder, KeptKind, Retention } from '../state/contract.js'
import type { Warning } from '../base/health.js'
import { boundWarnings } from './bound.js'
import { bytesIn, factsOf, recordsIn } from './kinds.js'
import { plan, type Plan } from './plan.js'
import type { Cause } from './queue.js'
import type { Policy } from './policy.js'
import { roomOf, type Room } from './room.js'
import { sayBehindFall, sayInVain, sayOver, sayStaying, sayUnled } from './words.js'

/** One fall of a kind. */
export interface Due {
  readonly kind: string
  readonly upto: number
  readonly cause: Cause
  /** Unix ms of the oldest record and of the last change in it. */
  readonly from: number
  readonly to: number
  /** Of what leads the kind. */
  readonly records: number
  /** On disk. */
  readonly bytes: number
  /** What goes behind them by itself, on disk. */
  readonly beside: number
  /** What follows them and stays, because it may belong to a record that is kept. */
  readonly held: { readonly by: Holder; readonly bytes: number } | undefined
  readonly fall: Fall
}
/** Something that is due and stays. */
export interface Stay {
  /** Absent: the root as a whole. */
  readonly kind?: string
  /** What, and why. */
  readonly sentence: string
}
export interface DueNow {
  readonly falls: readonly Due[]
  readonly stays: readonly Stay[]
  /** That the root holds more than max_bytes and will; none: it does not. */
  readonly bound: readonly Warning[]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

export const dueOf = (fall: Fall, cause: Cause, beside: number): Due => ({
  kind: fall.kind,
  upto: fall.upto,
  cause,
  from: Math.min(...fall.partitions.map(({ from, since = from }) => since)),
  to: Math.max(...fall.partitions.map(({ to }) => to)),
  records: sum(fall.partitions.map(recordsIn)),
  bytes: sum(fall.partitions.map(bytesIn)),
  beside,
  held: fall.held,
  fall,
})

export interface DueInput {
  readonly retention: Pick<Retention, 'kinds' | 'preview' | 'heldBy' | 'freeUpto'>
  readonly policy: Policy
  /** Of the whole root. */
  readonly bytes: number
  /** By kind and partition, of what goes behind them. */
  readonly beside: ReadonlyMap<string, ReadonlyMap<number, number>>
  /** Unix ms. */
  readonly now: number
}

/**
 * Of each kind one fall, up to the last partition that is due. Where none is, what stayed from an earlier one because
 * of a record that is gone meanwhile.
 */
export const dueNow = ({ retention, policy, bytes, beside, now }: DueInput): DueNow => {
  const kinds = retention.kinds()
  const isOver = bytes > (policy.maxBytes ?? Infinity)
  const rooms = isOver ? roomsOf(kinds, retention) : new Map<string, Room>()
  const partitions = kinds.flatMap((kept) => {
    const { kind } = kept
    const parts = beside.get(kind) ?? new Map<number, number>()
    return factsOf(kept, { holder: retention.heldBy(kind), parts, room: rooms.get(kind)?.parts })
  })
  const freed = sum(Array.from(rooms.values(), (room) => room.freed))
  const planned = plan({ partitions, bytes, lagging: laggingIn(kinds, policy), freed, policy, now })
  const due = kinds.flatMap((kept) =>
    wantedOf(kept, planned).map(({ upto, cause }) => {
      const fall = retention.preview(kept.kind, upto)
      const parts = beside.get(kept.kind)
      return dueOf(fall, cause, sum(fall.partitions.map(({ no }) => parts?.get(no) ?? 0)))
    }),
  )
  const falls = due.filter(({ fall }) => fall.partitions.length > 0)
  const lagging = due.filter(({ fall }) => fall.partitions.length === 0)
  const inVain = planned.beside === undefined ? [] : [{ sentence: sayInVain(planned.over, planned.beside) }]
  const stays = [...inVain, ...staysOf(planned, { kinds, lagging, policy })]
  return { falls, stays, bound: boundWarnings(planned, due) }
}

/** Of kinds of which something can fall. */
const roomsOf = (kinds: readonly KeptKind[], { freeUpto }: Pick<Retention, 'freeUpto'>): ReadonlyMap<string, Room> => {
  const declared = kinds.filter(({ undeclared }) => undeclared === undefined)
  return new Map(declared.map((kept) => [kept.kind, roomOf(kept, (upto) => freeUpto(kept.kind, upto))]))
}

/** One, or none. */
const wantedOf = ({ kind, fell, partitions, undeclared }: KeptKind, { falls }: Plan): Pick<Due, 'upto' | 'cause'>[] => {
  const found = falls.findLast((falling) => falling.kind === kind)
  if (found !== undefined) return [{ upto: found.no, cause: found.cause }]
  const isLagging = undeclared === undefined && partitions.some(({ no }) => no <= fell)
  return isLagging ? [{ upto: fell, cause: 'age' }] : []
}

interface StayFacts {
  readonly kinds: readonly KeptKind[]
  /** Of them nothing falls now. */
  readonly lagging: readonly Due[]
  readonly policy: Policy
}

const staysOf = ({ stays, over, beside }: Plan, { kinds, lagging, policy }: StayFacts): Stay[] => [
  ...stays.map((staying) => ({ kind: staying.kind, sentence: sayStaying(staying) })),
  ...lagging.flatMap(({ kind, held }) =>
    held === undefined || !isLimited(policy, kind) ? [] : [{ kind, sentence: sayBehindFall(kind, held) }],
  ),
  ...kinds.flatMap(({ kind, partitions, undeclared }) => {
    const bytes = sum(partitions.map(bytesIn))
    const isLed = policy.kinds.has(kind) || bytes === 0
    return isLed ? [] : [{ kind, sentence: sayUnled({ kind, bytes, undeclared }) }]
  }),
  ...(over > 0 && beside === undefined ? [{ sentence: sayOver(over) }] : []),
]

/** What follows and waits from earlier falls: it may go one day. */
const laggingIn = (kinds: readonly KeptKind[], { kinds: policies }: Policy): number =>
  sum(
    kinds.flatMap(({ kind, fell, partitions }) =>
      policies.get(kind)?.isPromise === false ? partitions.filter(({ no }) => no <= fell).map(bytesIn) : [],
    ),
  )

/** Without a limit nothing is due, and nothing stays for a reason. */
const isLimited = ({ kinds, maxBytes }: Policy, kind: string): boolean => {
  const { maxAge, maxCount } = kinds.get(kind) ?? {}
  return [maxAge, maxCount, maxBytes].some((limit) => limit !== undefined)
}
