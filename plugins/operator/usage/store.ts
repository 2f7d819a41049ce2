/** The sums: of each day, and of each day of each session, by route. They stay when runs fall. */
import type { Collection, CollectionSpec, State } from '../../../core/plugin.js'
import { addUsage, type UsageSums } from './contract.js'

export type RouteSums = UsageSums & { readonly route: string }
export type DaySums = { readonly day: string; readonly routes: readonly RouteSums[] }
export type SessionSums = DaySums & { readonly session_id: string }

const dayCollection: CollectionSpec<DaySums> = {
  name: 'usage_days',
  version: 2,
  id: ({ day }) => day,
  indexes: { all: { group: () => 'all' } },
}

const dayLength = '2026-11-23'.length
const idOf = (day: string, session_id: string): string => `${day}:${session_id}`
/** What an id is of. */
export const partsOfId = (id: string) => ({ day: id.slice(0, dayLength), session_id: id.slice(dayLength + 1) })

const sessionCollection: CollectionSpec<SessionSums> = {
  name: 'usage_sessions',
  version: 1,
  id: ({ day, session_id }) => idOf(day, session_id),
  indexes: { all: { group: () => 'all' }, session: { group: ({ session_id }) => session_id } },
  settled: () => true,
}

export interface UsageStore {
  readonly days: Collection<DaySums>
  readonly sessions: Collection<SessionSums>
}

export const declareStore = (state: State): UsageStore => ({
  days: state.collection(dayCollection),
  sessions: state.collection(sessionCollection),
})

/** A model call as it is added to sums: made for every call, so nothing is copied for it. */
export interface Call {
  readonly route: string
  readonly sums: UsageSums
}

/** The sums of a day so far, with one call more. */
export const withCall = ({ days }: UsageStore, day: string, call: Call): DaySums => ({
  day,
  routes: added(days.find(day)?.routes, call),
})

/** The sums of a session on a day so far, with one call more. */
export const withSessionCall = (
  { sessions }: UsageStore,
  { day, session_id }: Pick<SessionSums, 'day' | 'session_id'>,
  call: Call,
): SessionSums => ({ session_id, day, routes: added(sessions.find(idOf(day, session_id))?.routes, call) })

const added = (routes: readonly RouteSums[] = [], { route, sums }: Call): RouteSums[] => {
  const at = routes.findIndex((one) => one.route === route)
  const now: RouteSums = { route, ...addUsage(routes[at], sums) }
  return at < 0 ? [...routes, now] : routes.with(at, now)
}

const none: UsageSums = { calls: 0, input_tokens: 0, output_tokens: 0 }

/** What all of these used together. */
export const totalOf = (records: readonly ({ readonly routes: readonly UsageSums[] } | undefined)[]): UsageSums =>
  records.reduce<UsageSums>((sums, record) => (record?.routes ?? []).reduce<UsageSums>(addUsage, sums), none)
