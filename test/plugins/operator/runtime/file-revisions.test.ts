/** Saved files of lists in the history of the settings. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { defineList, integer, object, optional, string } from '../../../../core/plugin.js'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'
import { codeOf, openSession, submit } from '../../../support/runs.js'
import { openStream } from '../../../support/sse.js'

const clock = createClock()
const pots = defineList({
  file: 'pots',
  table: 'pots',
  summary: 'Pots.',
  entry: object({ size: integer({ min: 1 }), key: optional(string()) }),
})
const canary = 'sesame-c4n4ry-value'

/** A daemon with a list in `config/pots.toml`; `save` resolves when the revision of it holds. */
const start = async (t: any, first: string) => {
  const root = await freshRoot()
  mkdirSync(join(root, 'config'), { recursive: true })
  const write = (text: string): void => writeFileSync(join(root, 'config', 'pots.toml'), text)
  write(first)
  const plugin = testPlugin('shelf', { register: (ctx) => void ctx.list(pots) })
  const daemon = await startTestDaemon(t, { root, plugins: [plugin] })
  const { request } = daemon
  const revisions = async (): Promise<any[]> => (await request('GET', '/v1/runtime/revisions')).body.revisions
  const save = async (text: string): Promise<any> => {
    const newest = async () => (await revisions())[0]
    const before = (await newest())?.revision ?? 0
    write(text)
    for (;;) {
      const now = await newest()
      if ((now?.revision ?? 0) > before) return now
      await clock.sleep(20)
    }
  }
  return { ...daemon, root, write, revisions, save, plugin }
}

test('runtime-36: another order of the entries is a revision too, and a rollback names the file', async (t) => {
  const daemon = await start(t, '[pots.a]\nsize = 1\n[pots.b]\nsize = 2\n[pots.c]\nsize = 3\n')
  const saved = await daemon.save('[pots.a]\nsize = 1\n[pots.c]\nsize = 3\n[pots.b]\nsize = 2\n')
  t.deepEqual(saved.entries, [
    { name: 'c', change: 'moved', members: [] },
    { name: 'b', change: 'moved', members: [] },
  ])
  const next = await daemon.save('[pots.c]\nsize = 4\n[pots.b]\nsize = 2\n')
  t.deepEqual(
    next.entries.map(({ name, change }: any) => `${name} ${change}`),
    ['a removed', 'c changed'],
    'what others leave does not move what stays',
  )
  const back = await daemon.request('POST', '/v1/runtime/rollback', { target_revision: 0 })
  t.deepEqual(back.body.config.files_kept, ['config/pots.toml'])
})

test('runtime-36: a saved file is a revision that names its entries, without their values, also after a restart', async (t) => {
  const first = await start(t, '[pots.a]\nsize = 1\n[pots.b]\nsize = 2\n')
  t.deepEqual(await first.revisions(), [], 'what a start reads is no revision')
  await openSession(first)
  await first.request('POST', '/v1/runtime/permission-mode', { mode: 'dontAsk' })
  const stream = openStream({ port: Number(new URL(first.url).port), path: '/v1/events/stream' })
  t.teardown(stream.close)
  while (stream.head() === '') await clock.sleep(5)
  const saved = await first.save(`[pots.b]\nsize = 2\nkey = "${canary}"\n[pots.c]\nsize = 4\n`)
  t.like(saved, { revision: 2, source: 'file', setting: 'config/pots.toml', permission_mode: 'dontAsk' })
  t.deepEqual(
    saved.entries.toSorted((a: any, b: any) => (a.name < b.name ? -1 : 1)),
    [
      { name: 'a', change: 'removed', members: [] },
      { name: 'b', change: 'changed', members: ['key'] },
      { name: 'c', change: 'added', members: ['size'] },
    ],
  )
  t.true(await stream.until(1))
  const told = stream.frames.find(({ event }) => event === 'runtime_updated')
  t.is(told?.data.runtime.config.revision, 2)
  t.is((await submit(first, 's1', 'hi')).request.runtime_revision, 2)
  const stale = await first.request('POST', '/v1/runtime/permission-mode', { mode: 'default', expected_revision: 1 })
  t.deepEqual(codeOf(stale), [409, 'runtime_revision_conflict'])
  const out = (await createCommandLine(first)('runtime', 'revisions')).out
  t.regex(out, /config\/pots\.toml: .*c added/u)
  const seen = [JSON.stringify(await first.revisions()), JSON.stringify(told), out, JSON.stringify(first.log)]
  t.false(seen.some((text) => text.includes(canary)))
  await first.stop()
  first.write('[pots.z]\nsize = 1\n')
  const second = await startTestDaemon(t, { root: first.root, plugins: [first.plugin] })
  const [newest, ...older] = (await second.request('GET', '/v1/runtime/revisions')).body.revisions
  t.deepEqual(newest, saved)
  t.is(older.length, 1)
  t.is((await second.request('GET', '/v1/runtime')).body.permission_mode, 'dontAsk')
})

test('runtime-37: a rollback undoes the last change of a setting, and says which files it leaves as they are', async (t) => {
  const { request, save, revisions, ...daemon } = await start(t, '[pots.a]\nsize = 1\n')
  const mode = (name: string) => request('POST', '/v1/runtime/permission-mode', { mode: name })
  await save('[pots.a]\nsize = 2\n')
  t.deepEqual(codeOf(await request('POST', '/v1/runtime/rollback')), [404, 'runtime_revision_not_found'])
  await mode('dontAsk')
  await mode('plan')
  await save('[pots.a]\nsize = 3\n')
  const { body } = await request('POST', '/v1/runtime/rollback')
  t.is(body.permission_mode, 'dontAsk')
  t.like(body.config, { revision: 5, files_kept: ['config/pots.toml'] })
  t.like((await revisions())[0], { setting: 'rollback', rollback_of_revision: 2, files_kept: ['config/pots.toml'] })
  t.deepEqual((await request('GET', '/v1/runtime')).body.config.files_kept, ['config/pots.toml'])
  const changed = (await mode('plan')).body
  t.is(changed.config.files_kept, undefined)
  const run = createCommandLine({ url: daemon.url })
  const said = (await run('runtime', 'rollback', '--target-revision', '5')).out
  t.is(said, 'Done. The settings are at revision 7.\n', 'no file changed since')
  t.regex(
    (await run('runtime', 'rollback', '--target-revision', '0')).out,
    /\nFiles are yours and were not rolled back\. Changed since: config\/pots\.toml\n$/u,
  )
  t.is((await request('GET', '/v1/runtime')).body.permission_mode, 'default')
})

test('runtime-36: a list that is saved again and again pushes out revisions of its own alone', async (t) => {
  const { request, save, revisions } = await start(t, '[pots.a]\nsize = 1\n')
  const mode = (name: string) => request('POST', '/v1/runtime/permission-mode', { mode: name })
  const config = async () => (await request('GET', '/v1/runtime')).body.config
  await save('[pots.a]\nsize = 2\n')
  await mode('dontAsk')
  await save('[pots.a]\nsize = 3\n')
  await mode('plan')
  for (let size = 4; size <= 20; size += 1) await save(`[pots.a]\nsize = ${size}\n`)
  const kept = await revisions()
  t.deepEqual(
    kept.filter(({ source }) => source === 'file').map(({ revision }) => revision),
    Array.from({ length: 16 }, (_, at) => 21 - at),
  )
  t.deepEqual(
    kept.filter(({ source }) => source === 'api').map(({ revision }) => revision),
    [4, 2],
  )
  t.like(await config(), { revision: 21, history_len: 1 })
  t.like((await request('POST', '/v1/runtime/rollback')).body, {
    permission_mode: 'dontAsk',
    config: { revision: 22, files_kept: ['config/pots.toml'] },
  })
  t.is((await revisions())[0].rollback_of_revision, 2, 'the revision before was one of the file, and fell')
  for (let n = 1; n <= 64; n += 1) await mode(n % 2 === 0 ? 'plan' : 'dontAsk')
  t.like(await config(), { revision: 86, history_len: 64 })
  t.like((await request('POST', '/v1/runtime/rollback', { target_revision: 21 })).body, { permission_mode: 'plan' })
  t.is((await request('POST', '/v1/runtime/rollback', { target_revision: 2 })).status, 404)
})
