/** A daemon that holds: it reads and answers, and begins nothing by itself until it is released. */
import path from 'node:path'
import { rm } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../core/base/clock.js'
import { createDisk } from '../../../core/state/disk/real-disk.js'
import { restoreBackup } from '../../../core/state/inspect/backup-restore.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../support/daemon.js'
import { openSession, submit, until } from '../../support/runs.js'
import { makeSchedule } from '../../support/schedules.js'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const folderOf = async (t: ExecutionContext): Promise<string> => {
  const folder = await freshRoot()
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}
const held = ({ daemon }: TestDaemon): boolean => daemon.view.warnings().some(({ code }) => code === 'daemon_held')
const statusOf = async ({ request }: TestDaemon, run_id: string): Promise<string> =>
  (await request('GET', `/v1/runs/${run_id}`)).body.status

test('runtime-16: with --hold no run and no schedule begins, also after a restart, until the daemon is released', async (t) => {
  const root = path.join(await folderOf(t), 'root')
  const first = await startTestDaemon(t, { root, flags: { hold: 'true' } })
  t.true(held(first))
  await openSession(first)
  const { run_id } = await submit(first, 's1', 'Hello')
  await makeSchedule(first, { cadence: { type: 'once', fire_at_ms: 1 } })
  await pause(500)
  t.is(await statusOf(first, run_id), 'queued')
  t.is((await first.request('GET', '/v1/runs')).body.length, 1)
  t.deepEqual(await first.daemon.stop(), { reason: 'stopped', clean: true })

  const second = await startTestDaemon(t, { root })
  t.true(held(second))
  await pause(300)
  t.is(await statusOf(second, run_id), 'queued')
  t.deepEqual((await second.request('POST', '/v1/release')).body, { released: true })
  t.false(held(second))
  await until(second, run_id, 'completed')
  while ((await second.request('GET', '/v1/runs')).body.length < 2) await pause(10)
  t.deepEqual((await second.request('POST', '/v1/release')).body, { released: false })
  await second.stop()

  t.false(held(await startTestDaemon(t, { root })))
})

test('runtime-16: a restored root holds at its first start, and the original does not', async (t) => {
  const folder = await folderOf(t)
  const [root, backup, copy] = ['root', 'backup', 'copy'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ]
  const original = await startTestDaemon(t, { root })
  await openSession(original)
  t.is((await original.request('POST', '/v1/backups', { path: backup })).status, 201)
  await restoreBackup({ folder: backup, disk: createDisk(), clock: createClock() }, copy)
  const restored = await startTestDaemon(t, { root: copy })
  t.true(held(restored))
  t.false(held(original))
  t.is((await restored.request('GET', '/v1/sessions/s1')).status, 200)
})
