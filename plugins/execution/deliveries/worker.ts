/**
 * Takes deliveries to their targets: one turn after another records what lanes have to record, and attempts begin when
 * that is durable. While one turn goes to the disk the next is filled, and further outcomes gather for the one behind.
 */
import { setImmediate } from 'node:timers/promises'
import { Transients } from '../../../core/plugin.js'
import type { DeliveryOutcome } from './contract.js'
import { createLanes, type LaneFacts, type WorkerParts } from './lanes.js'
import { noteOutcome } from './pace.js'
import { beginRound, type Round } from './round.js'
import { hasTurn, lookMs, takeTurn, type Begun, type TurnParts } from './turn.js'

export type { LaneFacts, WorkerParts } from './lanes.js'

export interface Worker {
  /** Begins with what is open. The undo lets attempts end, for a while. */
  start(): () => Promise<void>
  /** Looks at a lane again: something was added to it. */
  wake(target: string): void
  lanes(): LaneFacts[]
  /** Targets of which what is to be recorded cannot be, though storage takes changes. */
  refused(): string[]
  readonly beat: {
    readonly started_at_ms: number | undefined
    readonly at_ms: number | undefined
    readonly elapsed: number
  }
}

interface Life {
  readonly parts: TurnParts
  readonly rounds: Transients<Round>
  /** Attempts under way. */
  readonly running: Transients<Promise<void>>
  /** Turns that gather or are being written. */
  readonly turns: Transients<Promise<void>>
  /** The latest of them gathers still. */
  gathers: boolean
  /** Attempts whose intents are being written. */
  beginning: number
  /** `cut`: nothing is attempted any more. */
  phase: 'new' | 'running' | 'draining' | 'cut'
  beat: { started_at_ms: number | undefined; at_ms: number | undefined; elapsed: number }
}

export const createWorker = (parts: WorkerParts): Worker => {
  const lanes = createLanes(parts, () => kick(life))
  const life: Life = {
    parts: { ...parts, lanes },
    rounds: new Transients(),
    running: new Transients(),
    turns: new Transients(),
    gathers: false,
    beginning: 0,
    phase: 'new',
    beat: { started_at_ms: undefined, at_ms: undefined, elapsed: 0 },
  }
  return {
    start: () => start(life),
    wake: (target) => queueMicrotask(() => (life.phase === 'running' ? lanes.look(lanes.get(target)) : undefined)),
    lanes: () => [...lanes.all.values()].map(lanes.facts),
    refused: () => [...lanes.all.values()].flatMap(({ target, refusals }) => (refusals > 0 ? [target] : [])),
    get beat() {
      return life.beat
    },
  }
}

const start = (life: Life): (() => Promise<void>) => {
  const { clock, store, lanes } = life.parts
  life.phase = 'running'
  life.beat = { started_at_ms: clock.now(), at_ms: clock.now(), elapsed: clock.elapsed() }
  for (const target of store.deliveries.groups('lane')) lanes.look(lanes.get(target))
  let cancel = (): void => {}
  const lookAtAll = (): void => {
    cancel = clock.after(lookMs, lookAtAll)
    life.beat = { ...life.beat, at_ms: clock.now(), elapsed: clock.elapsed() }
    for (const lane of lanes.all.values()) lanes.look(lane)
  }
  cancel = clock.after(lookMs, lookAtAll)
  return () => {
    cancel()
    return drain(life)
  }
}

/** Attempts under way may end; those that do not are aborted, and the next start repeats them with the same key. */
const drain = async (life: Life): Promise<void> => {
  const { clock, config, lanes } = life.parts
  life.phase = 'draining'
  const late = new AbortController()
  const patience = clock.sleep(config.drain_ms, late.signal).then((whole) => {
    if (!whole) return
    life.phase = 'cut'
    for (const round of life.rounds.values()) round.abort()
  })
  while (life.running.size > 0 || life.turns.size > 0)
    await Promise.all([...life.turns.values(), ...life.running.values()])
  lanes.close()
  late.abort()
  await patience
}

/** Attempts that may begin now. */
const places = ({ phase, parts: { config }, running, beginning }: Life): number =>
  phase === 'running' ? config.max_parallel - running.size - beginning : 0

/** Turns at a time: one on its way to the disk, and the one that is filled meanwhile. */
const ahead = 2

/** Something can be recorded: what comes in this turn of the event loop is recorded together. */
const kick = (life: Life): void => {
  if (life.gathers || life.turns.size === ahead) return
  life.gathers = true
  const turn = setImmediate()
    .then(() => {
      life.gathers = false
      return take(life)
    })
    .finally(() => {
      leave()
      if (hasTurn(life.parts, places(life))) kick(life)
    })
  const leave = life.turns.add(turn)
}

const take = async (life: Life): Promise<void> => {
  const { parts } = life
  if (!hasTurn(parts, places(life))) return
  const { begins, begun } = takeTurn(parts, places(life))
  life.beginning += begins
  if (hasTurn(parts, places(life))) kick(life)
  const all = await begun
  life.beginning -= begins
  if (life.phase !== 'cut' && all.length > 0) attemptAll(life, all)
}

const attemptAll = (life: Life, begun: readonly Begun[]): void => {
  const round = beginRound(life.parts, begun.length, () => leaveRounds())
  const leaveRounds = life.rounds.add(round)
  for (const one of begun) {
    const work = round.attempt(one.intended).then((outcome) => {
      leave()
      finish(life, one, { outcome, aborted: round.aborted() })
    })
    const leave = life.running.add(work)
  }
}

/** Of an attempt that the stop of the daemon cut off nobody knows the outcome. */
const finish = (
  life: Life,
  { lane, intended: { delivery } }: Begun,
  { outcome, aborted }: { outcome: DeliveryOutcome; aborted: boolean },
): void => {
  if (life.phase !== 'running' && aborted && outcome.type === 'retry') return
  const wait_ms = noteOutcome(life.parts, lane.pace, { delivery, outcome })
  lane.unwritten = { delivery, outcome, wait_ms }
  life.parts.lanes.ended.push(lane)
  kick(life)
}
