/** A root whose collections have one index each, as versions before tables left it, is carried over. */
import test from 'ava'
import { resolve } from 'node:path'
import { copyRoot, verifyShipped } from '../../../support/copied-root.js'
import { startTestDaemon } from '../../../support/daemon.js'

const before = resolve(import.meta.dirname, '../../../../../test/core/state/store/roots/one-index')

test('a start makes tables of its pages, nothing is missing, and the indexes are gone', async (t) => {
  const root = copyRoot(t, before)
  const { request, log, stop } = await startTestDaemon(t, { root })
  t.true(log.filter(({ fact }) => fact === 'an index was made again').length > 10, 'the start says so')
  const runs = (await request('GET', '/v1/runs?page=true')).body
  t.is(runs.items.length, runs.pagination.total_count)
  t.true(runs.items.length >= 8)
  for (const { run_id } of runs.items) t.is((await request('GET', `/v1/runs/${run_id}`)).status, 200)
  t.true((await request('GET', '/v1/sessions/garden/snapshot')).body.recent_outputs?.length !== 0)
  await stop()
  const { findings } = await verifyShipped(root)
  t.deepEqual(
    findings.filter(({ kind }) => kind !== 'mode'),
    [],
  )
  const again = await startTestDaemon(t, { root })
  t.deepEqual(
    again.log.filter(({ fact }) => fact === 'an index was made again'),
    [],
  )
  t.is((await again.request('GET', '/v1/runs?page=true')).body.pagination.total_count, runs.pagination.total_count)
  await again.stop()
})
