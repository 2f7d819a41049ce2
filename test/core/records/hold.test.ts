/** A daemon that holds: it reads and answers, and begins nothing by itself until it is released. */
import path from 'node:path'
import { rm } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../core/base/clock.js'
import { createDisk } from '../../../core/state/disk/real-disk.js'
import { restoreBackup } from '../../../core/state/inspect/backup-restore.js'
import { definePlugin, Host, object, type AnyPlugin } from '../../../core/plugin.js'
import { defineTool, Tools } from '../../../plugins/execution/tools/contract.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../support/daemon.js'
import { testPlugin } from '../../support/plugins.js'
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

test('runtime-20: what acts begins when all plugins have started, and one that cannot keeps no other', async (t) => {
  const seen: string[] = []
  const acting = testPlugin('acting', {
    needs: { host: Host },
    register(ctx, { host }) {
      ctx.onStart(() =>
        host.whenActing(() => {
          throw new Error('no')
        }),
      )
      ctx.onStart(() =>
        host.whenActing(() => {
          seen.push('begun')
          host.whenActing(() => (seen.push('begun within'), () => {}))
          return () => {}
        }),
      )
    },
  })
  const slow = testPlugin('slow', {
    register(ctx) {
      ctx.onStart(async () => {
        await pause(200)
        seen.push('started')
      })
    },
  })
  await startTestDaemon(t, { plugins: [acting, slow] })
  t.deepEqual(seen, ['started', 'begun', 'begun within'])
})

test('runtime-20: what acts ends before any plugin stops: a tool that a run still uses has all that its plugin owns', async (t) => {
  const seen: string[] = []
  let [entered, leave] = [(): void => {}, (): void => {}]
  const inside = new Promise<void>((resolve) => void (entered = resolve))
  const out = new Promise<void>((resolve) => void (leave = resolve))
  const late = definePlugin({
    id: 'late',
    version: '1.0.0',
    api: 1,
    summary: 'A tool with a connection, and an observer of the stop.',
    needs: { host: Host },
    register(ctx, { host }) {
      ctx.own(() => void seen.push('what register owns is closed'))
      ctx.onStart(() => () => {
        seen.push('what the start opened is closed')
        void host.whenActing(() => {
          seen.push('begun')
          return () => {}
        })
      })
      ctx.onStart(() => host.whenActing(() => () => void setTimeout(leave, 50)))
      ctx.contribute(
        Tools,
        defineTool({
          name: 'ask_late',
          description: 'Asks.',
          input: object({}),
          effect: 'read',
          parallel: false,
          timeout_ms: 10_000,
          sandbox: 'inherited',
          async run() {
            entered()
            await out
            seen.push(ctx.signal.aborted ? 'used after its signal' : 'used')
            return { type: 'result', output: {} }
          },
        }),
      )
    },
  })
  const daemon = await startTestDaemon(t, { plugins: [late] })
  await openSession(daemon)
  await submit(daemon, 's1', '/tool ask_late {}\n/say Over.')
  await inside
  t.deepEqual(await daemon.daemon.stop(), { reason: 'stopped', clean: true })
  t.deepEqual(seen, ['used', 'what the start opened is closed', 'what register owns is closed'])
})

test('runtime-20: what cannot be ended is charged to its plugin, and the others end', async (t) => {
  const ended: string[] = []
  const actor = (id: string, end: () => void): AnyPlugin =>
    definePlugin({
      id,
      version: '1.0.0',
      api: 1,
      summary: 'Acts.',
      needs: { host: Host },
      register(ctx, { host }) {
        ctx.onStart(() => host.whenActing(() => end))
      },
    })
  const daemon = await startTestDaemon(t, {
    plugins: [
      actor('calm', () => void ended.push('calm')),
      actor('broken', () => {
        throw new TypeError('cannot end')
      }),
    ],
  })
  await daemon.stop()
  t.deepEqual(ended, ['calm'])
  t.deepEqual(
    daemon.daemon.host.reports().flatMap(({ id, last_fault: last }) => (last === undefined ? [] : [id])),
    ['broken'],
  )
})
