import { rm } from 'node:fs/promises'
import test from 'ava'
import type { Disk } from '../../../../../core/state/disk/disk.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { createWorld, effectTools } from '../../../../support/effects.js'
import { createFaultyDisk } from '../../../../../core/testing/faulty-disk.js'
import { openSession, submit, until } from '../../../../support/runs.js'

test('runs-44, runtime-9: a run whose storage fails in its middle, which the status tells, goes on when it is back', async (t) => {
  const world = createWorld()
  const { disk, fail, heal } = createFaultyDisk()
  const daemon = await startTestDaemon(t, { disk, plugins: [effectTools(world)] })
  await openSession(daemon)
  const first = await submit(daemon, 's1', '/sleep 2500\n/tool put {"what":"a"}\n---\n/say Done with a.')
  const second = await submit(daemon, 's1', 'behind')
  fail('full')
  await new Promise((resolve) => setTimeout(resolve, 3500))
  t.is((await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'x' })).status, 503)
  const { health } = (await daemon.request('GET', '/v1/status')).body
  t.like(health.warnings[0], { severity: 'error', code: 'storage_write_probe_failed', related_id: daemon.root })
  t.deepEqual([...world.done.values()], [])
  heal()
  t.is((await until(daemon, first.run_id, 'completed')).outputs[0].content, 'Done with a.')
  t.is((await until(daemon, second.run_id, 'completed')).outputs[0].content, 'You said: behind')
  t.deepEqual([...world.done.values()], ['a'])
})

test('while storage refuses changes the log says so once, and not for every session that waits', async (t) => {
  const { disk, fail, heal } = createFaultyDisk()
  let armed = false
  const failing: Disk = {
    ...disk,
    open: async (at, how) => {
      const file = await disk.open(at, how)
      const write: typeof file.write = (bytes, position) => {
        if (armed && Buffer.from(bytes).includes('"type":"started"')) fail('full')
        return file.write(bytes, position)
      }
      return { ...file, write }
    },
  }
  const daemon = await startTestDaemon(t, { disk: failing })
  const sessions = Array.from({ length: 12 }, (_, at) => `s${at}`)
  const behind: string[] = []
  for (const id of sessions) {
    await openSession(daemon, id)
    await submit(daemon, id, '/sleep 1500\n/say One.')
    behind.push((await submit(daemon, id, 'behind')).run_id)
  }
  const before = daemon.log.length
  armed = true
  while (!daemon.log.slice(before).some(({ fact }) => fact === 'storage refuses changes'))
    await new Promise((resolve) => setTimeout(resolve, 10))
  await new Promise((resolve) => setTimeout(resolve, 2500))
  const told = daemon.log.slice(before).filter(({ level }) => level !== 'debug')
  t.true(told.length <= 6, JSON.stringify(told.map(({ fact }) => fact)))
  armed = false
  heal()
  for (const run_id of behind) await until(daemon, run_id, 'completed')
})

for (const action of ['cancel', 'interrupt'] as const)
  test(`a stop ends although a run got ${action} while storage refused changes, and the run is not forgotten`, async (t) => {
    const { disk, fail, heal } = createFaultyDisk()
    const root = await freshRoot()
    t.teardown(() => rm(root, { recursive: true, force: true }))
    const daemon = await startTestDaemon(t, { root, disk, config: { runs: { drain_ms: 50, stop_grace_ms: 200 } } })
    await openSession(daemon)
    const { run_id } = await submit(daemon, 's1', '/sleep 60000\n/say Over.')
    await until(daemon, run_id, 'running')
    fail('full')
    t.is((await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'x' })).status, 503)
    const to = action === 'cancel' ? `/v1/runs/${run_id}/cancel` : '/v1/sessions/s1/interrupt'
    t.is((await daemon.request('POST', to, {})).status, 503)
    await daemon.stop()
    heal()
    const again = await startTestDaemon(t, { root })
    t.is((await until(again, run_id, 'running', 'cancelled', 'interrupted')).run_id, run_id)
  })
