/** What is to fall now: the plan, and for each kind exactly what the state would take away for it. */
import type { Fall, Holder, Retention } from '../state/contract.js'
import { bytesIn, factsOf, recordsIn } from './kinds.js'
import { plan, type Cause, type Staying } from './plan.js'
import type { Policy } from './policy.js'

/** One fall of a kind. */
export interface Due {
  readonly kind: string
  readonly upto: number
  readonly cause: Cause
  /** Unix ms of the first and the last change in it. */
  readonly from: number
  readonly to: number
  /** Of what leads the kind. */
  readonly records: number
  /** On disk. */
  readonly bytes: number
  /** What follows them and stays, because it may belong to a record that is kept. */
  readonly held: { readonly by: Holder; readonly bytes: number } | undefined
  readonly fall: Fall
}
export interface DueNow {
  readonly falls: readonly Due[]
  readonly stays: readonly Staying[]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

export const dueOf = (fall: Fall, cause: Cause): Due => ({
  kind: fall.kind,
  upto: fall.upto,
  cause,
  from: Math.min(...fall.partitions.map(({ from }) => from)),
  to: Math.max(...fall.partitions.map(({ to }) => to)),
  records: sum(fall.partitions.map(recordsIn)),
  bytes: sum(fall.partitions.map(bytesIn)),
  held: fall.held,
  fall,
})

export interface DueInput {
  readonly retention: Pick<Retention, 'kinds' | 'preview'>
  readonly policy: Policy
  /** Of the whole root. */
  readonly bytes: number
  /** Unix ms. */
  readonly now: number
}

/**
 * Of each kind one fall, up to the last partition that is due. Where none is, what stayed from an earlier one because
 * of a record that is gone meanwhile.
 */
export const dueNow = ({ retention, policy, bytes, now }: DueInput): DueNow => {
  const kinds = retention.kinds()
  const { falls, stays } = plan({ partitions: kinds.flatMap(factsOf), bytes, policy, now })
  const last = new Map(falls.map((falling) => [falling.kind, falling]))
  const wanted = kinds.flatMap(({ kind, fell, partitions, undeclared }) => {
    const found = last.get(kind)
    if (found !== undefined) return [{ kind, upto: found.no, cause: found.cause }]
    const isLagging = undeclared === undefined && partitions.some(({ no }) => no <= fell)
    return isLagging ? [{ kind, upto: fell, cause: 'age' as const }] : []
  })
  const due = wanted.map(({ kind, upto, cause }) => dueOf(retention.preview(kind, upto), cause))
  return { falls: due.filter(({ fall }) => fall.partitions.length > 0), stays }
}
