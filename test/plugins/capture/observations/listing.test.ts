/** Lists of observations between two times; docs/rules/observations.md. */
import test from 'ava'
import { rmSync } from 'node:fs'
import type { Disk } from '../../../../core/state/disk/disk.js'
import {
  observationList,
  type ObservationQuery,
} from '../../../../plugins/capture/observations/record/observation-list.js'
import { declareStore, type ObservationRecord } from '../../../../plugins/capture/observations/record/store.js'
import { freshRoot } from '../../../support/daemon.js'
import { disk, takeRoot } from '../../../support/taken-root.js'

const count = 20_000
const begin = 1_700_000_000_000
const nameOf = (at: number): string => `observation_${String(at).padStart(8, '0')}`
/** One a second; every fourth is purged. */
const observation = (at: number): ObservationRecord => ({
  view: {
    observation_id: nameOf(at),
    source_id: 'door',
    kind: 'screen_snapshot',
    sensitivity: 'sensitive',
    retention_state: at % 4 === 0 ? 'purged' : 'active',
    asset_id: `asset_${at}`,
    media_type: 'image/png',
    sha256: 'a'.repeat(64),
    byte_length: 1,
    captured_at_ms: begin + at * 1000,
    received_at_ms: begin + at * 1000,
    idempotency_key: `key-${at}`,
    request_fingerprint: 'b'.repeat(64),
    metadata: {},
  },
})

const open = async (root: string, on?: Disk) => {
  const taken = await takeRoot(root, on === undefined ? {} : { on })
  const store = declareStore(taken.state, () => {})
  await taken.load()
  return { ...taken, store }
}

test('observations-12: what is between two times is counted and listed without a look at the others', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const first = await open(root)
  for (let from = 0; from < count; from += 1000)
    await first.state.commit((tx) => {
      for (let at = from; at < from + 1000; at += 1) tx.insert(first.store.observations, observation(at))
    })
  await first.checkpoint()
  await first.end()
  let reads = 0
  const counting: Disk = {
    ...disk,
    openSync(path) {
      const file = disk.openSync(path)
      const read: typeof file.read = (position, length) => {
        reads += 1
        return file.read(position, length)
      }
      return { ...file, read }
    },
  }
  const taken = await open(root, counting)
  const { observations } = taken.store
  let looked = 0
  const watched = {
    observations: {
      ...observations,
      spec: observations.spec,
      count: (...given: Parameters<typeof observations.count>) => observations.count(...given),
      page: (...given: Parameters<typeof observations.page>) => {
        const found = observations.page(...given)
        looked += found.length
        return found
      },
      list: (...given: Parameters<typeof observations.list>) => {
        const found = observations.list(...given)
        looked += found.length
        return found
      },
    },
  }
  const sourceOf = (query: ObservationQuery) => observationList(watched, query)
  const after_ms = begin + 2_000_000
  const before_ms = begin + 17_999_999
  reads = 0
  const source = sourceOf({ after_ms, before_ms })
  t.is(source.count(), 12_000)
  t.is(looked, 0)
  t.true(reads > 0 && reads < 20, `${reads} reads`)
  const page = source.list({ limit: 51, order: 'asc' })
  t.deepEqual([page[0]?.view.observation_id, page.length], [nameOf(2001), 51])
  t.is(looked, 51)
  looked = 0
  const all = sourceOf({ source_id: 'door', after_ms, before_ms, include_purged: true })
  t.is(all.count(), 16_000)
  t.is(all.list({ limit: 51, order: 'desc' })[0]?.view.observation_id, nameOf(17_999))
  t.is(looked, 102)
  for (const [query, expected] of [
    [{ after_ms }, 13_500],
    [{ before_ms }, 13_500],
    [{ after_ms: before_ms, before_ms: after_ms }, 0],
    [{ after_ms: begin + 4000, before_ms: begin + 4000, include_purged: true }, 1],
  ] as const)
    t.is(sourceOf(query).count(), expected, JSON.stringify(query))
  await taken.state.commit((tx) => tx.remove(observations, nameOf(5001), 'gone'))
  t.is(sourceOf({ after_ms, before_ms }).count(), 11_999)
  await taken.end()
})
