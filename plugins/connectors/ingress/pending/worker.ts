/**
 * Fetches the files of events that wait, and begins their runs when there is room. A few at a time, connector by
 * connector, so that one whose platform is slow holds up no other.
 */
import { backoff, Problem, type Clock, type Log } from '../../../../core/plugin.js'
import type { Runs } from '../../../execution/runs/contract.js'
import type { Sessions } from '../../../execution/sessions/contract.js'
import { attemptFiles, patienceMs, type FetchParts } from './fetch-files.js'
import { submissionOfPending } from './material.js'
import { createRoom, mostLooked } from './room.js'
import { endEvent, freeAt, holderOf } from './order.js'
import { isComplete, laneOf, type PendingEvent, type PendingStore } from './store.js'

/** Behind an attempt that left something open, and one that found the queue full. */
const [waits, queueWaits] = [
  { base: 1000, max: 300_000 },
  { base: 5000, max: 60_000 },
]
/** Behind a fault of the daemon itself. */
const soonMs = 5000
/** A run that cannot be accepted is tried for so long. */
const mostWaitMs = 24 * patienceMs

/** Nothing is put off for longer: what is due later than that was put off by a clock that was set back since. */
const mostAheadMs = patienceMs + waits.max

export interface WorkerParts extends FetchParts {
  readonly store: PendingStore
  readonly runs: Runs
  readonly sessions: Sessions
  readonly clock: Clock
  readonly log: Log
}

export interface FilesWorker {
  /** Looks again at what waits. */
  poke(): void
  /** Begins; the undo resolves when nothing is under way. */
  start(): () => Promise<void>
}

export const createFilesWorker = (parts: WorkerParts): FilesWorker => {
  const { store, clock, log, signal } = parts
  const { events } = store
  const room = createRoom(clock)
  const works = new Set<Promise<void>>()
  /** Connectors in the order in which they had their turn last. */
  const turns = new Map<string, number>()
  let [phase, turn]: ['new' | 'running' | 'ended', number] = ['new', 0]
  let cancelTimer = (): void => {}

  /** The event of a connector that is due first and that nobody works on. */
  const nextOf = (lane: string): PendingEvent | undefined => {
    const id = events.page({ index: 'lane', group: lane, limit: mostLooked }).find((one) => !room.isActive(one))
    return id === undefined ? undefined : events.find(id)
  }

  const look = (): void => {
    cancelTimer()
    if (phase !== 'running') return
    const now = clock.now()
    let earliest = Infinity
    const lanes = events.groups('lane').toSorted((a, b) => (turns.get(a) ?? 0) - (turns.get(b) ?? 0))
    for (const lane of turns.keys()) if (!lanes.includes(lane)) turns.delete(lane)
    room.keepOnly(lanes)
    for (const lane of lanes) {
      const next = room.has(lane) ? nextOf(lane) : undefined
      if (next === undefined) continue
      if (next.due_at_ms > now && next.due_at_ms <= now + mostAheadMs) earliest = Math.min(earliest, next.due_at_ms)
      else {
        turns.set(lane, (turn += 1))
        begin(next)
        earliest = now
      }
    }
    if (earliest < Infinity) cancelTimer = clock.after(Math.max(0, earliest - now), look)
  }
  const begin = (event: PendingEvent): void => {
    room.begin(event.id, laneOf(event))
    const work = workOn(parts, event)
      .catch((error: unknown) => {
        if (signal.aborted) return undefined
        log.error('a message that waits was not worked on', { kind: event.kind, error })
        // Such as where the disk takes nothing: it is due still.
        return clock.sleep(soonMs, signal).then(() => undefined)
      })
      .then(() => {
        room.end(event.id)
        works.delete(work)
        look()
      })
    works.add(work)
  }
  return {
    poke: () => (phase === 'running' ? look() : undefined),
    start() {
      phase = 'running'
      look()
      return async () => {
        phase = 'ended'
        cancelTimer()
        await Promise.all(works)
      }
    },
  }
}

/** Fetches what is missing, then begins the run, or leaves it for later. */
const workOn = async (parts: WorkerParts, event: PendingEvent): Promise<void> => {
  const attempted = isComplete(event) ? { files: event.files, wait: 0 } : await attemptFiles(parts, event)
  if (parts.signal.aborted) return
  const next = { ...event, files: attempted.files }
  if (!isComplete(next)) return later(parts, event, attempted)
  if (await isHeldUp(parts, next)) return
  try {
    await complete(parts, next)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    await refused(parts, next, error)
  }
}

/** Puts off what came behind an event that waits still: that one's end lets it go on. */
const isHeldUp = async ({ store, clock }: WorkerParts, event: PendingEvent): Promise<boolean> => {
  if (holderOf(store, event, clock.now()) === undefined) return false
  return store.state.commit((tx) => {
    const holder = holderOf(store, event, tx.now)
    if (holder !== undefined && store.events.has(event.id))
      tx.put(store.events, { ...event, due_at_ms: freeAt(holder, tx.now) })
    return holder !== undefined
  })
}

/** The end of what waits and the begin of its run are one commit. */
const complete = async ({ store, runs, sessions }: WorkerParts, event: PendingEvent): Promise<void> => {
  const submission = await runs.prepare(submissionOfPending(event))
  await store.state.commit((tx) => {
    if (!store.events.has(event.id)) return
    // It was let in before its session was ended, and its sender was told so.
    sessions.open(tx, { session_id: event.session_id })
    runs.admit(submission)(tx)
    endEvent(store, tx, { event, why: 'its run has begun' })
  })
}

/** Only what nobody mends by waiting ends an event without a run. */
const refused = async (parts: WorkerParts, event: PendingEvent, problem: Problem): Promise<void> => {
  const { store, log, clock } = parts
  const { code } = problem
  if (code === 'binding_conflict') {
    const { binding_keys: _, ...input } = event.input
    return later(parts, { ...event, input }, { files: event.files, wait: 0 })
  }
  // A file that was deleted meanwhile is fetched again.
  if (code === 'asset_not_found')
    return later(parts, event, {
      files: event.files.map(({ wanted, missing }) => ({ wanted, ...(missing !== undefined && { missing }) })),
      wait: 0,
    })
  // A stop is no reason to give one up.
  const isLate = code !== 'daemon_draining' && clock.now() >= event.accepted_at_ms + mostWaitMs
  const pace = code === 'run_queue_full' ? queueWaits : waits
  if (code !== 'hook_blocked' && !isLate) return later(parts, event, { files: event.files, wait: 0, pace })
  log.error('a message that waited has no run', { kind: event.kind, connector: event.name, code })
  await store.state.commit((tx) => endEvent(store, tx, { event, why: code }))
}

interface Left {
  readonly files: PendingEvent['files']
  readonly wait: number
  readonly pace?: typeof waits
}

const later = async (
  { store }: Pick<WorkerParts, 'store'>,
  event: PendingEvent,
  { files, wait, pace = waits }: Left,
): Promise<void> => {
  const attempts = event.attempts + 1
  const pause = Math.max(backoff(pace, attempts), wait)
  await store.state.commit((tx) => {
    const { now } = tx
    // The clock may have been set back since it came.
    const accepted_at_ms = Math.min(event.accepted_at_ms, now)
    const until = accepted_at_ms + patienceMs
    // The last attempt is when the patience ends, whatever a server asked for.
    const due_at_ms = now < until ? Math.min(now + pause, until) : now + Math.min(pause, pace.max)
    if (store.events.has(event.id)) tx.put(store.events, { ...event, files, attempts, accepted_at_ms, due_at_ms })
  })
}
