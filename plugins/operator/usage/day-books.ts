/**
 * What each day used. A call is written with its session alone, and its day adds it in memory once it is durable. The
 * record of such a day says that it is open, and a start behind a kill sums it up from its sessions.
 */
import { thrownText, type Log, type State, type Tx } from '../../../core/plugin.js'
import { joined, withCall, type Call, type DayRecord, type DaySums, type Sums, type UsageStore } from './store.js'

export interface DayBooks {
  /** The sums of a day, of calls that are durable; undefined where nothing was used. */
  find(day: string): DaySums | undefined
  /** Days that have a record, in order. */
  ids(): readonly string[]
  /** Adds a call when the commit is durable, whose session is put in the same commit if it has one. */
  add(tx: Tx, day: string, call: Call & { readonly inSession: boolean }): void
  /** Sums up the days that a kill left open. */
  begin(inTurn: () => Promise<void>): Promise<void>
  /** The days of this life stand in their records. */
  end(): Promise<void>
}

export interface DayBookParts {
  readonly state: Pick<State, 'commit'>
  readonly store: UsageStore
  readonly log: Log
}

/** A day of which calls ended in this life, or that a kill left open. */
interface Counted {
  sums: Sums
  /** Calls that are not durable yet; those that never became so stay, and the day is left open. */
  waiting: number
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
    const made = { sums: record, waiting: 0 }
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
      if (day !== current && one.waiting === 0)
        await close(day, one).catch((error: unknown) =>
          log.warn('a day of usage was left open', { day, error: thrownText(error) }),
        )
  }
  const sumOf = async (day: string, inTurn: () => Promise<void>): Promise<Sums> => {
    let sums = store.days.find(day)?.apart ?? nothing
    for (let beyond = day; ; await inTurn()) {
      const ids = store.sessions.page({ index: 'all', group: 'all', limit: step, beyond })
      const own = ids.filter((id) => id.startsWith(`${day}:`))
      for (const id of own) sums = joined(sums, store.sessions.find(id) ?? nothing)
      beyond = ids.at(-1) ?? day
      if (own.length < step) return sums
    }
  }
  const open = (tx: Tx, record: DayRecord, call: Call & { readonly inSession: boolean }): void => {
    const { apart = nothing } = record
    if (!call.inSession) tx.put(store.days, { ...record, apart: withCall(apart, call), open: true })
    else if (record.open !== true) tx.put(store.days, { ...record, apart, open: true })
  }
  return {
    find(day) {
      const known = counted.get(day)
      if (known === undefined) return store.days.find(day)
      return known.sums.routes.length === 0 ? undefined : { day, ...known.sums }
    },
    ids: () => store.days.ids('all', 'all'),
    add(tx, day, call) {
      const record = store.days.find(day)
      const isOfEarlierVersion = record !== undefined && record.apart === undefined
      if (isOfEarlierVersion) return tx.put(store.days, { day, ...withCall(record, call) })
      const own = countedOf(day, record)
      open(tx, record ?? { day, ...nothing }, call)
      own.waiting += 1
      tx.after(() => {
        own.sums = withCall(own.sums, call)
        own.waiting -= 1
        if (day === latest) return
        latest = day
        void closeAllBut(day)
      })
    },
    async begin(inTurn) {
      for (const day of store.days.ids('open', 'all')) countedOf(day, await sumOf(day, inTurn))
    },
    end: () => closeAllBut(undefined),
  }
}
