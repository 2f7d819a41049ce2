/** The partitions of one kind on their way out, the oldest first, and by what they are due. */
import type { KindPolicy } from './policy.js'

/** A partition of a kind: everything of it that was written between two moments. */
export interface PartitionFacts {
  readonly kind: string
  /** 1, 2, 3 … from the oldest. */
  readonly no: number
  /** Unix ms of its first change. */
  readonly from: number
  /** Unix ms of the oldest record in it. */
  readonly since: number
  /** The same of those that no longer change, where one that does could not be older; absent: not known. */
  readonly settledSince?: number | undefined
  /** Unix ms: nothing in it was written later. */
  readonly to: number
  /** Of the leader. */
  readonly records: number
  /** On disk, with everything that follows it, also in no partition. */
  readonly bytes: number
  /** Of these, what goes behind it by itself. */
  readonly beside?: number | undefined
  /** Of these, what would go behind the partitions before it; absent: all. */
  readonly room?: number | undefined
  /** Why nothing of its kind can fall now, one sentence; undefined if it can. */
  readonly held?: string | undefined
  /** What somebody does about that, one sentence. */
  readonly release?: string | undefined
}

export type Cause = 'age' | 'count' | 'bytes'

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
export const roomIn = (partitions: readonly Pick<PartitionFacts, 'bytes' | 'room'>[]): number =>
  partitions.reduce((sum, { bytes, room = bytes }) => sum + room, 0)
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
  return maxAge !== undefined && (oldest.settledSince ?? oldest.from) <= now - maxAge * 1.25 ? 'age' : undefined
}
