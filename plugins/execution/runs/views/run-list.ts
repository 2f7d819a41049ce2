/** `GET /v1/runs` in its three orders (runs-18 and runs-19). */
import {
  decodeCursor,
  inTurns,
  latest,
  listPage,
  type ListReply,
  type PageRequest,
  type PageSource,
  type Portions,
  type Skip,
  viewsOf,
} from '../../../../core/plugin.js'
import { openStatuses, type RunRecord, type RunStatus } from '../record/run-record.js'
import type { RunView } from './run-view.js'
import { isTerminal } from '../record/machine.js'
import { activeLane, queuedLane, type RunStore } from '../record/store.js'

export interface RunQuery extends PageRequest {
  readonly session_id?: string | undefined
  readonly priority_active?: boolean | undefined
  readonly status?: RunStatus | undefined
  /** Only these, in order of submission. */
  readonly only?: readonly string[]
}

export interface RunShow {
  readonly view: (run: RunRecord) => RunView
  /** Given what cannot be read, which is left out. */
  readonly skip?: Skip | undefined
}

const maxLimit = 100
/** Longest plain array without a limit. */
const plainMost = 1000

const keyOf = (run: RunRecord): string => `${String(run.submitted_at_ms).padStart(20, '0')}:${run.run_id}`

/**
 * Runs that are in each of some lists: of one status, of one session, of those that are named. Ids sort by submission,
 * and finding those that are in all lists reads no record.
 */
const sharedSource = (store: RunStore, { status, session_id, only }: RunQuery): PageSource<RunRecord> => {
  const [first = [], ...others] = [
    ...(only === undefined ? [] : [only]),
    ...(status === undefined ? [] : [store.runs.ids('status', status)]),
    ...(session_id === undefined ? [] : [store.runs.ids('session', session_id)]),
  ]
  const sets = others.map((ids) => new Set(ids))
  const ids = sets.length === 0 ? first : first.filter((id) => sets.every((set) => set.has(id)))
  return {
    count: () => ids.length,
    key: keyOf,
    list({ limit, order, beyond, skip }) {
      const step = order === 'asc' ? 1 : -1
      const runs: RunRecord[] = []
      for (let at = startOf(ids, order, beyond); runs.length < limit && at >= 0 && at < ids.length; at += step)
        for (const run of viewsOf([ids[at] ?? ''], (id) => store.runs.find(id), { key: (id) => id, skip }))
          if (run !== undefined) runs.push(run)
      return runs
    },
  }
}

/** Where the ids beyond a key begin, in the direction of the order. */
const startOf = (ids: readonly string[], order: 'asc' | 'desc', beyond: string | undefined): number => {
  const last = beyond === undefined ? undefined : idIn(beyond)
  if (order === 'asc') return last === undefined ? 0 : countUntil(ids, (id) => id > last)
  return (last === undefined ? ids.length : countUntil(ids, (id) => id >= last)) - 1
}

/** How many of the ids, which are in order, come before the first that fits. */
const countUntil = (ids: readonly string[], fits: (id: string) => boolean): number => {
  let low = 0
  for (let high = ids.length; low < high;) {
    const middle = (low + high) >>> 1
    if (fits(ids[middle] ?? '')) high = middle
    else low = middle + 1
  }
  return low
}
const idIn = (key: string): string => key.slice(key.indexOf(':') + 1)

/** Runs of one session or of all, in order of submission. */
const runSource = (store: RunStore, session_id: string | undefined): PageSource<RunRecord> => {
  const scope = session_id === undefined ? { index: 'all', group: 'all' } : { index: 'session', group: session_id }
  return {
    count: () => store.runs.count(scope.index, scope.group),
    key: keyOf,
    list: ({ limit, order, beyond, skip }) =>
      store.runs.list({ ...scope, limit, order, skip, ...(beyond !== undefined && { beyond: idIn(beyond) }) }),
  }
}

/** The answer of the list in the form that the query asks for. A plain array without a limit is bounded. */
export const listRuns = (store: RunStore, query: RunQuery, { view, skip: skipRun }: RunShow): RunReply => {
  const skip: Skip | undefined = skipRun === undefined ? undefined : (key, error) => skipRun(idIn(key), error)
  if (query.priority_active === true && query.only === undefined) return listBusy(store, query, { view, skip })
  const source =
    query.status === undefined && query.only === undefined
      ? runSource(store, query.session_id)
      : sharedSource(store, query)
  if (isPaged(query) || query.limit !== undefined)
    return listPage({ query, source, label: 'submitted_at_ms_asc,run_id_asc', legacy: 'last', view, skip })
  return latest({ source, view, skip }, plainMost)
}
type RunReply = ListReply<RunView> | Promise<ListReply<RunView>>

const isPaged = ({ page, cursor }: PageRequest): boolean => page === true || cursor !== undefined

const activity = 'activity'
const activityKey = (run: RunRecord): string =>
  `${isTerminal(run) ? 0 : 1}${String(run.updated_at_ms).padStart(20, '0')}:${run.run_id}`

/** Open runs, then those that changed last: a run that changes meanwhile moves to the front and is not missed there. */
const listBusy = async (store: RunStore, query: RunQuery, show: RunShow): Promise<ListReply<RunView>> => {
  const limit = query.limit ?? (isPaged(query) ? undefined : maxLimit)
  const beyond = query.cursor === undefined || query.cursor === '' ? undefined : decodeCursor(activity, query.cursor)
  const open = await inTurns(firstOpen(store, query, beyond))
  return listPage({ query: { ...query, limit }, source: busySource(store, query, open), label: activity, ...show })
}

interface Keyed {
  readonly key: string
  readonly run: RunRecord
}

interface Open {
  readonly count: number
  /** Those that a page may show, in order. */
  readonly first: readonly Keyed[]
}

/** Runs that are looked at before others are served. */
const portion = 500

/** The open runs beyond a key that changed last. There may be a hundred thousand of them. */
function* firstOpen({ runs }: RunStore, { session_id, status }: RunQuery, beyond: string | undefined): Portions<Open> {
  const ids =
    session_id === undefined
      ? openStatuses.flatMap((group) => runs.ids('status', group))
      : [activeLane(session_id), queuedLane(session_id)].flatMap((group) => runs.ids('lane', group))
  const first: Keyed[] = []
  let count = 0
  for (let left = ids.length; left > 0; left -= 1) {
    const run = runs.find(ids[left - 1] ?? '')
    if (left % portion === 0) yield undefined
    if (run === undefined || isTerminal(run) || (status !== undefined && run.status !== status)) continue
    count += 1
    const key = activityKey(run)
    if (beyond === undefined || key < beyond) insert(first, { key, run })
  }
  return { count, first }
}

/** Keeps as many as a page shows, and the one that tells that there are more. */
const insert = (first: Keyed[], { key, run }: Keyed): void => {
  const last = first.at(-1)
  if (first.length > maxLimit && last !== undefined && key < last.key) return
  const at = first.findIndex((other) => other.key < key)
  first.splice(at < 0 ? first.length : at, 0, { key, run })
  if (first.length > maxLimit + 1) first.pop()
}

/** A run that ended since it was seen stands where it was seen. */
const busySource = (store: RunStore, query: RunQuery, open: Open): PageSource<RunRecord> => {
  const seen = new Set(open.first.map(({ run }) => run.run_id))
  const ended = endedIds(store, query)
  return {
    count: () => open.count + ended.length,
    key: activityKey,
    list({ limit, beyond, skip }) {
      const found = open.first.map(({ run }) => run)
      const start = beyond?.startsWith('0') === true ? ended.lastIndexOf(idIn(beyond)) : ended.length
      for (let at = start - 1; found.length < limit && at >= 0; at -= 1) {
        const id = ended[at] ?? ''
        if (seen.has(id)) continue
        for (const run of viewsOf([id], (one) => store.runs.find(one), { key: (one) => one, skip }))
          if (run !== undefined) found.push(run)
      }
      return found.slice(0, limit)
    },
  }
}

/** Ids of runs that have ended, in the order of their last change; reads no record. */
const endedIds = (store: RunStore, { session_id, status }: RunQuery): readonly string[] => {
  const sets = [
    ...(status === undefined ? [] : [new Set(store.runs.ids('status', status))]),
    ...(session_id === undefined ? [] : [new Set(store.runs.ids('session', session_id))]),
  ]
  const ids = store.runs.ids('changed', 'all')
  return sets.length === 0 ? ids : ids.filter((id) => sets.every((set) => set.has(id)))
}
