/** Observations as they are listed: those that are active, or all; in order of capture. */
import { timeKey, type PageSource } from '../../../../core/plugin.js'
import { capturedKey, groupOf, type ObservationRecord, type ObservationStore } from './store.js'
import { retentionStates } from './structs.js'

export interface ObservationQuery {
  readonly source_id?: string | undefined
  readonly stream_id?: string | undefined
  readonly after_ms?: number | undefined
  readonly before_ms?: number | undefined
  readonly include_purged?: boolean | undefined
}

type Range = Parameters<PageSource<ObservationRecord>['list']>[0]

const keyOf = ({ view }: ObservationRecord): string => capturedKey(view)

/** The later of two beginnings, the earlier of two ends; `beyond` is exclusive, and no key is as short as a time. */
const nearer = (range: Range, bound: string | undefined): Range => {
  if (bound === undefined) return range
  const { beyond = bound, order } = range
  const isInside = order === 'asc' ? beyond > bound : beyond < bound
  return { ...range, beyond: isInside ? beyond : bound }
}

/** One page of an index for each state that is asked for. What is between two times is counted by the index too. */
export const observationList = (
  { observations }: Pick<ObservationStore, 'observations'>,
  { source_id, stream_id, after_ms, before_ms, include_purged = false }: ObservationQuery,
): PageSource<ObservationRecord> => {
  const index = source_id === undefined ? 'all' : stream_id === undefined ? 'source' : 'stream'
  const within = [source_id, stream_id].filter((part) => part !== undefined)
  const groups = retentionStates
    .filter((state) => include_purged || state === 'active')
    .map((state) => groupOf(state, ...within))
  const first = after_ms === undefined ? undefined : timeKey(after_ms)
  const end = before_ms === undefined ? undefined : timeKey(before_ms + 1)
  const isWithin = (record: ObservationRecord): boolean => {
    const key = keyOf(record)
    return (first === undefined || key > first) && (end === undefined || key < end)
  }
  const list = (range: Range): ObservationRecord[] => {
    const bounded = nearer(range, range.order === 'asc' ? first : end)
    const sign = range.order === 'asc' ? 1 : -1
    return groups
      .flatMap((group) => observations.list({ index, group, ...bounded }))
      .filter(isWithin)
      .sort((a, b) => (keyOf(a) < keyOf(b) ? -sign : sign))
      .slice(0, range.limit)
  }
  const countOf = (group: string): number => {
    const behind = end === undefined ? 0 : observations.count(index, group, end)
    return Math.max(0, observations.count(index, group, first) - behind)
  }
  return { key: keyOf, list, count: () => groups.reduce((sum, group) => sum + countOf(group), 0) }
}
