/** What falls now and what stays though it is due, worked out of facts alone: a dry run says what a run does. */
import type { KindPolicy, Policy } from './policy.js'

/** A partition of a kind: everything of it that was written between two moments. */
export interface PartitionFacts {
  readonly kind: string
  /** 1, 2, 3 … from the oldest. */
  readonly no: number
  /** Unix ms of its first change. */
  readonly from: number
  /** Unix ms of the oldest record in it. */
  readonly since: number
  /** Unix ms: nothing in it was written later. */
  readonly to: number
  /** Of the leader. */
  readonly records: number
  /** On disk, with everything that follows it, also in no partition. */
  readonly bytes: number
  /** Why nothing of its kind can fall now, one sentence; undefined if it can. */
  readonly held?: string | undefined
}

export type Cause = 'age' | 'count' | 'bytes'
export interface Falling extends Omit<PartitionFacts, 'held'> {
  readonly cause: Cause
}
/** What is due, and why it stays; older than all that stays of its kind behind it. */
export interface Staying extends Omit<PartitionFacts, 'held'> {
  readonly cause: Cause
  readonly held: string
}
export interface Plan {
  /** In the order in which they fall: of each kind the oldest first. */
  readonly falls: readonly Falling[]
  readonly stays: readonly Staying[]
  /** Bytes that the root holds beyond max_bytes when everything that may fall has fallen; 0: none. */
  readonly over: number
  /** Bytes that would stay if all history fell, where they alone are more than max_bytes: then nothing makes room. */
  readonly beside?: number
}

export interface PlanInput {
  readonly partitions: readonly PartitionFacts[]
  /** Of the whole root. */
  readonly bytes: number
  /** Of history that is in none of these, such as what waits for a record that holds it; default 0. */
  readonly lagging?: number
  readonly policy: Policy
  /** Unix ms. */
  readonly now: number
}

/** The partitions of a kind that are left, the oldest first; nothing of it falls any more once it is `blocked`. */
interface Queue {
  readonly policy: KindPolicy
  readonly left: PartitionFacts[]
  blocked: boolean
}

const recordsIn = (partitions: readonly PartitionFacts[]): number =>
  partitions.reduce((sum, { records }) => sum + records, 0)

const dueCause = ({ policy: { maxAge, maxCount }, left }: Queue, now: number): Cause | undefined => {
  const [oldest, ...newer] = left
  if (oldest === undefined) return undefined
  // What was written under a clock that was ahead is as old as what came behind it.
  const last = isAhead(oldest, now) ? newer.find((one) => !isAhead(one, now)) : oldest
  if (maxAge !== undefined && last !== undefined && last.to <= now - maxAge) return 'age'
  return maxCount !== undefined && recordsIn(newer) >= maxCount ? 'count' : undefined
}

/** The cause by which a part of the oldest is due, more of it than one partition that the policy makes would be. */
const partCause = ({ policy: { maxAge, maxCount }, left }: Queue, now: number): Cause | undefined => {
  const [oldest] = left
  if (oldest === undefined) return undefined
  if (maxCount !== undefined && recordsIn(left) > maxCount && oldest.records > maxCount / 4) return 'count'
  return maxAge !== undefined && oldest.from <= now - maxAge * 1.25 ? 'age' : undefined
}

const ageText = 'It is younger than min_age.'
const aheadText = 'Its stamps are ahead of the clock: that was wrong when it was written.'
const wholeText = 'It falls as a whole, and what is to stay stands in it too.'

/** Later than any clock that is right could say. */
const isAhead = ({ to }: PartitionFacts, now: number): boolean => to > now + 3_600_000

class Planner {
  readonly #input: PlanInput
  readonly falls: Falling[] = []
  readonly stays: Staying[] = []

  constructor(input: PlanInput) {
    this.#input = input
  }

  /** True if the oldest of a queue fell. */
  drop(queue: Queue, cause: Cause): boolean {
    const { policy, now } = this.#input
    const [oldest] = queue.left
    if (oldest === undefined) return false
    const { held, ...facts } = oldest
    const tooYoung = isAhead(facts, now) ? aheadText : ageText
    const reason = held ?? (facts.to > now - policy.minAge ? tooYoung : undefined)
    if (reason !== undefined) {
      queue.blocked = true
      this.stays.push({ ...facts, cause, held: reason })
      return false
    }
    queue.left.shift()
    this.falls.push({ ...facts, cause })
    return true
  }

  /** What is too old or too many of one kind. */
  dropDue(queue: Queue): void {
    for (let cause = dueCause(queue, this.#input.now); cause !== undefined && this.drop(queue, cause);)
      cause = dueCause(queue, this.#input.now)
    this.#tellWhole(queue)
  }

  #tellWhole(queue: Queue): void {
    const cause = queue.blocked ? undefined : partCause(queue, this.#input.now)
    const [oldest] = queue.left
    if (cause === undefined || oldest === undefined) return
    const { held = wholeText, ...facts } = oldest
    this.stays.push({ ...facts, cause, held })
  }

  /** Room for the whole root: the partition that ended first, of whatever kind, falls first. */
  makeRoom(queues: readonly Queue[]): number {
    let over = this.over()
    const endOf = ({ left: [oldest] }: Queue): number => oldest?.to ?? 0
    while (over > 0) {
      const [next] = queues
        .filter(({ blocked, left, policy: { isPromise } }) => !blocked && !isPromise && left.length > 0)
        .toSorted((a, b) => endOf(a) - endOf(b))
      if (next === undefined) return over
      const size = next.left[0]?.bytes ?? 0
      if (this.drop(next, 'bytes')) over -= size
    }
    return 0
  }

  /** Bytes beyond max_bytes behind what falls so far. */
  over(): number {
    const { policy, bytes } = this.#input
    return Math.max(0, bytes - (policy.maxBytes ?? Infinity) - bytesOf(this.falls))
  }
}

const bytesOf = (partitions: readonly Pick<PartitionFacts, 'bytes'>[]): number =>
  partitions.reduce((sum, { bytes }) => sum + bytes, 0)

const queuesOf = ({ partitions, policy }: PlanInput): Queue[] =>
  Array.from(policy.kinds, ([kind, own]) => ({
    policy: own,
    left: partitions.filter((one) => one.kind === kind).toSorted((a, b) => a.no - b.no),
    blocked: false,
  }))

/** Of each kind a beginning falls, never a part from the middle. */
export const plan = (input: PlanInput): Plan => {
  const planner = new Planner(input)
  const queues = queuesOf(input)
  const beside =
    input.bytes - (input.lagging ?? 0) - bytesOf(queues.flatMap(({ policy, left }) => (policy.isPromise ? [] : left)))
  for (const queue of queues) planner.dropDue(queue)
  const { falls, stays } = planner
  const isInVain = beside > (input.policy.maxBytes ?? Infinity)
  return isInVain ? { falls, stays, over: planner.over(), beside } : { falls, stays, over: planner.makeRoom(queues) }
}
