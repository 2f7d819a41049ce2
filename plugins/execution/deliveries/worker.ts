/**
 * Takes deliveries to their targets. Each target is a lane: its deliveries
 * leave in order, one at a time, and what holds one lane holds no other. The
 * outcome of an attempt and the intent of the next are one commit. Truth is in
 * the records; what is here is made again from them at a start.
 */
import { tellFailure, type Ids } from '../../../core/plugin.js'
import { attempt, conclude, giveUp, intend, isSpent, type Attempted, type AttemptParts } from './attempt.js'
import type { DeliveryOutcome } from './contract.js'
import { circuitWait, memoryWait, newPace, noteAttempt, noteOutcome, waitOf, type Pace, type Wait } from './pace.js'
import { isOpen, type OpenDelivery } from './store.js'

export interface WorkerParts extends AttemptParts {
  readonly ids: Ids
}

interface Lane {
  readonly target: string
  readonly pace: Pace
  state: 'idle' | 'queued' | 'busy'
  /** Since when it waits for its turn, by the monotonic clock. */
  queuedAt: number
  cancel: () => void
  /** An attempt whose outcome could not be written yet. */
  unwritten: Attempted | undefined
}

/** What status tells of a lane. */
export interface LaneFacts {
  readonly head: OpenDelivery | undefined
  readonly wait: Wait | undefined
  readonly circuit_ms: number
  readonly queued_ms: number
}

export interface Worker {
  /** Begins with what is open. The undo lets attempts end, for a while. */
  start(): () => Promise<void>
  /** Looks at a lane again: something was added to it. */
  wake(target: string): void
  lanes(): LaneFacts[]
  readonly beat: {
    readonly started_at_ms: number | undefined
    readonly at_ms: number | undefined
    readonly elapsed: number
  }
}

/** Time between looks at all lanes: for a wall clock that was set, and for storage that takes changes again. */
export const lookMs = 2000

interface Life {
  readonly parts: WorkerParts
  readonly lanes: Map<string, Lane>
  readonly queue: Lane[]
  readonly controllers: Set<AbortController>
  readonly running: Set<Promise<void>>
  /** `cut`: nothing is attempted any more. */
  phase: 'new' | 'running' | 'draining' | 'cut'
  beat: { started_at_ms: number | undefined; at_ms: number | undefined; elapsed: number }
}

export const createWorker = (parts: WorkerParts): Worker => {
  const life: Life = {
    parts,
    lanes: new Map(),
    queue: [],
    controllers: new Set(),
    running: new Set(),
    phase: 'new',
    beat: { started_at_ms: undefined, at_ms: undefined, elapsed: 0 },
  }
  return {
    start: () => start(life),
    wake: (target) => queueMicrotask(() => look(life, laneOf(life, target))),
    lanes: () => [...life.lanes.values()].map((lane) => factsOf(life, lane)),
    get beat() {
      return life.beat
    },
  }
}

const start = (life: Life): (() => Promise<void>) => {
  const { clock, store } = life.parts
  life.phase = 'running'
  life.beat = { started_at_ms: clock.now(), at_ms: clock.now(), elapsed: clock.elapsed() }
  for (const target of store.deliveries.groups('lane')) look(life, laneOf(life, target))
  let cancel = (): void => {}
  const lookAtAll = (): void => {
    cancel = clock.after(lookMs, lookAtAll)
    life.beat = { ...life.beat, at_ms: clock.now(), elapsed: clock.elapsed() }
    for (const lane of life.lanes.values()) if (lane.state === 'idle') look(life, lane)
  }
  cancel = clock.after(lookMs, lookAtAll)
  return () => {
    cancel()
    return drain(life)
  }
}

/** Attempts under way may end; those that do not are aborted, and the next start repeats them with the same key. */
const drain = async (life: Life): Promise<void> => {
  const { clock, config } = life.parts
  life.phase = 'draining'
  life.queue.length = 0
  for (const lane of life.lanes.values()) lane.cancel()
  const ended = Promise.all(life.running)
  const late = new AbortController()
  const patience = clock.sleep(config.drain_ms, late.signal).then((whole) => {
    if (!whole) return
    life.phase = 'cut'
    for (const controller of life.controllers) controller.abort()
  })
  await ended
  late.abort()
  await patience
}

const laneOf = (life: Life, target: string): Lane => {
  const lane = life.lanes.get(target) ?? {
    target,
    pace: newPace(),
    state: 'idle',
    queuedAt: 0,
    cancel: () => {},
    unwritten: undefined,
  }
  life.lanes.set(target, lane)
  return lane
}

const headOf = ({ parts: { store } }: Life, { target }: Lane): OpenDelivery | undefined => {
  const [head] = store.deliveries.list({ index: 'lane', group: target, limit: 1 })
  return head !== undefined && isOpen(head) ? head : undefined
}

/** Queues a lane that can go on, watches one that must wait, forgets one that is empty. */
const look = (life: Life, lane: Lane): void => {
  const {
    parts: { clock, store },
    phase,
  } = life
  if (phase !== 'running' || lane.state !== 'idle') return
  lane.cancel()
  const head = headOf(life, lane)
  const ms = head === undefined ? memoryWait(lane.pace, clock) : (waitOf(life.parts, lane.pace, head)?.ms ?? 0)
  if (lane.unwritten === undefined && head === undefined && ms <= 0) return void life.lanes.delete(lane.target)
  if (lane.unwritten === undefined && ms > 0) return void (lane.cancel = clock.after(ms, () => look(life, lane)))
  if (store.state.health.mode !== 'ok') return
  lane.state = 'queued'
  lane.queuedAt = clock.elapsed()
  life.queue.push(lane)
  dispatch(life)
}

const dispatch = (life: Life): void => {
  while (life.phase === 'running' && life.running.size < life.parts.config.max_parallel) {
    const lane = life.queue.shift()
    if (lane === undefined) return
    lane.state = 'busy'
    const work = run(life, lane).finally(() => {
      life.running.delete(work)
      lane.state = 'idle'
      look(life, lane)
      dispatch(life)
    })
    life.running.add(work)
  }
}

/** Attempts one delivery after another until the lane must wait or others wait for their turn. */
const run = async (life: Life, lane: Lane): Promise<void> => {
  for (let first = true; ; first = false) {
    const next = await advance(life, lane, first || life.queue.length === 0)
    if (next === undefined) return
    const outcome = await perform(life, next)
    if (outcome === undefined) return
    lane.unwritten = {
      delivery: next,
      outcome,
      wait_ms: noteOutcome(life.parts, lane.pace, { delivery: next, outcome }),
    }
  }
}

/** Writes the outcome that is left and, if the lane may go on, the intent of the next attempt. */
const advance = async (life: Life, lane: Lane, more: boolean): Promise<OpenDelivery | undefined> => {
  const { parts, phase } = life
  const { unwritten } = lane
  const goes = more && phase === 'running'
  if (unwritten === undefined && !goes) return undefined
  try {
    const next = await parts.store.state.commit((tx) => {
      if (unwritten !== undefined) conclude(parts, tx, unwritten)
      const head = goes ? headOf(life, lane) : undefined
      if (head === undefined || waitOf(parts, lane.pace, head) !== undefined) return undefined
      if (isSpent(parts, head)) return void giveUp(parts, tx, head)
      noteAttempt(parts, lane.pace)
      return intend(parts, tx, head)
    })
    lane.unwritten = undefined
    return next
  } catch (error) {
    const { log, store } = parts
    tellFailure({ log, state: store.state }, 'a delivery could not be recorded', { target: lane.target, error })
    await parts.clock.sleep(lookMs)
    return undefined
  }
}

/** Undefined if the stop of the daemon cut it off: then nobody knows the outcome. */
const perform = async (life: Life, delivery: OpenDelivery): Promise<DeliveryOutcome | undefined> => {
  if (life.phase === 'cut') return undefined
  const controller = new AbortController()
  life.controllers.add(controller)
  const outcome = await attempt(life.parts, delivery, controller)
  life.controllers.delete(controller)
  return life.phase !== 'running' && controller.signal.aborted && outcome.type === 'retry' ? undefined : outcome
}

const factsOf = (life: Life, lane: Lane): LaneFacts => {
  const { clock } = life.parts
  const head = headOf(life, lane)
  return {
    head,
    wait: head === undefined ? undefined : waitOf(life.parts, lane.pace, head),
    circuit_ms: circuitWait(lane.pace, clock),
    queued_ms: lane.state === 'queued' ? clock.elapsed() - lane.queuedAt : 0,
  }
}
