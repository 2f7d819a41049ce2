/**
 * The end of observations: by age, for room, and of what was purged long ago. A source says when something of it is due
 * next, in an index; one timer waits for the first of them.
 */
import { createTurns, type Clock, type Log, type Tx } from '../../../../core/plugin.js'
import type { ObservationRecord, ObservationStore, SourceRecord } from '../record/store.js'
import { createPurges, expiryOf, history, soonest, type Reached } from './purges.js'

/** Observations of one commit: others are served between two of them. */
const atOnce = 16
/** Commits under way at once: they share a sync, for somebody may wait until the last of very many has ended. */
const lanes = 16
const retryMs = 5_000

export interface RetentionParts {
  readonly store: ObservationStore
  readonly clock: Clock
  readonly log: Log
  /** There are files to be deleted. */
  readonly filesLeave: () => void
  readonly mostPurged?: number
}

export interface Retention {
  /** In the commit of an upload: purges what is over the budget of its source. Gives the source to be put. */
  evict(tx: Tx, source: SourceRecord): SourceRecord
  /** The source with the time when this observation expires, where that is sooner than what it waits for. */
  noteDue(source: SourceRecord, record: ObservationRecord): SourceRecord
  /** Looks at one source now, after its limits have changed. */
  settle(source_id: string): Promise<void>
  /** Purges what is due before anybody looks. Never rejects: where storage takes no changes, all stays as it is. */
  upToNow(): Promise<void>
  /** Something may be due sooner than planned. */
  poke(): void
  /** Begins to wait. Returns the end, which waits for what is under way. */
  begin(): () => Promise<void>
}

const withDue = (source: SourceRecord, due: number | undefined): SourceRecord => {
  const { due_at_ms: _due_at_ms, ...rest } = source
  return due === undefined ? rest : { ...rest, due_at_ms: due }
}

/** One timer, for the first of what is due. */
const createAlarm = (clock: Clock, ring: () => void) => {
  let cancel = (): void => {}
  let at = Infinity
  const set = (due: number | undefined): void => {
    cancel()
    at = due ?? Infinity
    cancel = due === undefined ? () => {} : clock.after(Math.max(0, due - clock.now()), ring)
  }
  return {
    set,
    bringForward(due: number | undefined) {
      if (due !== undefined && due < at) set(due)
    },
  }
}

export const createRetention = (parts: RetentionParts): Retention => {
  const { store, clock, log, mostPurged = history.most } = parts
  const purges = createPurges(store)
  const alarm = createAlarm(clock, () => void work())
  const turns = createTurns()
  let running: Promise<void> | undefined
  let [begun, ended] = [false, false]

  const firstDue = (): SourceRecord | undefined => store.sources.list({ index: 'due', group: 'due', limit: 1 })[0]
  const isDue = (source: SourceRecord | undefined): source is SourceRecord =>
    source?.due_at_ms !== undefined && source.due_at_ms <= clock.now()

  /** One commit of one source; true if there may be more. */
  const step = (source_id: string, reached: Reached): Promise<boolean> =>
    store.state.commit((tx) => {
      const source = store.sources.find(source_id)
      if (source === undefined) return false
      const left = { count: atOnce }
      const kept = purges.forget(tx, purges.overBudget(tx, purges.expired(tx, source, { left, reached }), left), {
        left,
        mostPurged,
      })
      const hasMore = left.count <= 0
      tx.put(store.sources, withDue(kept, hasMore ? tx.now : purges.nextDue(kept, tx.now + retryMs)))
      return hasMore
    })
  const lane = async (source_id: string, reached: Reached): Promise<void> => {
    do await turns()
    while (!ended && (await step(source_id, reached)))
  }
  const settle = async (source_id: string): Promise<void> => {
    const reached: Reached = {}
    const hasMore = await step(source_id, reached)
    if (hasMore) await Promise.all(Array.from({ length: lanes }, () => lane(source_id, reached)))
    poke()
  }
  const sweep = async (): Promise<void> => {
    for (let source = firstDue(); isDue(source) && !ended; source = firstDue()) await settle(source.view.source_id)
  }
  const work = (): Promise<void> => {
    running ??= sweep()
      .then(
        () => alarm.set(firstDue()?.due_at_ms),
        (error: unknown) => {
          log.warn('observations that are due could not be purged', { error })
          alarm.set(clock.now() + retryMs)
        },
      )
      .finally(() => {
        running = undefined
      })
    return running
  }
  const poke = (): void => {
    if (begun && !ended && running === undefined) alarm.bringForward(firstDue()?.due_at_ms)
    parts.filesLeave()
  }
  return {
    evict(tx, source) {
      const left = { count: atOnce }
      const kept = purges.overBudget(tx, source, left)
      return left.count <= 0 ? withDue(kept, tx.now) : kept
    },
    noteDue: (source, record) => withDue(source, soonest(source.due_at_ms, expiryOf(source, record))),
    settle,
    poke,
    upToNow: () => (isDue(firstDue()) ? work() : Promise.resolve()),
    begin() {
      begun = true
      alarm.set(firstDue()?.due_at_ms)
      return async () => {
        ended = true
        await running
        alarm.set(undefined)
      }
    },
  }
}
