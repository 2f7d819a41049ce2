import { rm } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import { createClock } from '../../core/base/clock.js'
import { restoreBackup, verifyBackup } from '../../core/state/inspect/backup-restore.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { freshRoot, startTestDaemon } from '../support/daemon.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'

test('state-25: a backup that a working daemon writes holds what was acknowledged before, and a daemon starts from it', async (t) => {
  const home = await freshRoot()
  t.teardown(() => rm(home, { recursive: true, force: true }))
  const [folder, root] = [path.join(home, 'backup'), path.join(home, 'restored')]
  const place = { folder, disk: createDisk(), clock: createClock() }
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', 'hello')
  const run = await until(daemon, run_id, 'completed')
  const made = await daemon.request('POST', '/v1/backups', { path: folder })
  t.is(made.status, 201)
  t.is(made.body.path, path.join(folder, 'backup.json'))
  t.true(made.body.files > 0 && made.body.bytes > 0)
  await submit(daemon, 's1', 'too late for the backup')
  await verifyBackup(place)
  t.is((await restoreBackup(place, root)).sequence, made.body.sequence)
  const restored = await startTestDaemon(t, { root })
  t.deepEqual((await restored.request('GET', '/v1/runs')).body, [run])
  await restored.stop()
})

test('state-28: a backup is refused where something is, inside the root, where no folder is, and for another root', async (t) => {
  const daemon = await startTestDaemon(t)
  const ask = async (to: string, root_id?: string) =>
    codeOf(await daemon.request('POST', '/v1/backups', { path: to, ...(root_id !== undefined && { root_id }) }))
  t.deepEqual(await ask('/'), [409, 'target_not_empty'])
  t.deepEqual(await ask(path.join(daemon.root, 'inside')), [409, 'target_in_root'])
  t.deepEqual(await ask(`${daemon.root}-absent/backup`), [409, 'target_without_folder'])
  t.deepEqual(await ask(`${daemon.root}-${'x'.repeat(300)}`), [409, 'target_not_writable'])
  t.deepEqual(await ask(`${daemon.root}-backup`, 'another'), [409, 'backup_root_differs'])
  t.deepEqual(await ask('relative'), [400, 'bad_request'])
})
