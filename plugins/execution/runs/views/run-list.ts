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
import { changeKey, splitGroup, timeKey, type RunStore } from '../record/store.js'

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
  /** Unix ms. */
  readonly now: () => number
}

const maxLimit = 100
/** Longest plain array without a limit. */
const plainMost = 1000

const keyOf = (run: RunRecord): string => `${String(run.submitted_at_ms).padStart(20, '0')}:${run.run_id}`

interface Scope {
  readonly index: string
  readonly group: string
}

/** The index and the group of the runs that a query asks for, in order of submission or of their last change. */
const scopeOf = (order: 'made' | 'changed', { session_id, status }: Pick<RunQuery, 'session_id' | 'status'>): Scope => {
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
export const listRuns = (store: RunStore, query: RunQuery, { view, skip: skipRun, now }: RunShow): RunReply => {
  const skip: Skip | undefined = skipRun === undefined ? undefined : (key, error) => skipRun(idIn(key), error)
  if (query.priority_active === true && query.only === undefined)
    return listOpenFirst(store, query, { view, skip, now })
  const source = query.only === undefined ? runSource(store, query) : namedSource(store, query, skipRun)
  if (isPaged(query) || query.limit !== undefined)
    return listPage({ query, source, label: 'submitted_at_ms_asc,run_id_asc', legacy: 'last', view, skip })
  return latest({ source, view, skip }, plainMost)
}
type RunReply = ListReply<RunView> | Promise<ListReply<RunView>>

const isPaged = ({ page, cursor }: PageRequest): boolean => page === true || cursor !== undefined

/** A walk through pages: runs that were open when it began, then those that had ended. */
interface Walk {
  /** Unix ms; a run that ended later keeps its place among the open ones. */
  readonly since: number
  readonly part: 'open' | 'ended'
  /** The key in its part of the run that was shown last. */
  readonly after?: string | undefined
  /** The key of an open run: those with greater ones come first. */
  readonly rank: (run: RunRecord) => string
}

const openFirst = 'open_first'
const cursorForm = /^(?<since>\d+)\.(?<part>open|ended)[.:](?<after>.*)$/su

const keyIn =
  ({ since }: Walk) =>
  (run: RunRecord): string =>
    !isTerminal(run) || run.updated_at_ms > since ? `${since}.open:${run.run_id}` : `${since}.ended.${changeKey(run)}`

const walkOf = (query: RunQuery, now: number): Walk => {
  // What ends in this millisecond may end before this page is made or after it.
  const since = now - 1
  if (!isPaged(query)) return { since, part: 'open', rank: changeKey }
  const rank = ({ run_id }: RunRecord): string => run_id
  if (query.cursor === undefined || query.cursor === '') return { since, part: 'open', rank }
  const found = cursorForm.exec(decodeCursor(openFirst, query.cursor))?.groups
  const part = found?.['part'] === 'ended' ? 'ended' : 'open'
  return { since: Number(found?.['since']), part, after: found?.['after'], rank }
}

/**
 * Open runs, then those that have ended, the last change first. What changes must not move behind or before a cursor:
 * in pages open runs are in order of submission, the newest first, and the cursor says when the walk began.
 */
const listOpenFirst = async (store: RunStore, query: RunQuery, show: RunShow): Promise<ListReply<RunView>> => {
  const limit = query.limit ?? (isPaged(query) ? undefined : maxLimit)
  const walk = walkOf(query, show.now())
  const open = walk.part === 'ended' ? [] : await inTurns(firstOpen(store, query, { walk, skip: show.skip }))
  const source = openFirstSource(store, query, { walk, open })
  return listPage({ query: { ...query, limit }, source, label: openFirst, ...show })
}

/** Runs that are looked at before others are served. */
const portion = 500

const openScopes = ({ session_id, status }: RunQuery): readonly Scope[] =>
  openStatuses
    .filter((one) => status === undefined || one === status)
    .map((one) => scopeOf('made', { session_id, status: one }))

/** Beyond this key are the runs that changed after that time. */
const afterKey = (time: number): string => timeKey(time + 1, '')

interface Looking {
  readonly walk: Walk
  readonly skip: Skip | undefined
}

/** The next runs of the first part, as many as a page shows and one more. There may be a hundred thousand of them. */
function* firstOpen({ runs }: RunStore, query: RunQuery, { walk, skip }: Looking): Portions<readonly RunRecord[]> {
  const first: Ranked[] = []
  const take = (run: RunRecord): void => {
    const key = walk.rank(run)
    if (walk.after === undefined || key < walk.after) insert(first, { key, run })
  }
  const ids = openScopes(query).flatMap(({ index, group }) => runs.ids(index, group))
  for (let left = ids.length; left > 0; left -= 1) {
    const run = runs.find(ids[left - 1] ?? '')
    if (left % portion === 0) yield undefined
    if (run !== undefined && !isTerminal(run) && (query.status ?? run.status) === run.status) take(run)
  }
  const ended = scopeOf('changed', query)
  let beyond: string | undefined
  for (let left = runs.count(ended.index, ended.group, afterKey(walk.since)); left > 0; left -= portion) {
    const page = { ...ended, order: 'desc', limit: Math.min(left, portion), skip } as const
    const found = runs.list({ ...page, ...(beyond !== undefined && { beyond }) })
    for (const run of found) if (run.updated_at_ms > walk.since) take(run)
    beyond = found.map(changeKey).at(-1)
    yield undefined
  }
  return first.map(({ run }) => run)
}

interface Ranked {
  readonly key: string
  readonly run: RunRecord
}

/** Keeps as many as a page shows, and the one that tells that there are more. */
const insert = (first: Ranked[], { key, run }: Ranked): void => {
  const last = first.at(-1)
  if (first.length > maxLimit && last !== undefined && key < last.key) return
  // It ended since it was taken.
  if (first.some((other) => other.run.run_id === run.run_id)) return
  const at = first.findIndex((other) => other.key < key)
  first.splice(at < 0 ? first.length : at, 0, { key, run })
  if (first.length > maxLimit + 1) first.pop()
}

const openFirstSource = (
  { runs }: RunStore,
  query: RunQuery,
  { walk, open }: { readonly walk: Walk; readonly open: readonly RunRecord[] },
): PageSource<RunRecord> => {
  const ended = scopeOf('changed', query)
  const beyond = (walk.part === 'ended' ? walk.after : undefined) ?? afterKey(walk.since)
  return {
    count: () => [...openScopes(query), ended].reduce((sum, { index, group }) => sum + runs.count(index, group), 0),
    key: keyIn(walk),
    list({ limit, skip }) {
      const found = open.slice(0, limit)
      if (found.length === limit) return found
      return [...found, ...runs.list({ ...ended, limit: limit - found.length, order: 'desc', skip, beyond })]
    },
  }
}
