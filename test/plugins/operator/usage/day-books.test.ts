/** What each day used, through orderly ends, kills, failures of the disk and clocks that are set; docs/rules/usage.md. */
import test from 'ava'
import { setImmediate } from 'node:timers/promises'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { createDayBooks } from '../../../../plugins/operator/usage/day-books.js'
import { declareStore, totalOf, withSessionCall, type DayRecord } from '../../../../plugins/operator/usage/store.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { freshRoot } from '../../../support/folders.js'
import { silent, takeRoot } from '../../../support/taken-root.js'

const [monday, tuesday] = ['2026-11-30', '2026-12-01']

const live = async (root: string, on?: Disk) => {
  const taken = await takeRoot(root, { ...(on !== undefined && { on }) })
  const { state } = taken
  const store = declareStore(state)
  await taken.load()
  const books = createDayBooks({ state, store, log: silent })
  await books.begin(async () => void (await setImmediate()))
  const call = (day: string, session_id?: string, purpose?: string): Promise<void> =>
    state.commit((tx) => {
      const one = { route: 'demo', sums: { calls: 1, input_tokens: 10, output_tokens: 1 }, purpose }
      const session = session_id === undefined ? undefined : withSessionCall(store, { day, session_id }, one)
      if (session !== undefined) tx.put(store.sessions, session)
      books.add(tx, day, { call: one, session })
    })
  const calls = (day: string): number => totalOf([books.find(day)]).calls
  /** Purposes stand in the order in which they came, which a sum of sessions does not know. */
  const seen = (day: string): object => {
    const { routes, purposes = [] } = books.find(day) ?? { day, routes: [] }
    return { routes, purposes: purposes.toSorted((a, b) => (a.purpose < b.purpose ? -1 : 1)) }
  }
  const end = async (): Promise<void> => {
    await books.end()
    await taken.end()
  }
  return { ...taken, store, books, call, calls, seen, end }
}

test('usage-1: a day is what its sessions used and what was asked outside of them, also behind kills', async (t) => {
  const root = await freshRoot()
  let life = await live(root)
  for (let round = 1; round <= 4; round += 1) {
    await life.call(monday, 'a')
    await life.call(monday, 'b', 'hook')
    await life.call(monday, undefined, 'transcription')
    const seen = life.seen(monday)
    t.is(life.calls(monday), round * 3)
    // Every other life ends in order.
    await (round % 2 === 0 ? life.end() : life.die())
    life = await live(root)
    t.deepEqual(life.seen(monday), seen)
    t.deepEqual(life.books.ids(), [monday])
  }
  await life.end()
})

test('usage-1: sessions beyond those that are read in one turn are summed up behind a kill', async (t) => {
  const root = await freshRoot()
  const first = await live(root)
  await Promise.all(Array.from({ length: 1100 }, (_, at) => first.call(at < 10 ? '2026-11-29' : monday, `s${at}`)))
  await first.call(tuesday, 's1')
  await first.die()
  const second = await live(root)
  t.deepEqual(['2026-11-29', monday, tuesday].map(second.calls), [10, 1090, 1])
  await second.end()
})

test('a call puts the record of its session alone once its day is open', async (t) => {
  const { call, state, store, end } = await live(await freshRoot())
  await call(monday, 'a')
  const before = store.days.find(monday)
  await call(monday, 'a')
  t.is(store.days.find(monday), before)
  t.like(before, { open: true, apart: { routes: [] } })
  t.is(state.health.mode, 'ok')
  await end()
})

test('a day that is over stands in its record, and a wrong clock may open it again', async (t) => {
  const root = await freshRoot()
  const life = await live(root)
  await life.call(monday, 'a')
  await life.call(tuesday, 'a')
  await life.state.durable()
  t.like(life.store.days.find(monday), { routes: [{ calls: 1 }] })
  t.is(life.store.days.find(monday)?.open, undefined)
  t.true(life.store.days.find(tuesday)?.open)
  await life.call(monday, 'a')
  t.is(life.calls(monday), 2)
  await life.call(tuesday, 'a')
  await life.state.durable()
  t.like(life.store.days.find(monday), { routes: [{ calls: 2 }] })
  await life.die()
  const next = await live(root)
  t.deepEqual([monday, tuesday].map(next.calls), [2, 2])
  await next.end()
})

test('a day that an earlier version began goes on as it did', async (t) => {
  const root = await freshRoot()
  const first = await live(root)
  const began: DayRecord = { day: monday, routes: [{ route: 'demo', calls: 5, input_tokens: 50, output_tokens: 5 }] }
  await first.state.commit((tx) => tx.insert(first.store.days, began))
  await first.call(monday, 'a')
  await first.call(monday)
  await first.die()
  const second = await live(root)
  t.is(second.calls(monday), 7)
  t.is(second.store.days.find(monday)?.open, undefined)
  await second.end()
})

test('calls that the disk refused are in no sum, neither in this life nor in the next', async (t) => {
  const root = await freshRoot()
  const real = createDisk()
  let isFull = false
  const full = Object.assign(new Error('no room'), { code: 'ENOSPC' })
  const on: Disk = {
    ...real,
    open: async (path, how) => {
      const file = await real.open(path, how)
      return { ...file, write: (bytes, at) => (isFull ? Promise.reject(full) : file.write(bytes, at)) }
    },
  }
  const first = await live(root, on)
  await first.call(monday, 'a')
  const counted = [first.call(monday, 'a'), first.call(monday)]
  t.is(first.calls(monday), 3, 'a budget looks before they are durable')
  await Promise.all(counted)
  isFull = true
  await t.throwsAsync(first.call(monday, 'a'))
  await t.throwsAsync(first.call(monday))
  await t.throwsAsync(first.call(tuesday, 'a'))
  t.deepEqual([monday, tuesday].map(first.calls), [3, 0])
  isFull = false
  await first.end().catch(() => undefined)
  const second = await live(root)
  t.deepEqual([monday, tuesday].map(second.calls), [3, 0])
  await second.end()
})
