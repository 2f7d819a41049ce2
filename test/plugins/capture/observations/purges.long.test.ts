/** Thousands of observations that are due at once, through kills and stops in the middle of their end. */
import test from 'ava'
import { rm } from 'node:fs/promises'
import { makeDueObservations } from '../../../support/due-observations.js'
import { createPause } from '../../../support/pause.js'
import { freshRoot, spawnDaemon, type SpawnedDaemon } from '../../../support/daemon.js'
import { auditOf } from './uploading.js'

const count = 3_000
/** Each second one is a stop in order, which must end as one. */
const deaths = 6

const countsOf = async ({ request }: SpawnedDaemon): Promise<any> =>
  (await request('GET', '/v1/status')).body.observations

test.serial(
  'observations-23: thousands end with their files through kills and stops, and others are served',
  async (t) => {
    const root = await freshRoot()
    t.teardown(() => rm(root, { recursive: true, force: true }))
    await makeDueObservations(root, { count, received_at_ms: Date.now() - 1_000_000 })
    const waits: number[] = []
    let lastLeaving = count
    for (let death = 0; ; death += 1) {
      const daemon = await spawnDaemon({ root })
      const ends = death < deaths ? performance.now() + 200 + 250 * death : Infinity
      for (const pause = createPause(); ; await pause()) {
        const before = performance.now()
        t.is((await daemon.request('GET', '/healthz')).status, 200)
        waits.push(performance.now() - before)
        const { active_count, purged_count, leaving_count } = await countsOf(daemon)
        t.is(active_count + purged_count, count, 'none is lost')
        if (active_count === 0) {
          t.true(leaving_count <= lastLeaving, 'what has left does not come back')
          lastLeaving = leaving_count
        }
        if (performance.now() > ends || (active_count === 0 && leaving_count === 0)) break
      }
      if (death < deaths) {
        await (death % 2 === 0 ? daemon.kill('SIGKILL') : daemon.stop())
        continue
      }
      t.is((await daemon.request('GET', '/v1/assets?page=true')).body.pagination.total_count, 0)
      const { body: report } = await daemon.request('POST', '/v1/assets/gc', { dry_run: true })
      t.is(report.orphan_file_count, 0)
      t.is((await auditOf(daemon, '?event=retention_purged_assets&limit=1')).length, 1)
      await daemon.stop()
      break
    }
    const sorted = waits.toSorted((a, b) => a - b)
    t.log(
      `${waits.length} answers beside it: p50 ${sorted[sorted.length >> 1]?.toFixed(1)} ms, most ${sorted.at(-1)?.toFixed(1)} ms`,
    )
  },
)
