/** Sums for those who ask: of days, sessions or routes. Reads no run and no journal. */
import { addUsage, lessUsage, type UsageSums } from './contract.js'
import type { DayBooks } from './day-books.js'
import type { SessionIds } from './session-ids.js'
import { partsOfId, totalOf, type DaySums, type UsageStore } from './store.js'

/** Days, both included; open where one is absent. */
export interface Span {
  readonly from?: string | undefined
  readonly to?: string | undefined
}
export type UsageRow = UsageSums & {
  readonly day?: string
  readonly session_id?: string
  readonly route?: string
  readonly purpose?: string
}

const within = ({ from = '', to = '~' }: Span, day: string): boolean => day >= from && day <= to

/** The sums of each day of the span. */
export const daySums = (day_books: Pick<DayBooks, 'ids' | 'find'>, span: Span): DaySums[] =>
  day_books
    .ids()
    .map((day) => (within(span, day) ? day_books.find(day) : undefined))
    .filter((sums) => sums !== undefined)

/** The same of one session. */
export const daySumsOf = ({ sessions }: Pick<UsageStore, 'sessions'>, span: Span, session_id: string): DaySums[] =>
  sessions
    .ids('session', session_id)
    .map((id) => (within(span, partsOfId(id).day) ? sessions.find(id) : undefined))
    .filter((sums) => sums !== undefined)

export const byDay = (records: readonly DaySums[]): UsageRow[] =>
  records.map((record) => ({ day: record.day, ...totalOf([record]) }))

export const byRoute = (records: readonly DaySums[]): UsageRow[] => {
  const sums = new Map<string, UsageSums>()
  for (const { routes } of records)
    for (const { route, ...one } of routes) sums.set(route, addUsage(sums.get(route), one))
  return [...sums].map(([route, one]) => ({ route, ...one }))
}

/** What was asked outside of runs by its purpose, and what runs used: all that was asked for nothing else. */
export const byPurpose = (records: readonly DaySums[]): UsageRow[] => {
  const sums = new Map<string, UsageSums>()
  let runs = totalOf(records)
  for (const { purposes = [] } of records)
    for (const { purpose, ...one } of purposes) {
      sums.set(purpose, addUsage(sums.get(purpose), one))
      runs = lessUsage(runs, one)
    }
  if (runs.calls > 0) sums.set(ofRuns, runs)
  return [...sums].map(([purpose, one]) => ({ purpose, ...one }))
}
/** No purpose of a consultation is called so. */
const ofRuns = 'run'

/** Ids read in one turn of the event loop. */
const step = 4096

export interface Sessions {
  readonly sessions: UsageStore['sessions']
  readonly session_ids: SessionIds
}

/** Sessions that used something in the span. */
export const sessionsIn = async (
  { sessions, session_ids }: Sessions,
  span: Span,
  inTurn: () => Promise<void>,
): Promise<readonly string[]> => {
  if (span.from === undefined && span.to === undefined) return session_ids.all(inTurn)
  const found = new Set<string>()
  for (let beyond = span.from; ; await inTurn()) {
    const ids = sessions.page({ index: 'all', group: 'all', limit: step, ...(beyond !== undefined && { beyond }) })
    for (const id of ids) {
      const { day, session_id } = partsOfId(id)
      if (!within(span, day)) return [...found]
      found.add(session_id)
    }
    beyond = ids.at(-1)
    if (ids.length < step) return [...found]
  }
}

export const ofSession = (store: Pick<UsageStore, 'sessions'>, span: Span, session_id: string): UsageRow => ({
  session_id,
  ...totalOf(daySumsOf(store, span, session_id)),
})
