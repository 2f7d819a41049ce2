/**
 * What each day used. A call is written with its session alone, and its day adds it in memory. The record of such a day
 * says that it is open, and a start behind a kill sums it up from its sessions.
 */
import { tellFailure, type Log, type State, type Tx } from '../../../core/plugin.js'
import {
  idOf,
  joined,
  totalOf,
  withCall,
  type Call,
  type DayRecord,
  type DaySums,
  type SessionSums,
  type Sums,
  type UsageStore,
} from './store.js'

export interface DayBooks {
  /** The sums of a day, with what waits for the disk; undefined where nothing was used. */
  find(day: string): DaySums | undefined
  /** Days that have a record, in order. */
  ids(): readonly string[]
  /** Adds a call; `session` is what was put for it in the same commit, if it has one. */
  add(tx: Tx, day: string, added: { readonly call: Call; readonly session: SessionSums | undefined }): void
  /** Sums up the days that a kill left open. */
  begin(inTurn: () => Promise<void>): Promise<void>
  /** The days of this life stand in their records. */
  end(): Promise<void>
}

export interface DayBookParts {
  readonly state: Pick<State, 'commit' | 'health'>
  readonly store: UsageStore
  readonly log: Log
}

/** A day of which calls ended in this life, or that a kill left open. */
interface Counted {
  /** Of calls that are durable. */
  sums: Sums
  /** The others, in the order of their commits; some may have failed. */
  readonly waiting: Waiting[]
}
interface Waiting {
  readonly call: Call
  /** Of its session, if it has one, else of what was asked outside of sessions: as its commit put them. */
  readonly put: Sums
  readonly session_id: string | undefined
}

const nothing: Sums = { routes: [] }
/** Sessions read in one turn of the event loop. */
const step = 512

export const createDayBooks = ({ state, store, log }: DayBookParts): DayBooks => {
  const counted = new Map<string, Counted>()
  /** Of the last call: when another one comes, what was before it is over, or was begun by a wrong clock. */
  let latest = ''
  const countedOf = (day: string, record: Sums = nothing): Counted => {
    const known = counted.get(day)
    if (known !== undefined) return known
    const made: Counted = { sums: record, waiting: [] }
    counted.set(day, made)
    return made
  }
  const isOpen = (day: string): boolean => store.days.find(day)?.open === true
  const close = async (day: string, { sums }: Counted): Promise<void> => {
    await state.commit((tx) => {
      const record = store.days.find(day)
      if (record?.open === true) tx.put(store.days, { day, ...sums, apart: record.apart ?? nothing })
    })
    if (!isOpen(day)) counted.delete(day)
  }
  /** One that stays open is summed up by the next start. */
  const closeAllBut = async (current: string | undefined): Promise<void> => {
    for (const [day, one] of counted)
      if (day !== current && !one.waiting.some((call) => isThere(store, day, call)))
        await close(day, one).catch((error: unknown) =>
          tellFailure({ log, state }, 'a day of usage was left open', { day, error }),
        )
  }
  const open = (tx: Tx, record: DayRecord, apart: Sums): void => {
    if (record.open !== true || apart !== record.apart) tx.put(store.days, { ...record, apart, open: true })
  }
  return {
    find(day) {
      const known = counted.get(day)
      if (known === undefined) return store.days.find(day)
      const there = known.waiting.filter((one) => isThere(store, day, one))
      const sums = there.reduce((all, { call }) => withCall(all, call), known.sums)
      return sums.routes.length === 0 ? undefined : { day, ...sums }
    },
    ids: () => store.days.ids('all', 'all'),
    add(tx, day, { call, session }) {
      const record = store.days.find(day)
      const isOfEarlierVersion = record !== undefined && record.apart === undefined
      if (isOfEarlierVersion) return tx.put(store.days, { day, ...withCall(record, call) })
      const own = countedOf(day, record)
      const { apart: before = nothing } = record ?? {}
      const apart = session === undefined ? withCall(before, call) : before
      open(tx, record ?? { day, ...nothing }, apart)
      const waiting = { call, put: session ?? apart, session_id: session?.session_id }
      own.waiting.push(waiting)
      tx.after(() => {
        own.sums = withCall(own.sums, call)
        // Those before it have failed: commits become durable in their order.
        own.waiting.splice(0, own.waiting.indexOf(waiting) + 1)
        if (day === latest) return
        latest = day
        void closeAllBut(day)
      })
    },
    async begin(inTurn) {
      for (const day of store.days.ids('open', 'all')) countedOf(day, await sumOf(store, day, inTurn))
    },
    end: () => closeAllBut(undefined),
  }
}

/** What was asked outside of sessions, and what each session used. */
const sumOf = async (store: UsageStore, day: string, inTurn: () => Promise<void>): Promise<Sums> => {
  let sums = store.days.find(day)?.apart ?? nothing
  for (let beyond = day; ; await inTurn()) {
    const ids = store.sessions.page({ index: 'all', group: 'all', limit: step, beyond })
    const own = ids.filter((id) => id.startsWith(`${day}:`))
    for (const id of own) sums = joined(sums, store.sessions.find(id) ?? nothing)
    beyond = ids.at(-1) ?? day
    if (own.length < step) return sums
  }
}

/** Sums grow with each call: where they are less than what its commit put, that has failed and was taken back. */
const isThere = (store: UsageStore, day: string, { put, session_id }: Waiting): boolean => {
  const now = session_id === undefined ? store.days.find(day)?.apart : store.sessions.find(idOf(day, session_id))
  return totalOf([now]).calls >= totalOf([put]).calls
}
