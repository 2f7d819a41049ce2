/** The partitions of one kind on their way out, the oldest first, and by what they are due. */
import type { Cause, PartitionFacts } from './plan.js'
import type { KindPolicy } from './policy.js'

/** Those that are left; nothing of the kind falls any more once it is `blocked`. */
export interface Queue {
  readonly policy: KindPolicy
  readonly left: PartitionFacts[]
  blocked: boolean
}
/** By what the oldest of some partitions is due; undefined: by nothing. */
export type CauseOf = (left: readonly PartitionFacts[]) => Cause | undefined

export const bytesIn = (partitions: readonly Pick<PartitionFacts, 'bytes'>[]): number =>
  partitions.reduce((sum, { bytes }) => sum + bytes, 0)
const recordsIn = (partitions: readonly PartitionFacts[]): number =>
  partitions.reduce((sum, { records }) => sum + records, 0)

/** Later than any clock that is right could say. */
export const isAhead = ({ to }: Pick<PartitionFacts, 'to'>, now: number): boolean => to > now + 3_600_000

/** When the first of what is left ended, Unix ms: before one of a clock that was ahead, what came behind it. */
export const endOf = ({ left }: Queue): number => Math.min(...left.map(({ to }) => to))

/** What is too old or too many. */
export const dueBy =
  ({ maxAge, maxCount }: KindPolicy, now: number): CauseOf =>
  (left) => {
    const [oldest, ...newer] = left
    if (oldest === undefined) return undefined
    // What was written under a clock that was ahead is as old as what came behind it.
    const last = isAhead(oldest, now) ? newer.find((one) => !isAhead(one, now)) : oldest
    if (maxAge !== undefined && last !== undefined && last.to <= now - maxAge) return 'age'
    return maxCount !== undefined && recordsIn(newer) >= maxCount ? 'count' : undefined
  }

/** The cause by which a part of the oldest is due, more of it than one partition that the policy makes would be. */
export const partDueBy = ({ policy: { maxAge, maxCount }, left }: Queue, now: number): Cause | undefined => {
  const [oldest] = left
  if (oldest === undefined) return undefined
  if (maxCount !== undefined && recordsIn(left) > maxCount && oldest.records > maxCount / 4) return 'count'
  return maxAge !== undefined && oldest.from <= now - maxAge * 1.25 ? 'age' : undefined
}
