import {
  arraySource,
  createTurns,
  defaulted,
  defineRoute,
  doc,
  enums,
  jsonReply,
  listPage,
  named,
  object,
  optional,
  pageFields,
  pageOf,
  pageProblems,
  rule,
  string,
  type Route,
} from '../../../core/plugin.js'
import { usageFields } from './contract.js'
import type { DayBooks } from './day-books.js'
import { byDay, byPurpose, byRoute, daySums, daySumsOf, ofSession, sessionsIn } from './report.js'
import type { SessionIds } from './session-ids.js'
import type { UsageStore } from './store.js'

const isDay = (text: string): boolean => {
  const at = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}
const Day = rule(
  string({ pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, told: 'must be a day such as 2026-01-31' }),
  'must be a day of the calendar',
  isDay,
)

const day = (sentence: string) => optional(doc(Day, `${sentence}, such as 2026-11-23.`))

export const UsageRow = named(
  'UsageRow',
  object({
    day: optional(doc(string(), 'Of the zone `day_zone` of the configuration.')),
    session_id: optional(doc(string(), 'Id of the session.')),
    route: optional(doc(string(), 'Id of the model route.')),
    purpose: optional(
      doc(string(), 'What was asked for outside of runs, such as `hook` or `compaction`; `run` is what runs used.'),
    ),
    ...usageFields,
  }),
)

const asked = object({
  ...pageFields,
  by: doc(defaulted(enums(['day', 'session', 'route', 'purpose']), 'day'), 'What a row is of.'),
  from: day('Not before this day'),
  to: day('Not after this day'),
  session_id: optional(doc(string({ min: 1, max: 200 }), 'Only what this session used.')),
})
const query = rule(
  asked,
  'must not have from after to',
  ({ from, to }) => from === undefined || to === undefined || from <= to,
)

export interface UsageRouteParts {
  readonly store: UsageStore
  readonly day_books: DayBooks
  readonly session_ids: SessionIds
}

export const usageRoute = ({ store, day_books, session_ids }: UsageRouteParts): Route => {
  const inTurn = createTurns()
  return defineRoute({
    id: 'usage.list',
    method: 'GET',
    path: '/v1/usage',
    summary: 'Lists what model calls used and cost, by day, session, route or purpose.',
    access: 'read',
    query,
    reply: jsonReply(pageOf(UsageRow)),
    problems: [...pageProblems],
    handler: async ({ query: asked }) => {
      const { by, session_id } = asked
      if (by === 'session') {
        const all =
          session_id === undefined
            ? await sessionsIn({ sessions: store.sessions, session_ids }, asked, inTurn)
            : known(store, session_id)
        const source = arraySource(all, (id) => id)
        return listPage({ query: asked, source, label: 'session_id_asc', view: (id) => ofSession(store, asked, id) })
      }
      const records = session_id === undefined ? daySums(day_books, asked) : daySumsOf(store, asked, session_id)
      const rows = reports[by](records)
      const source = arraySource(rows, (row) => row.day ?? row.route ?? row.purpose ?? '')
      return listPage({ query: asked, source, label: `${by}_asc`, view: (row) => row })
    },
  })
}

const reports = { day: byDay, route: byRoute, purpose: byPurpose }

const known = ({ sessions }: UsageStore, session_id: string): string[] =>
  sessions.count('session', session_id) === 0 ? [] : [session_id]
