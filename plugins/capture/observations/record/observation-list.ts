/** Observations as they are listed: those that are active, or all; in order of capture. */
import { createPause, timeKey, type PageSource } from '../../../../core/plugin.js'
import { capturedKey, groupOf, type ObservationRecord, type ObservationStore } from './store.js'
import { retentionStates } from './structs.js'

export interface ObservationQuery {
  readonly source_id?: string | undefined
  readonly stream_id?: string | undefined
  readonly after_ms?: number | undefined
  readonly before_ms?: number | undefined
  readonly include_purged?: boolean | undefined
}

/** Ids that are counted at once. */
const step = 1000

type Range = Parameters<PageSource<ObservationRecord>['list']>[0]

const keyOf = ({ view }: ObservationRecord): string => capturedKey(view)

/** The later of two beginnings, the earlier of two ends; `beyond` is exclusive, and no key is as short as a time. */
const nearer = (range: Range, bound: string | undefined): Range => {
  if (bound === undefined) return range
  const { beyond = bound, order } = range
  const isInside = order === 'asc' ? beyond > bound : beyond < bound
  return { ...range, beyond: isInside ? beyond : bound }
}

/** One page of an index for each state that is asked for. What is between two times is counted by its ids. */
export const observationList = async (
  { observations }: Pick<ObservationStore, 'observations'>,
  { source_id, stream_id, after_ms, before_ms, include_purged = false }: ObservationQuery,
): Promise<PageSource<ObservationRecord>> => {
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
  const countBeyond = async (group: string, from: string): Promise<number> => {
    let count = 0
    for (let [beyond, pause] = [from, createPause(1)]; ; await pause()) {
      const ids = observations.page({ index, group, limit: step, beyond })
      const last = ids.length < step ? undefined : observations.find(ids.at(-1) ?? '')
      count += ids.length
      if (last === undefined) return count
      beyond = keyOf(last)
    }
  }
  const countOf = async (group: string): Promise<number> => {
    const all = first === undefined ? observations.count(index, group) : await countBeyond(group, first)
    return end === undefined ? all : Math.max(0, all - (await countBeyond(group, end)))
  }
  let bounded = 0
  if (first !== undefined || end !== undefined) for (const group of groups) bounded += await countOf(group)
  const countAll = (): number => groups.reduce((sum, group) => sum + observations.count(index, group), 0)
  return { key: keyOf, list, count: first === undefined && end === undefined ? countAll : () => bounded }
}
