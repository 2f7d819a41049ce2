/** A root whose collections have one index each, as versions before tables left it, is carried over. */
import test, { type ExecutionContext } from 'ava'
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { declarationsOf, shippedPlugins } from '../../../../core/shipped.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { verifyRoot } from '../../../../core/state/inspect/verify.js'
import { startTestDaemon } from '../../../support/daemon.js'

const before = resolve(import.meta.dirname, '../../../../../test/core/state/store/roots/one-index')

const copy = (t: ExecutionContext): string => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-one-index-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  cpSync(before, root, { recursive: true })
  for (const name of ['.', ...readdirSync(root, { recursive: true, encoding: 'utf8' })])
    chmodSync(join(root, name), statSync(join(root, name)).isFile() ? 0o600 : 0o700)
  return root
}

const verify = async (root: string) =>
  verifyRoot({
    root,
    disk: createDisk(),
    clock: createClock(),
    declared: await declarationsOf(await shippedPlugins()),
    live: false,
  })

test('a start makes tables of its pages, nothing is missing, and the indexes are gone', async (t) => {
  const root = copy(t)
  const { request, log, stop } = await startTestDaemon(t, { root })
  t.true(log.filter(({ fact }) => fact === 'an index was made again').length > 10, 'the start says so')
  const runs = (await request('GET', '/v1/runs?page=true')).body
  t.is(runs.items.length, runs.pagination.total_count)
  t.true(runs.items.length >= 8)
  for (const { run_id } of runs.items) t.is((await request('GET', `/v1/runs/${run_id}`)).status, 200)
  t.true((await request('GET', '/v1/sessions/garden/snapshot')).body.recent_outputs?.length !== 0)
  await stop()
  const { findings } = await verify(root)
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
