/**
 * What lanes have to record at one time is one commit: the outcomes of attempts that ended, and the intents of those
 * that begin next. What fails it is found by giving each lane a commit of its own.
 */
import { tellFailure, type Tx } from '../../../core/plugin.js'
import { conclude, givenUp, intend, isSpent, unrecorded, type Intended } from './attempt.js'
import type { Lane, Lanes, WorkerParts } from './lanes.js'
import { noteAttempt, waitOf } from './pace.js'
import type { OpenDelivery } from './store.js'

/** Time before storage is asked again that took no changes, or a lane whose commit failed. */
export const lookMs = 2000

/** Commits of its own in which an outcome is tried to be recorded, while storage takes changes. */
const mostRefusals = 5

/** Lanes of one commit: between two of them, requests are served. */
const batch = 32

export interface TurnParts extends WorkerParts {
  readonly lanes: Lanes
}

/** An attempt that begins: its intent is durable. */
export interface Begun {
  readonly lane: Lane
  readonly intended: Intended
}

interface Turn {
  /** Their outcomes are written. */
  readonly ended: readonly Lane[]
  /** They have waited for their turn. */
  readonly waiting: readonly Lane[]
  /** Attempts that may begin. */
  readonly places: number
}

export const hasTurn = ({ lanes: { ended, queue } }: TurnParts, places: number): boolean =>
  ended.length > 0 || (queue.length > 0 && places > 0)

/** Takes as many lanes from a list as go into one commit: one that is to be alone, or those before the first such. */
const takeFrom = (list: Lane[], most: number): Lane[] => {
  if (list[0]?.alone === true) return list.splice(0, Math.min(1, most))
  const alone = list.findIndex((lane) => lane.alone)
  return list.splice(0, Math.min(most, batch, alone === -1 ? list.length : alone))
}

const takeLanes = ({ ended, queue }: Lanes, places: number): Turn => {
  const done = takeFrom(ended, batch)
  if (done[0]?.alone === true) return { ended: done, waiting: [], places: 0 }
  const isNextAlone = done.length > 0 && queue[0]?.alone === true
  const waiting = isNextAlone ? [] : takeFrom(queue, places)
  return { ended: done, waiting, places: isNextAlone ? 0 : Math.min(places, batch) }
}

/** A turn that was taken and is on its way to the disk. */
export interface Taken {
  /** Attempts that it lets begin. */
  readonly begins: number
  /** What begins when it is durable; nothing if it could not be recorded. */
  readonly begun: Promise<readonly Begun[]>
}

/** Records one turn. */
export const takeTurn = (parts: TurnParts, places: number): Taken => {
  const turn = takeLanes(parts.lanes, places)
  const lanes = [...turn.ended, ...turn.waiting]
  for (const lane of lanes) lane.state = 'busy'
  let recorded: readonly Begun[] = []
  const commit = parts.store.state.commit((tx) => {
    recorded = record(parts, tx, turn)
  })
  return { begins: recorded.length, begun: commit.then(() => begin(parts, lanes, recorded), giveUp(parts, lanes)) }
}

const begin = ({ lanes: { look } }: TurnParts, lanes: readonly Lane[], begun: readonly Begun[]): readonly Begun[] => {
  for (const lane of lanes) release(lane)
  for (const { lane } of begun) lane.state = 'busy'
  for (const lane of lanes) look(lane)
  return begun
}

const giveUp =
  (parts: TurnParts, lanes: readonly Lane[]) =>
  (error: unknown): readonly Begun[] => {
    for (const lane of lanes) setAside(parts, lane, { error, several: lanes.length > 1 })
    return []
  }

const record = (parts: TurnParts, tx: Tx, { ended, waiting, places }: Turn): Begun[] => {
  conclude(parts, tx, ...ended.flatMap(({ unwritten }) => unwritten ?? []))
  // A lane goes on at once if no other waits for its turn.
  const next = parts.lanes.queue.length > 0 ? waiting : [...waiting, ...ended]
  const ready = next.flatMap((lane) => readyOf(parts, lane) ?? [])
  const spent = ready.filter(({ head }) => isSpent(parts, head))
  if (spent.length > 0) conclude(parts, tx, ...spent.map(({ head }) => givenUp(head)))
  const begin = (spent.length > 0 ? ready.filter((one) => !spent.includes(one)) : ready).slice(0, places)
  for (const { lane } of begin) noteAttempt(parts, lane.pace)
  const intended = intend(parts, tx, ...begin.map(({ head }) => head))
  return intended.flatMap((one, at) => {
    const lane = begin[at]?.lane
    return lane === undefined ? [] : [{ lane, intended: one }]
  })
}

const readyOf = (parts: TurnParts, lane: Lane): { readonly lane: Lane; readonly head: OpenDelivery } | undefined => {
  const head = parts.lanes.head(lane)
  return head === undefined || waitOf(parts, lane.pace, head) !== undefined ? undefined : { lane, head }
}

const release = (lane: Lane): void => {
  lane.state = 'idle'
  lane.unwritten = undefined
  lane.alone = false
  lane.refusals = 0
}

/** What could not be recorded is tried again: at once if another lane may have been the reason. */
const setAside = (
  { lanes, log, store }: TurnParts,
  lane: Lane,
  { error, several }: { error: unknown; several: boolean },
): void => {
  lane.state = 'idle'
  if (several) {
    lane.alone = true
    return lanes.look(lane)
  }
  tellFailure({ log, state: store.state }, 'a delivery could not be recorded', { target: lane.target, error })
  if (store.state.health.mode === 'ok') noteRefusal(lane)
  lanes.lookLater(lane, lookMs)
}

/** An outcome that is refused for good must not hold what waits behind it. */
const noteRefusal = (lane: Lane): void => {
  lane.refusals += 1
  if (lane.unwritten !== undefined && lane.refusals >= mostRefusals) lane.unwritten = unrecorded(lane.unwritten)
}
