/** Which observations end now, and how: within the commit of somebody else. */
import { latestTime, type PageQuery, type Tx } from '../../../../core/plugin.js'
import {
  groupOf,
  receivedKey,
  type ObservationRecord,
  type ObservationStore,
  type SourceRecord,
} from '../record/store.js'

/** How long a purged observation is listed, and how many of a source: then it is forgotten. */
export const history = { ms: 30 * 86_400_000, most: 100_000 } as const
const second = 1_000

/** A source may keep for longer than a calendar has days. */
export const expiryOf = ({ view: { retention_seconds } }: SourceRecord, { view }: ObservationRecord): number =>
  Math.min(view.received_at_ms + retention_seconds * second + 1, latestTime)
export const soonest = (...times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Observations that one commit may still end. */
export interface Left {
  count: number
}

/** How far what is too old has ended, by age: what has ended before that is not walked over again. */
export interface Reached {
  key?: string
}

type Group = Pick<PageQuery, 'index' | 'group' | 'beyond'>

/** Whether a record ends, as its source is by now. */
type Ends = (source: SourceRecord, record: ObservationRecord) => boolean

export interface Purges {
  /** What is older than its source keeps. */
  expired(tx: Tx, source: SourceRecord, bounds: { readonly left: Left; readonly reached: Reached }): SourceRecord
  /** What is more than its source keeps: captured first, purged first. */
  overBudget(tx: Tx, source: SourceRecord, left: Left): SourceRecord
  /** What was purged long ago, or is more than is listed. */
  forget(tx: Tx, source: SourceRecord, bounds: { readonly left: Left; readonly mostPurged: number }): SourceRecord
  /** `again` is when that is looked at which is due and stays, because its files are still there. */
  nextDue(source: SourceRecord, again: number): number | undefined
}

const createHeads = ({ observations, skip }: ObservationStore) => {
  const some = (of: Group, limit: number): ObservationRecord[] => observations.list({ ...of, limit, skip })
  /**
   * Those at the head of a group, one and then as many as may end: what ends leaves the group, and to find the head
   * again for each of them costs more with each that has left.
   */
  function* heads(of: Group, left: Left): Generator<ObservationRecord> {
    const [first] = some(of, 1)
    if (first === undefined) return
    yield first
    if (left.count > 0) yield* some(of, left.count)
  }
  /** Those that were received first. */
  function* oldest(source_id: string, left: Left, reached: Reached): Generator<ObservationRecord> {
    const { key } = reached
    for (const record of heads(
      { index: 'received', group: source_id, ...(key !== undefined && { beyond: key }) },
      left,
    )) {
      yield record
      // It has ended, or nobody asks for another.
      reached.key = receivedKey(record)
    }
  }
  return { some, heads, oldest }
}

export const createPurges = (store: ObservationStore): Purges => {
  const { observations } = store
  const { some, heads, oldest } = createHeads(store)
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
  const isOver = ({ view }: SourceRecord): boolean =>
    view.active_observation_count > view.max_active_observations || view.active_byte_length > view.max_active_bytes
  const purgeWhile = (
    tx: Tx,
    source: SourceRecord,
    { left, from, ends }: { left: Left; from: Iterable<ObservationRecord>; ends: Ends },
  ): SourceRecord => {
    let kept = source
    for (const record of from) {
      if (left.count <= 0 || !ends(kept, record)) return kept
      kept = purge(tx, kept, record)
      left.count -= 1
    }
    return kept
  }
  return {
    expired: (tx, source, { left, reached }) =>
      purgeWhile(tx, source, {
        left,
        from: oldest(source.view.source_id, left, reached),
        ends: (now, record) => expiryOf(now, record) <= tx.now,
      }),
    overBudget: (tx, source, left) =>
      isOver(source)
        ? purgeWhile(tx, source, {
            left,
            from: heads({ index: 'source', group: groupOf('active', source.view.source_id) }, left),
            ends: isOver,
          })
        : source,
    forget(tx, source, { left, mostPurged }) {
      const { source_id } = source.view
      for (const record of heads({ index: 'purged', group: source_id }, left)) {
        if (left.count <= 0 || record.purged_at_ms === undefined || record.leaving === true) return source
        const isOld = record.purged_at_ms + history.ms <= tx.now
        if (!isOld && observations.count('purged', source_id) <= mostPurged) return source
        tx.remove(observations, record.view.observation_id, 'purged long ago')
        left.count -= 1
      }
      return source
    },
    nextDue(source, again) {
      const [active] = some({ index: 'received', group: source.view.source_id }, 1)
      const [purged] = some({ index: 'purged', group: source.view.source_id }, 1)
      const forgotten_at_ms = purged?.purged_at_ms
      return soonest(
        active && expiryOf(source, active),
        forgotten_at_ms && Math.max(forgotten_at_ms + history.ms, again),
      )
    },
  }
}
