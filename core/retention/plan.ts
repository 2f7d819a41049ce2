/** What falls now and what stays though it is due, worked out of facts alone: a dry run says what a run does. */
import { showDay } from './amounts.js'
import type { Policy } from './policy.js'
import {
  bytesIn,
  dueBy,
  endOf,
  isAhead,
  partDueBy,
  roomIn,
  type Cause,
  type CauseOf,
  type PartitionFacts,
  type Queue,
} from './queue.js'

export interface Falling extends Omit<PartitionFacts, 'held'> {
  readonly cause: Cause
}
/** What is due, and why it stays: all of a kind that stays by one cause and for one reason. */
export interface Staying extends Omit<PartitionFacts, 'held'> {
  readonly cause: Cause
  readonly held: string
  /** Some of it is not due. */
  readonly isPart?: true
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
  /** Of these, what goes whatever falls, because what held it is gone; default 0. */
  readonly freed?: number
  readonly policy: Policy
  /** Unix ms. */
  readonly now: number
}

const ageText = 'It is younger than min_age.'
const aheadText = 'Its stamps are ahead of the clock: that was wrong when it was written.'
const wholeText = 'It falls as a whole, and what is to stay stands in it too.'
/** By its age a partition falls when nothing in it is younger. */
const agedText = (at: number): string =>
  `It falls as a whole, from ${showDay(at)} on at the earliest: until then what is to stay stands in it too.`
const vainText = 'It is younger than what is held, and without it the root would hold more than max_bytes all the same.'

class Planner {
  readonly #input: PlanInput
  readonly falls: Falling[] = []
  stays: Staying[] = []

  constructor(input: PlanInput) {
    this.#input = input
  }

  /** True if the oldest of a queue fell. */
  drop(queue: Queue, cause: Cause, causeOf: CauseOf): boolean {
    const [oldest] = queue.left
    if (oldest === undefined) return false
    const { held, ...facts } = oldest
    const reason = held ?? this.#youth(facts)
    if (reason !== undefined) {
      queue.blocked = true
      this.#tellDue(queue, causeOf, reason)
      return false
    }
    queue.left.shift()
    this.falls.push({ ...facts, cause })
    return true
  }

  #youth(facts: Pick<PartitionFacts, 'to'>): string | undefined {
    const { policy, now } = this.#input
    if (facts.to <= now - policy.minAge) return undefined
    return isAhead(facts, now) ? aheadText : ageText
  }

  /** What is due behind the oldest stays with it; what is young would stay without it too. */
  #tellDue({ left }: Queue, causeOf: CauseOf, reason: string): void {
    const isYoung = left.map((one) => this.#youth(one) === ageText)
    for (const [at, { held: _, ...facts }] of left.entries()) {
      const cause = causeOf(left.slice(at))
      if (cause === undefined || isYoung[at] !== isYoung[0]) return
      this.stays.push({ ...facts, cause, held: reason })
    }
  }

  /** What is too old or too many of one kind. */
  dropDue(queue: Queue): void {
    const causeOf = dueBy(queue.policy, this.#input.now)
    for (let cause = causeOf(queue.left); cause !== undefined && this.drop(queue, cause, causeOf);)
      cause = causeOf(queue.left)
    this.#tellWhole(queue)
  }

  #tellWhole(queue: Queue): void {
    const cause = queue.blocked ? undefined : partDueBy(queue, this.#input.now)
    const [oldest] = queue.left
    if (cause === undefined || oldest === undefined) return
    const { maxAge } = queue.policy
    const whole = cause === 'age' && maxAge !== undefined ? agedText(oldest.to + maxAge) : wholeText
    const { held = whole, ...facts } = oldest
    this.stays.push({ ...facts, cause, held, isPart: true })
  }

  /** Room for the whole root: the partition that ended first, of whatever kind, falls first. */
  makeRoom(all: readonly Queue[]): void {
    const queues = all.filter(({ policy }) => !policy.isPromise)
    const before = this.falls.length
    for (let over = this.over(); over > 0; over = this.over()) {
      const [next] = queues
        .filter(({ blocked, left }) => !blocked && left.length > 0)
        .toSorted((a, b) => endOf(a) - endOf(b))
      if (next === undefined) return this.#keepInVain(queues, before)
      const { left } = next
      this.drop(next, 'bytes', (rest) => (roomIn(left) - roomIn(rest) < over ? 'bytes' : undefined))
    }
  }

  /** Too little room came of it: what fell for that before its turn, while something older is held, stays. */
  #keepInVain(queues: readonly Queue[], before: number): void {
    const held = Math.min(...queues.filter(({ blocked }) => blocked).map(endOf))
    const first = this.falls.findIndex(({ to }, at) => at >= before && to > held)
    if (first < 0) return
    const kept = this.falls.splice(first)
    const kinds = new Set(kept.map(({ kind }) => kind))
    this.stays = [
      ...this.stays.filter(({ kind, cause }) => cause !== 'bytes' || !kinds.has(kind)),
      ...kept.map((facts) => ({ ...facts, held: vainText })),
    ]
  }

  /** Bytes beyond max_bytes behind what falls so far. */
  over(): number {
    const { policy, bytes, freed = 0 } = this.#input
    return Math.max(0, bytes - freed - (policy.maxBytes ?? Infinity) - roomIn(this.falls))
  }
}

/** One word for all of a kind that stays by one cause and for one reason. */
const asOne = (stays: readonly Staying[]): readonly Staying[] => {
  const found = new Map<string, Staying>()
  for (const one of stays) {
    const key = JSON.stringify([one.kind, one.cause, one.held])
    const known = found.get(key)
    found.set(key, known === undefined ? one : together(known, one))
  }
  return [...found.values()]
}
const together = (one: Staying, other: Staying): Staying => ({
  ...one,
  from: Math.min(one.from, other.from),
  since: Math.min(one.since, other.since),
  to: Math.max(one.to, other.to),
  records: one.records + other.records,
  bytes: one.bytes + other.bytes,
  beside: (one.beside ?? 0) + (other.beside ?? 0),
})

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
    input.bytes - (input.lagging ?? 0) - bytesIn(queues.flatMap(({ policy, left }) => (policy.isPromise ? [] : left)))
  for (const queue of queues) planner.dropDue(queue)
  const isInVain = beside > (input.policy.maxBytes ?? Infinity)
  if (!isInVain) planner.makeRoom(queues)
  const { falls } = planner
  return { falls, stays: asOne(planner.stays), over: planner.over(), ...(isInVain && { beside }) }
}
