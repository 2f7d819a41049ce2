/**
 * Each target is a lane: its deliveries leave in order, one at a time, and what holds one lane holds no other. Truth is
 * in the records; what is here is made again from them at a start.
 */
import type { Ids } from '../../../core/plugin.js'
import type { Attempted, AttemptParts } from './attempt.js'
import { circuitWait, memoryWait, newPace, waitOf, type Pace, type Wait } from './pace.js'
import { isOpen, type OpenDelivery } from './store.js'

export interface WorkerParts extends AttemptParts {
  readonly ids: Ids
}

export interface Lane {
  readonly target: string
  readonly pace: Pace
  /** `busy`: an attempt is under way, or its outcome is being written. */
  state: 'idle' | 'queued' | 'busy'
  /** Since when it waits for its turn, by the monotonic clock. */
  queuedAt: number
  cancel: () => void
  /** An attempt whose outcome is not written yet. */
  unwritten: Attempted | undefined
  /** A commit that had to do with it failed: its next one is its own, so that it fails no other. */
  alone: boolean
  /** Commits of its own in a row that failed though storage takes changes. */
  refusals: number
}

/** What status tells of a lane. */
export interface LaneFacts {
  readonly head: OpenDelivery | undefined
  readonly wait: Wait | undefined
  readonly circuit_ms: number
  readonly queued_ms: number
}

export interface Lanes {
  readonly all: ReadonlyMap<string, Lane>
  /** Those that can go on, in order. */
  readonly queue: Lane[]
  /** Those whose attempt has ended and whose outcome is to be written, in order. */
  readonly ended: Lane[]
  get(target: string): Lane
  /** The first delivery of a lane. */
  head(lane: Lane): OpenDelivery | undefined
  /** Queues an idle lane that has something to do now, watches one that must wait, forgets one that is empty. */
  look(lane: Lane): void
  /** Looks again after so many milliseconds. */
  lookLater(lane: Lane, ms: number): void
  facts(lane: Lane): LaneFacts
  /** Looks at nothing any more. */
  close(): void
}

/** `queued` is called when a lane has something to do now. */
export const createLanes = (parts: WorkerParts, queued: () => void): Lanes => {
  const { clock, store } = parts
  const all = new Map<string, Lane>()
  const queue: Lane[] = []
  const ended: Lane[] = []
  let watched = true
  const get = (target: string): Lane => {
    const lane = all.get(target) ?? newLane(target)
    all.set(target, lane)
    return lane
  }
  const head = ({ target }: Lane): OpenDelivery | undefined => {
    const [first] = store.deliveries.list({ index: 'lane', group: target, limit: 1 })
    return first !== undefined && isOpen(first) ? first : undefined
  }
  const lookLater = (lane: Lane, ms: number): void => {
    lane.cancel()
    lane.cancel = clock.after(ms, () => look(lane))
  }
  const enqueue = (lane: Lane, list: Lane[]): void => {
    if (store.state.health.mode !== 'ok') return
    lane.state = 'queued'
    lane.queuedAt = clock.elapsed()
    list.push(lane)
    queued()
  }
  const look = (lane: Lane): void => {
    if (!watched || lane.state !== 'idle') return
    lane.cancel()
    if (lane.unwritten !== undefined) return enqueue(lane, ended)
    const first = head(lane)
    const ms = first === undefined ? memoryWait(lane.pace, clock) : (waitOf(parts, lane.pace, first)?.ms ?? 0)
    if (ms > 0) lookLater(lane, ms)
    else if (first === undefined) all.delete(lane.target)
    else enqueue(lane, queue)
  }
  const facts = (lane: Lane): LaneFacts => {
    const first = head(lane)
    return {
      head: first,
      wait: first === undefined ? undefined : waitOf(parts, lane.pace, first),
      circuit_ms: circuitWait(lane.pace, clock),
      queued_ms: lane.state === 'queued' ? clock.elapsed() - lane.queuedAt : 0,
    }
  }
  const close = (): void => {
    watched = false
    for (const lane of all.values()) lane.cancel()
  }
  return { all, queue, ended, get, head, look, lookLater, facts, close }
}

const newLane = (target: string): Lane => ({
  target,
  pace: newPace(),
  state: 'idle',
  queuedAt: 0,
  cancel: () => {},
  unwritten: undefined,
  alone: false,
  refusals: 0,
})
