/** The sums: of each day, and of each day of each session, by route. They stay when runs fall. */
import type { Collection, CollectionSpec, State } from '../../../core/plugin.js'
import { addUsage, type UsageSums } from './contract.js'

export type RouteSums = UsageSums & { readonly route: string }
export type PurposeSums = UsageSums & { readonly purpose: string }
/** `purposes`: the part of it that was asked outside of runs. */
export type DaySums = {
  readonly day: string
  readonly routes: readonly RouteSums[]
  readonly purposes?: readonly PurposeSums[]
}
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
  /** Of a call outside of runs. */
  readonly purpose: string | undefined
}

/** The sums of a day so far, with one call more. */
export const withCall = ({ days }: UsageStore, day: string, call: Call): DaySums => {
  const before = days.find(day)
  const purposes = withPurpose(before?.purposes, call)
  return { day, routes: added(before?.routes, call), ...(purposes !== undefined && { purposes }) }
}

/** The sums of a session on a day so far, with one call more. */
export const withSessionCall = (
  { sessions }: UsageStore,
  { day, session_id }: Pick<SessionSums, 'day' | 'session_id'>,
  call: Call,
): SessionSums => {
  const before = sessions.find(idOf(day, session_id))
  const purposes = withPurpose(before?.purposes, call)
  return { session_id, day, routes: added(before?.routes, call), ...(purposes !== undefined && { purposes }) }
}

const added = (routes: readonly RouteSums[] = [], { route, sums }: Call): RouteSums[] => {
  const at = routes.findIndex((one) => one.route === route)
  const now: RouteSums = { route, ...addUsage(routes[at], sums) }
  return at < 0 ? [...routes, now] : routes.with(at, now)
}

/** Purposes are words of the code; what is none, and one beyond so many of a day, is `other`. */
const [isWord, mostPurposes] = [/^[a-z][a-z_]{0,31}$/u, 50]

const withPurpose = (
  purposes: readonly PurposeSums[] | undefined,
  { purpose, sums }: Call,
): readonly PurposeSums[] | undefined => {
  if (purpose === undefined) return purposes
  const known = purposes ?? []
  const isKnown = known.some((one) => one.purpose === purpose)
  const word = isKnown || (isWord.test(purpose) && known.length < mostPurposes) ? purpose : 'other'
  const at = known.findIndex((one) => one.purpose === word)
  const now: PurposeSums = { purpose: word, ...addUsage(known[at], sums) }
  return at < 0 ? [...known, now] : known.with(at, now)
}

const none: UsageSums = { calls: 0, input_tokens: 0, output_tokens: 0 }

/** What all of these used together. */
export const totalOf = (records: readonly ({ readonly routes: readonly UsageSums[] } | undefined)[]): UsageSums =>
  records.reduce<UsageSums>((sums, record) => (record?.routes ?? []).reduce<UsageSums>(addUsage, sums), none)
