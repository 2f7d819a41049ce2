/** The sums: of each day, and of each day of each session, by route. They stay when runs fall. */
import type { Collection, CollectionSpec, State } from '../../../core/plugin.js'
import { addUsage, type UsageSums } from './contract.js'

export type RouteSums = UsageSums & { readonly route: string }
export type PurposeSums = UsageSums & { readonly purpose: string }
/** `purposes`: the part of it that was asked outside of runs. */
export interface Sums {
  readonly routes: readonly RouteSums[]
  readonly purposes?: readonly PurposeSums[]
}
export type DaySums = Sums & { readonly day: string }
export type SessionSums = DaySums & { readonly session_id: string }
/**
 * `apart`: of the day, what was asked outside of sessions; absent where an earlier version began the day. `open`: calls
 * may have ended since that no member but `apart` tells of.
 */
export type DayRecord = DaySums & { readonly apart?: Sums; readonly open?: true }

const dayCollection: CollectionSpec<DayRecord> = {
  name: 'usage_days',
  version: 3,
  id: ({ day }) => day,
  indexes: { all: { group: () => 'all' }, open: { group: ({ open }) => (open === true ? 'all' : undefined) } },
  settled: ({ open }) => open !== true,
}

const dayLength = '2026-11-23'.length
export const idOf = (day: string, session_id: string): string => `${day}:${session_id}`
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
  readonly days: Collection<DayRecord>
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

/** Sums so far, with one call more. */
export const withCall = (before: Sums | undefined, call: Call): Sums => {
  const purposes =
    call.purpose === undefined ? before?.purposes : withPurpose(before?.purposes, call.purpose, call.sums)
  const routes = withRoute(before?.routes, call)
  return purposes === undefined ? { routes } : { routes, purposes }
}

/** The sums of a session on a day so far, with one call more. */
export const withSessionCall = (
  { sessions }: UsageStore,
  { day, session_id }: Pick<SessionSums, 'day' | 'session_id'>,
  call: Call,
): SessionSums => ({ session_id, day, ...withCall(sessions.find(idOf(day, session_id)), call) })

/** What two used together. */
export const joined = (a: Sums, b: Sums): Sums => {
  const routes = b.routes.reduce<readonly RouteSums[]>(
    (all, { route, ...sums }) => withRoute(all, { route, sums }),
    a.routes,
  )
  const purposes = (b.purposes ?? []).reduce<readonly PurposeSums[] | undefined>(
    (all, { purpose, ...sums }) => withPurpose(all, purpose, sums),
    a.purposes,
  )
  return purposes === undefined ? { routes } : { routes, purposes }
}

const withRoute = (routes: readonly RouteSums[] = [], { route, sums }: Pick<Call, 'route' | 'sums'>): RouteSums[] => {
  const at = routes.findIndex((one) => one.route === route)
  const now: RouteSums = { route, ...addUsage(routes[at], sums) }
  return at < 0 ? [...routes, now] : routes.with(at, now)
}

/** Purposes are words of the code; what is none, and one beyond so many of a day, is `other`. */
const [isWord, mostPurposes] = [/^[a-z][a-z_]{0,31}$/u, 50]

const withPurpose = (known: readonly PurposeSums[] = [], purpose: string, sums: UsageSums): readonly PurposeSums[] => {
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
