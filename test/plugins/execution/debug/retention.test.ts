import test from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { createRetention } from '../../../../plugins/execution/debug/retention.js'
import { declareStore, type DebugRecord } from '../../../../plugins/execution/debug/store.js'

/** What evidence may be written behind its run. */
const behind = 3_600_000

/** `fallen`: so many of the oldest runs fell. */
const bench = (count: number, fallen = 0) => {
  const records = new Map<string, DebugRecord>()
  for (let at = 0; at < count; at += 1) {
    const run_id = `r${String(at).padStart(5, '0')}`
    records.set(run_id, unsafeCast({ run_id, bytes: 10, artifacts: [{}], updated_at_ms: at }))
  }
  const seen = { reads: 0 }
  const store = declareStore(
    unsafeCast({
      collection: () => ({
        page: ({ group, limit, beyond = '' }: { group: string; limit: number; beyond?: string }) =>
          group === 'all'
            ? [...records.keys()].filter((id) => id > beyond.slice(beyond.indexOf(':') + 1)).slice(0, limit)
            : [],
        find: (id: string) => ((seen.reads += 1), records.get(id)),
      }),
      blobs: () => ({ remove: () => Promise.resolve() }),
      retention: { kinds: () => [{ kind: 'runs', fell: 3, partitions: [{ no: 4, from: fallen - behind }] }] },
      commit: (change: (tx: object) => unknown) =>
        Promise.resolve(
          change({
            remove: (_: unknown, id: string) => records.delete(id),
            put: (_: unknown, record: DebugRecord) => records.set(record.run_id, record),
          }),
        ),
    }),
  )
  const retention = createRetention(
    unsafeCast({
      store,
      runs: {
        find: (run_id: string) => {
          if (Number(run_id.slice(1)) < fallen) return undefined
          return run_id === 'r00001' ? { run_id } : { finished_at_ms: 1 }
        },
      },
      config: { max_store_bytes: count * 10, ttl_ms: 10_000 },
      clock: { now: () => 10_002 },
      signal: { aborted: false },
      log: { warn: () => {} },
    }),
  )
  return { records, seen, store, retention }
}

test('room for evidence costs no look at what is kept, and at the oldest alone when there is none left', async (t) => {
  const { records, seen, store, retention } = bench(5000)
  t.is(store.held.bytes(), 50_000)
  seen.reads = 0
  t.true(await retention.room(0))
  t.is(seen.reads, 0)
  t.true(await retention.room(25))
  t.true(seen.reads < 20, `${seen.reads} records were read`)
  t.deepEqual([...records.keys()].slice(0, 2), ['r00001', 'r00004'], 'a run that goes on keeps its evidence')
  t.is(store.held.bytes(), 49_970)
  store.held.add(25)
  t.is(store.held.bytes(), 49_995)
  t.false(await retention.room(50_001))
})

test('a look for old evidence reads what is old and no more', async (t) => {
  const { records, seen, retention } = bench(5000)
  await retention.expire()
  t.deepEqual([...records.keys()].slice(0, 2), ['r00001', 'r00003'], 'a run that goes on keeps its record')
  t.true(seen.reads < 20, `${seen.reads} records were read`)
})

test('evidence whose run fell goes at the next look, which reads no more than that', async (t) => {
  const { records, seen, store, retention } = bench(5000, 40)
  store.held.bytes()
  seen.reads = 0
  await retention.expire()
  t.is([...records.keys()][0], 'r00040')
  t.is(store.held.bytes(), 49_600)
  t.true(seen.reads < 250, `${seen.reads} records were read`)
})

test('evidence whose run fell makes room, and is pruned', async (t) => {
  const { records, retention } = bench(100, 3)
  t.true(await retention.room(25))
  t.deepEqual([...records.keys()][0], 'r00003')
  const next = bench(100, 3)
  const report = await next.retention.prune({ older_than_ms: 10_001, limit: 3, dry_run: false })
  t.deepEqual(report.pruned_debug_run_ids, ['r00000', 'r00001', 'r00002'])
})
