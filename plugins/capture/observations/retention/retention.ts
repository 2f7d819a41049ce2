/**
 * The end of observations: by age, for room, and of what was purged long ago. A source says when something of it is due
 * next, in an index; one timer waits for the first of them.
 */
import type { Clock, Log, Tx } from '../../../../core/plugin.js'
import { groupOf, type ObservationRecord, type ObservationStore, type SourceRecord } from '../record/store.js'

/** How long a purged observation is listed, and how many of a source: then it is forgotten. */
export const history = { ms: 30 * 86_400_000, most: 100_000 } as const
/** Observations of one commit. */
const atOnce = 64
const retryMs = 5_000
const second = 1_000

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
  /** Purges what is due before anybody looks. Never rejects: where storage takes no changes, things stay as they are. */
  upToNow(): Promise<void>
  /** Something may be due sooner than planned. */
  poke(): void
  /** Begins to wait. Returns the end, which waits for what is under way. */
  begin(): () => Promise<void>
}

const expiryOf = ({ view: { retention_seconds } }: SourceRecord, { view }: ObservationRecord): number =>
  view.received_at_ms + retention_seconds * second + 1
const soonest = (...times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}
const withDue = (source: SourceRecord, due: number | undefined): SourceRecord => {
  const { due_at_ms: _due_at_ms, ...rest } = source
  return due === undefined ? rest : { ...rest, due_at_ms: due }
}

export const createRetention = (parts: RetentionParts): Retention => {
  const { store, clock, log, mostPurged = history.most } = parts
  const purges = createPurges(parts)
  let running: Promise<void> | undefined
  let cancel = (): void => {}
  let planned = Infinity
  let ended = true

  const firstDue = (): SourceRecord | undefined => store.sources.list({ index: 'due', group: 'due', limit: 1 })[0]
  const isDue = (source: SourceRecord | undefined): source is SourceRecord =>
    source?.due_at_ms !== undefined && source.due_at_ms <= clock.now()

  /** One commit of one source; true if there may be more. */
  const step = (source_id: string): Promise<boolean> =>
    store.state.commit((tx) => {
      const source = store.sources.find(source_id)
      if (source === undefined) return false
      const left = { count: atOnce }
      const kept = purges.forget(tx, purges.overBudget(tx, purges.expired(tx, source, left), left), {
        left,
        mostPurged,
      })
      const hasMore = left.count <= 0
      const next = withDue(kept, hasMore ? tx.now : purges.nextDue(kept))
      if (next !== source) tx.put(store.sources, next)
      return hasMore
    })
  const settle = async (source_id: string): Promise<void> => {
    while (await step(source_id));
    poke()
  }
  const sweep = async (): Promise<void> => {
    for (let source = firstDue(); isDue(source) && !ended; source = firstDue()) await settle(source.view.source_id)
  }
  const work = (): Promise<void> => {
    running ??= sweep()
      .then(
        () => arm(),
        (error: unknown) => {
          log.warn('observations that are due could not be purged', { error })
          armIn(retryMs)
        },
      )
      .finally(() => {
        running = undefined
      })
    return running
  }
  const armIn = (ms: number): void => {
    cancel()
    planned = clock.now() + ms
    if (!ended) cancel = clock.after(ms, work)
  }
  const arm = (): void => {
    const due = firstDue()?.due_at_ms
    cancel()
    planned = Infinity
    if (due !== undefined) armIn(Math.max(0, due - clock.now()))
  }
  const poke = (): void => {
    const due = firstDue()?.due_at_ms
    if (due !== undefined && due < planned && running === undefined) arm()
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
      ended = false
      arm()
      return async () => {
        ended = true
        cancel()
        await running
      }
    },
  }
}

interface Left {
  count: number
}

interface Purges {
  /** What is older than its source keeps. */
  expired(tx: Tx, source: SourceRecord, left: Left): SourceRecord
  /** What is more than its source keeps: captured first, purged first. */
  overBudget(tx: Tx, source: SourceRecord, left: Left): SourceRecord
  /** What was purged long ago, or is more than is listed. */
  forget(tx: Tx, source: SourceRecord, bounds: { readonly left: Left; readonly mostPurged: number }): SourceRecord
  nextDue(source: SourceRecord): number | undefined
}

const createPurges = ({ store: { observations, skip } }: RetentionParts): Purges => {
  const first = (index: string, group: string): ObservationRecord | undefined =>
    observations.list({ index, group, limit: 1, skip })[0]
  const purge = (tx: Tx, source: SourceRecord, record: ObservationRecord): SourceRecord => {
    const { view } = record
    const { purge_raw_on_retention, active_observation_count: count, active_byte_length: bytes } = source.view
    tx.put(observations, {
      ...record,
      view: { ...view, retention_state: 'purged' },
      purged_at_ms: Math.max(tx.now, view.received_at_ms),
      ...(purge_raw_on_retention && { leaving: true }),
    })
    const active = { active_observation_count: count - 1, active_byte_length: bytes - view.byte_length }
    return { ...source, view: { ...source.view, ...active } }
  }
  const purgeWhile = (
    tx: Tx,
    source: SourceRecord,
    { left, next }: { left: Left; next: (now: SourceRecord) => ObservationRecord | undefined },
  ): SourceRecord => {
    let kept = source
    for (; left.count > 0; left.count -= 1) {
      const record = next(kept)
      if (record === undefined) return kept
      kept = purge(tx, kept, record)
    }
    return kept
  }
  return {
    expired: (tx, source, left) =>
      purgeWhile(tx, source, {
        left,
        next: (now) => {
          const record = first('received', now.view.source_id)
          return record !== undefined && expiryOf(now, record) <= tx.now ? record : undefined
        },
      }),
    overBudget: (tx, source, left) =>
      purgeWhile(tx, source, {
        left,
        next: ({ view }) => {
          const isOver =
            view.active_observation_count > view.max_active_observations ||
            view.active_byte_length > view.max_active_bytes
          return isOver ? first('source', groupOf('active', view.source_id)) : undefined
        },
      }),
    forget(tx, source, { left, mostPurged }) {
      const { source_id } = source.view
      for (; left.count > 0; left.count -= 1) {
        const record = first('purged', source_id)
        if (record?.purged_at_ms === undefined || record.leaving === true) return source
        const isOld = record.purged_at_ms + history.ms <= tx.now
        if (!isOld && observations.count('purged', source_id) <= mostPurged) return source
        tx.remove(observations, record.view.observation_id, 'purged long ago')
      }
      return source
    },
    nextDue(source) {
      const active = first('received', source.view.source_id)
      const purged = first('purged', source.view.source_id)?.purged_at_ms
      return soonest(active && expiryOf(source, active), purged === undefined ? undefined : purged + history.ms)
    },
  }
}
