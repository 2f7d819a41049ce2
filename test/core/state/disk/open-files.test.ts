import test from 'ava'
import { connect, type Socket } from 'node:net'
import { createClock } from '../../../../core/base/clock.js'
import type { Disk } from '../../../../core/state/disk/disk.js'
import { connectionsWithin, openFilesLimit } from '../../../../core/state/disk/open-files.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { spawnTestDaemon, startTestDaemon } from '../../../support/daemon.js'
import { openSession } from '../../../support/runs.js'

test('connections leave a reserve of the open files that the system grants', (t) => {
  t.true((openFilesLimit() ?? 1) > 0)
  t.deepEqual(
    [undefined, 64, 256, 1024, 20_000, 1_048_576].map(connectionsWithin),
    [16_384, 32, 128, 768, 15_000, 16_384],
  )
})

test('clients that open more connections than there are files do not keep the daemon from writing', async (t) => {
  const daemon = await spawnTestDaemon(t, { openFiles: 256 })
  const sockets: Socket[] = []
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  for (let n = 0; n < 400; n += 1) {
    const socket = connect(Number(new URL(daemon.url).port), '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
  }
  const clock = createClock()
  const open = (): Socket[] => sockets.filter(({ readyState }) => readyState === 'open')
  for (let tries = 0; tries < 2000 && (open().length > 128 || open().length < 100); tries += 1) await clock.sleep(10)
  t.true(open().length <= 128, `${open().length} connections are open`)
  for (const socket of open().slice(0, 10)) socket.destroy()
  await clock.sleep(200)
  await openSession(daemon, 'crowded')
  await clock.sleep(1500)
  const { body } = await daemon.request('GET', '/v1/status')
  t.like(body.storage, { ok: true, write_error_count: 0 })
  t.notRegex(daemon.logText(), /EMFILE|could not/u)
})

test('storage that cannot write beside its log says so, and takes changes all the same', async (t) => {
  const real = createDisk()
  const state = { crowded: false }
  const disk: Disk = {
    ...real,
    replace: (path, bytes) =>
      state.crowded
        ? Promise.reject(Object.assign(new RangeError('too many open files'), { code: 'EMFILE' }))
        : real.replace(path, bytes),
  }
  const { request } = await startTestDaemon(t, { disk })
  const storage = async (): Promise<any> => (await request('GET', '/v1/status')).body.storage
  const clock = createClock()
  const until = async (ok: boolean): Promise<void> => {
    for (let tries = 0; tries < 500 && (await storage()).ok !== ok; tries += 1) await clock.sleep(20)
  }
  state.crowded = true
  t.is((await request('POST', '/v1/sessions', { session_id: 's1' })).status, 201)
  await until(false)
  t.like(await storage(), { ok: false, probes: [{ code: 'too_many_files', writable: false }] })
  t.is((await request('POST', '/v1/sessions', { session_id: 's2' })).status, 201)
  state.crowded = false
  await until(true)
  t.like(await storage(), { ok: true, probes: [{ code: 'state_root_writable' }] })
})
