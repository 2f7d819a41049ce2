/** One life: what a start takes, what a stop gives back, and what happens when the root is lost. */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import { explain } from '../../core/cli/told/explain.js'
import { createClock } from '../../core/base/clock.js'
import type { Problem } from '../../core/plugin.js'
import { freshRoot, spawnTestDaemon, startTestDaemon } from '../support/daemon.js'
import { createWrappedDisk, diskError } from '../../core/testing/wrapped-disk.js'
import { testPlugin } from '../support/plugins.js'

test('a daemon starts on an empty root, answers, and stops without leaving anything behind', async (t) => {
  const { request, daemon, root, log } = await startTestDaemon(t)
  t.is((await request('GET', '/healthz')).text, 'ok')
  t.is((await request('GET', '/readyz')).text, 'ready')
  t.is((await request('GET', '/v1/nothing')).body.code, 'route_not_found')
  t.is(daemon.view.phase(), 'ready')
  t.is(daemon.root, root)
  t.deepEqual(
    daemon.view.plugins().filter(({ state }) => state !== 'ready'),
    [],
  )
  t.deepEqual(await daemon.stop(), { reason: 'stopped', clean: true })
  t.is(daemon.view.phase(), 'draining')
  t.deepEqual(
    log.filter(({ level }) => level === 'error'),
    [],
  )
})

test('the boot report tells each step with its milliseconds', async (t) => {
  const { daemon } = await startTestDaemon(t, { shipped: [] })
  const { steps, total_ms: total } = daemon.view.boot()
  t.deepEqual(
    steps.map(({ step }) => step),
    ['load', 'lock', 'open', 'plugins', 'register', 'recover', 'repair', 'start', 'listen'],
  )
  t.true(steps.reduce((sum, { ms }) => sum + ms, 0) <= total + 1)
})

test('event ids of a later start are above those of an earlier one, even if the clock went back', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root, shipped: [] })
  const before = BigInt(first.daemon.view.events().next_event_id)
  await first.stop()
  const clock = { ...createClock(), now: () => 1_000_000_000_000 }
  const second = await startTestDaemon(t, { root, shipped: [], clock })
  t.is(BigInt(second.daemon.view.events().next_event_id) >> 32n, (before >> 32n) + 1n)
})

test('runtime-13: a start that fails gives the root back', async (t) => {
  const root = await freshRoot()
  const broken = testPlugin('broken', {
    register: () => {
      throw new TypeError('broken')
    },
  })
  const shipped = [{ id: 'broken', required: true, load: () => Promise.resolve({ default: broken }) }]
  const error = await t.throwsAsync(startTestDaemon(t, { root, shipped }), {
    code: 'plugin_required',
    message: 'the required plugin broken did not come up: broken',
  })
  t.notRegex(explain(error).text, /--safe/u, 'that leaves out third-party plugins alone')
  const { daemon } = await startTestDaemon(t, { root, shipped: [] })
  t.is(daemon.view.phase(), 'ready')
})

test('state-2: a daemon that loses its root stops writing and ends', async (t) => {
  const clock = createClock()
  const hasty = { ...clock, after: (ms: number, callback: () => void) => clock.after(ms / 20, callback) }
  const { daemon, root } = await startTestDaemon(t, { shipped: [], clock: hasty })
  await rm(path.join(root, 'daemon.lock'))
  const { reason } = await daemon.ended
  t.is(reason, 'lock_lost')
})

test('a lock that is lost during the start is acted on at once: nothing is committed, and the daemon ends', async (t) => {
  const root = await freshRoot()
  const outcomes: string[] = []
  const eager = testPlugin('eager', {
    register: (ctx) => {
      const marks = ctx.state.collection<{ id: string }>({ name: 'marks', version: 1, id: ({ id }) => id, indexes: {} })
      const put = (id: string): Promise<string> =>
        ctx.state
          .commit((tx) => tx.put(marks, { id }))
          .then(
            () => `${id} taken`,
            (error: Problem) => `${id} ${error.code}`,
          )
      ctx.onStart(async () => {
        outcomes.push(await put('before'))
        await rm(path.join(root, 'daemon.lock'))
        outcomes.push(await put('after'))
      })
    },
  })
  const { daemon } = await startTestDaemon(t, { root, shipped: [], plugins: [eager] })
  t.deepEqual(outcomes, ['before taken', 'after storage_read_only'])
  t.is((await daemon.ended).reason, 'lock_lost')
  await rm(root, { recursive: true, force: true })
})

test('a stop after a failed sync says that it was not clean', async (t) => {
  const root = await freshRoot()
  let fails = false
  const { disk } = createWrappedDisk((call, at) => {
    if (fails && call === 'sync' && at.includes('/log/')) throw diskError('EIO')
  })
  let commit: () => Promise<unknown> = () => Promise.resolve()
  const writer = testPlugin('writer', {
    register: (ctx) => {
      const marks = ctx.state.collection<{ id: string }>({ name: 'marks', version: 1, id: ({ id }) => id, indexes: {} })
      commit = () => ctx.state.commit((tx) => tx.put(marks, { id: 'a' }))
    },
  })
  const { daemon, log } = await startTestDaemon(t, { root, shipped: [], plugins: [writer], disk })
  await commit()
  fails = true
  await t.throwsAsync(commit(), { code: 'storage_sync_failed' })
  t.deepEqual(await daemon.stop(), { reason: 'stopped', clean: false })
  t.true(log.some(({ fact, details }) => fact === 'a step of the stop failed' && details['step'] === 'state'))
  await rm(root, { recursive: true, force: true })
})

test('runtime-13: a spawned daemon says where it is in one line and exits with 0 on SIGTERM', async (t) => {
  const daemon = await spawnTestDaemon(t)
  t.regex(daemon.line, /^Holdfast \S+ is ready at http:\/\/127\.0\.0\.1:\d+, state in \S+, logs on standard error/u)
  t.is((await daemon.request('GET', '/readyz')).text, 'ready')
  await daemon.stop()
})

const stubborn = (stop: () => Promise<void>, more: { stopMs?: () => number } = {}) =>
  testPlugin('stubborn', {
    ...more,
    register: (ctx) => ctx.onStart(() => stop),
  })

test('http-32: a probe sees a daemon that stops until its plugins have stopped', async (t) => {
  let go = (): void => {}
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      go = resolve
    })
  const { daemon, url } = await startTestDaemon(t, { shipped: [], plugins: [stubborn(stop)] })
  const stopped = daemon.stop()
  let ready = await fetch(`${url}/readyz`)
  while (ready.headers.get('connection') !== 'close') ready = await fetch(`${url}/readyz`)
  t.is(ready.status, 503)
  t.is(ready.headers.get('connection'), 'close')
  t.like(await ready.json(), { code: 'daemon_draining', domain: 'readiness' })
  t.is((await fetch(`${url}/healthz`)).status, 200)
  go()
  t.deepEqual(await stopped, { reason: 'stopped', clean: true })
  await t.throwsAsync(fetch(`${url}/readyz`))
})

test('runtime-13: a stop that had to be cut off is not called clean', async (t) => {
  const plugins = [stubborn(() => new Promise(() => {}))]
  const { daemon, log } = await startTestDaemon(t, { shipped: [], plugins, patienceMs: 100 })
  t.deepEqual(await daemon.stop(), { reason: 'stopped', clean: false })
  t.regex(JSON.stringify(log.map(({ details }) => String(details['error']))), /the stop of stubborn took too long/u)
})

test('a plugin that declares how long its stop may take is given this time', async (t) => {
  const clock = createClock()
  const stop = async (): Promise<void> => void (await clock.sleep(400))
  const plugins = [stubborn(stop, { stopMs: () => 60_000 })]
  const { daemon } = await startTestDaemon(t, { shipped: [], plugins, patienceMs: 100 })
  t.is(daemon.stopMs(), 70_000)
  t.deepEqual(await daemon.stop(), { reason: 'stopped', clean: true })
})
