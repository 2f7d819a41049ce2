/** `GET /v1/runs` in its three orders (runs-18 and runs-19). */
import {
  arraySource,
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
import { activeLane, queuedLane, splitGroup, type RunStore } from '../record/store.js'

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

/** The index and the group of the runs that a query asks for, in order of submission or of their last change. */
const scopeOf = (
  order: 'made' | 'changed',
  { session_id, status }: Pick<RunQuery, 'session_id' | 'status'>,
): { readonly index: string; readonly group: string } => {
  const prefix = order === 'made' ? '' : 'changed_'
  if (session_id !== undefined && status !== undefined)
    return { index: `${prefix}session_status`, group: splitGroup(session_id, status) }
  if (session_id !== undefined) return { index: `${prefix}session`, group: session_id }
  if (status !== undefined) return { index: `${prefix}status`, group: status }
  return { index: order === 'made' ? 'all' : 'changed', group: 'all' }
}

/** A few runs that are named, those of them that the query asks for. */
const namedSource = (
  store: RunStore,
  { status, session_id, only = [] }: RunQuery,
  skip?: Skip,
): PageSource<RunRecord> =>
  arraySource(
    viewsOf(only, (id) => store.runs.find(id), { key: (id) => id, skip }).filter(
      (run): run is RunRecord =>
        run !== undefined &&
        (status === undefined || run.status === status) &&
        (session_id === undefined || run.session_id === session_id),
    ),
    keyOf,
  )

const idIn = (key: string): string => key.slice(key.indexOf(':') + 1)

/** Runs in order of submission; ids sort by it. */
const runSource = (store: RunStore, query: RunQuery): PageSource<RunRecord> => {
  const scope = scopeOf('made', query)
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
  const source = query.only === undefined ? runSource(store, query) : namedSource(store, query, skipRun)
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

/** The open runs, then those that have ended. A run that ended since it was seen stands where it was seen. */
const busySource = (store: RunStore, query: RunQuery, open: Open): PageSource<RunRecord> => {
  const seen = new Set(open.first.map(({ run }) => run.run_id))
  const scope = scopeOf('changed', query)
  return {
    count: () => open.count + store.runs.count(scope.index, scope.group),
    key: activityKey,
    list({ limit, beyond, skip }) {
      const found = open.first.map(({ run }) => run).slice(0, limit)
      if (found.length === limit) return found
      const after = beyond?.startsWith('0') === true ? beyond.slice(1) : undefined
      const ended = store.runs.list({
        ...scope,
        limit: limit + seen.size,
        order: 'desc',
        skip,
        ...(after !== undefined && { beyond: after }),
      })
      return [...found, ...ended.filter(({ run_id }) => !seen.has(run_id))].slice(0, limit)
    },
  }
}
