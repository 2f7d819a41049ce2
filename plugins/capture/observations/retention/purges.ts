/** Which observations end now, and how: within the commit of somebody else. */
import type { Tx } from '../../../../core/plugin.js'
import { groupOf, type ObservationRecord, type ObservationStore, type SourceRecord } from '../record/store.js'

/** How long a purged observation is listed, and how many of a source: then it is forgotten. */
export const history = { ms: 30 * 86_400_000, most: 100_000 } as const
const second = 1_000

export const expiryOf = ({ view: { retention_seconds } }: SourceRecord, { view }: ObservationRecord): number =>
  view.received_at_ms + retention_seconds * second + 1
export const soonest = (...times: readonly (number | undefined)[]): number | undefined => {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Observations that one commit may still end. */
export interface Left {
  count: number
}

export interface Purges {
  /** What is older than its source keeps. */
  expired(tx: Tx, source: SourceRecord, left: Left): SourceRecord
  /** What is more than its source keeps: captured first, purged first. */
  overBudget(tx: Tx, source: SourceRecord, left: Left): SourceRecord
  /** What was purged long ago, or is more than is listed. */
  forget(tx: Tx, source: SourceRecord, bounds: { readonly left: Left; readonly mostPurged: number }): SourceRecord
  /** `again` is when that is looked at which is due and stays, because its files are still there. */
  nextDue(source: SourceRecord, again: number): number | undefined
}

export const createPurges = ({ observations, skip }: ObservationStore): Purges => {
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
    nextDue(source, again) {
      const active = first('received', source.view.source_id)
      const purged = first('purged', source.view.source_id)?.purged_at_ms
      return soonest(active && expiryOf(source, active), purged && Math.max(purged + history.ms, again))
    },
  }
}
