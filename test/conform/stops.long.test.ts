/** A stop in the middle of each loop of each plugin: when it is over, nothing of the plugin changes anything. */
import path from 'node:path'
import { rm } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../core/base/clock.js'
import type { JsonObject } from '../../core/base/schema.js'
import { copyRoot } from '../support/crash.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { openSession, submit, until } from '../support/runs.js'
import { hourly, makeSchedule } from '../support/schedules.js'
import { slowDisk } from '../support/slow-disk.js'

const day = 86_400_000
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const many = Array.from({ length: 40 }, (_, at) => `s${at + 1}`)

interface Stop {
  readonly config?: Readonly<Record<string, JsonObject>>
  /** Days that the clock is ahead. */
  readonly ahead?: number
  readonly flags?: Readonly<Record<string, string>>
  /** Puts the loop to work. */
  readonly begin?: (daemon: TestDaemon, slow: (on: boolean) => void) => Promise<unknown>
}

/** Starts on a slow disk, lets a few commits happen, stops. */
const stopInTheMiddle = async (t: ExecutionContext, root: string, stop: Stop): Promise<void> => {
  const { disk, slow } = slowDisk()
  const clock = createClock()
  if (stop.begin === undefined) slow(true)
  const daemon = await startTestDaemon(t, {
    root,
    disk,
    clock: { ...clock, now: () => clock.now() + (stop.ahead ?? 0) * day },
    ...(stop.config !== undefined && { config: stop.config }),
    ...(stop.flags !== undefined && { flags: stop.flags }),
  })
  await stop.begin?.(daemon, slow)
  await pause(200)
  t.deepEqual(await daemon.daemon.stop(), { reason: 'stopped', clean: true })
  await pause(500)
  t.deepEqual(
    daemon.daemon.view.plugins().filter(({ fault_count: faults }) => faults > 0),
    [],
  )
  t.deepEqual(
    daemon.log.filter(({ level }) => level === 'error' || level === 'warn'),
    [],
  )
}

/** A root with a session, an ended run and its evidence for each name; copies of it are what the tests stop. */
let prepared = ''
const copyOfPrepared = async (t: ExecutionContext): Promise<string> => {
  const folder = await freshRoot()
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  copyRoot(prepared, path.join(folder, 'root'))
  return path.join(folder, 'root')
}
test.before(async (t) => {
  prepared = await freshRoot()
  const daemon = await startTestDaemon({ ...t, teardown: () => {} } as unknown as ExecutionContext, {
    root: prepared,
    config: { debug: { debug_level: 'on' } },
  })
  await Promise.all(
    many.map(async (id) => {
      await openSession(daemon, id)
      await until(daemon, (await submit(daemon, id, 'hello')).run_id, 'completed')
    }),
  )
  await daemon.stop()
})
test.after.always(() => rm(prepared, { recursive: true, force: true }))

test('debug: while evidence expires', async (t) =>
  stopInTheMiddle(t, await copyOfPrepared(t), { ahead: 2, config: { debug: { ttl_ms: 60_000 } } }))

test('debug: while evidence is pruned', async (t) =>
  stopInTheMiddle(t, await copyOfPrepared(t), {
    flags: { 'drain-ms': '0' },
    begin: async (daemon, slow) => {
      slow(true)
      daemon.request('POST', '/v1/runs/prune', { older_than_ms: 0, dry_run: false }).catch(() => {})
    },
  }))

test('memory: while ended runs are forgotten', async (t) =>
  stopInTheMiddle(t, await copyOfPrepared(t), { ahead: 2, config: { memory: { retention_ms: 60_000 } } }))

test('memory: while ended runs are written', async (t) =>
  stopInTheMiddle(t, await copyOfPrepared(t), {
    begin: async (daemon, slow) => {
      await Promise.all(many.map(async (id) => until(daemon, (await submit(daemon, id, 'x')).run_id, 'completed')))
      slow(true)
      daemon.request('GET', '/v1/sessions/s1/memory').catch(() => {})
    },
  }))

test('schedules: while they fire', async (t) =>
  stopInTheMiddle(t, await copyOfPrepared(t), {
    begin: async (daemon, slow) => {
      slow(true)
      const soon = { type: 'once', fire_at_ms: createClock().now() + 1000 }
      await Promise.all(
        many.map((target_session_id, place) =>
          makeSchedule(daemon, { target_session_id, name: `n${place}`, cadence: place % 2 === 0 ? soon : hourly }),
        ),
      )
      await pause(800)
    },
  }))

test('runs: while they execute, wait in queues and run out of time for an approval', async (t) =>
  stopInTheMiddle(t, await copyOfPrepared(t), {
    config: { runs: { approval_expires_after_ms: 300, drain_ms: 100 } },
    begin: async (daemon, slow) => {
      slow(true)
      const asking = '/tool bash {"command":"true"}\n/say Over.'
      await Promise.all(many.map((id, place) => submit(daemon, id, place % 2 === 0 ? asking : '/sleep 50\n/say Over.')))
      await Promise.all(many.map((id) => submit(daemon, id, 'behind')))
    },
  }))

test('shell and tasks: while sessions with commands in the background end', async (t) =>
  stopInTheMiddle(t, await copyOfPrepared(t), {
    config: { tools: { permission_mode: 'bypassPermissions' }, runs: { drain_ms: 100 }, shell: { grace_ms: 500 } },
    begin: async (daemon, slow) => {
      const call = `/tool bash {"command":"sleep 300","run_in_background":true}\n/say Over.`
      const some = many.slice(0, 5)
      await Promise.all(
        some.map(async (id) =>
          until(daemon, (await submit(daemon, id, call)).run_id, 'completed', 'waiting_for_approval'),
        ),
      )
      slow(true)
      for (const id of some) daemon.request('POST', `/v1/sessions/${id}/end`, {}).catch(() => {})
    },
  }))
