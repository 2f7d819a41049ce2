/** Observations through kills, in the middle of uploads and of retention that deletes files. */
import test from 'ava'
import { rm } from 'node:fs/promises'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { partOf } from '../../../support/volume.js'
import { comes, createSource, list, picture, readSource, send } from './uploading.js'

const kills = partOf(10, 20)
const kept = 20

/** Uploads until the daemon is gone: each key until it is acknowledged, whichever life does it. */
const worker = async (daemon: SpawnedDaemon, known: Map<string, string>, next: () => number): Promise<void> => {
  for (;;) {
    const n = next()
    const bytes = await picture(n)
    // The same request twice: whichever comes second is answered with what the first one made.
    const [one, other] = await Promise.all([send(daemon, n, { bytes }), send(daemon, n, { bytes })])
    if (one.status !== 200 || other.status !== 200) throw new TypeError(`answered with ${one.status}, ${other.status}`)
    if (one.body.observation_id !== other.body.observation_id) throw new TypeError('answered with two of one key')
    known.set(one.body.idempotency_key, one.body.observation_id)
  }
}

test.serial(
  'observations-7, observations-14, observations-15: each key is one observation through 20 kills',
  async (t) => {
    const root = await freshRoot()
    t.teardown(() => rm(root, { recursive: true, force: true }))
    const known = new Map<string, string>()
    let serial = 0
    let daemon = await spawnDaemon({ root })
    const limits = { max_active_observations: kept, purge_raw_on_retention: true, ingest_rate_limit_burst: 1_000_000 }
    await createSource(daemon, limits)
    for (let kill = 0; kill < kills; kill += 1) {
      const work = Promise.allSettled(
        [0, 1, 2].map(() =>
          worker(daemon, known, () => {
            serial += 1
            return serial
          }),
        ),
      )
      const before = known.size
      // Every other life has acknowledged some when it is killed.
      if (kill % 2 === 1) await comes(async () => known.size > before + 2)
      await new Promise((resolve) => setTimeout(resolve, 100 + ((kill * 53) % 400)))
      await daemon.kill('SIGKILL')
      for (const ended of await work) t.false(String(Reflect.get(ended, 'reason')).includes('answered with'))
      daemon = await spawnDaemon({ root })
      const all = await list(daemon, '?include_purged=true')
      const active = all.filter(({ retention_state }) => retention_state === 'active')
      const { active_observation_count, active_byte_length } = await readSource(daemon)
      t.is(active_observation_count, active.length)
      t.is(
        active_byte_length,
        active.reduce((sum: number, { byte_length }) => sum + byte_length, 0),
      )
      t.true(active.length <= kept)
      const ids = new Map(all.map(({ idempotency_key, observation_id }) => [idempotency_key, observation_id]))
      t.is(ids.size, all.length, 'no key has two observations')
      for (const [key, id] of known) t.is(ids.get(key), id, key)
    }
    t.true(known.size > kills, `${known.size} acknowledged`)
    await comes(async () => (await daemon.request('GET', '/v1/status')).body.observations.leaving_count === 0)
    const { body: assets } = await daemon.request('GET', '/v1/assets?page=true')
    const { active_observation_count } = await readSource(daemon)
    // What a kill left between the file and its observation is garbage, and nothing else is.
    const { body: report } = await daemon.request('POST', '/v1/assets/gc', { dry_run: false })
    t.is(assets.pagination.total_count - report.deleted_count, active_observation_count)
    await daemon.stop()
  },
)
