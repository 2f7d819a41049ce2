/** The first plugin of the guide: it keeps what plugins must keep, and works when an operator installs it. */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import * as kit from '../../core/plugin.js'
import { assertPassed, checkPlugin, createTestDaemon } from '../../core/testing/contract.js'
import makeDice from '../../docs/examples/dice/plugin.js'
import { callTool, scriptedProvider, text } from '../../plugins/providers/scripted/contract.js'
import { freshRoot, spawnMain, spawnTestDaemon } from '../support/daemon.js'
import { blocksFor, repository, sh, shBlocks } from '../support/docs.js'

test.serial('dice: it keeps what a plugin must keep', async (t) => {
  assertPassed(await checkPlugin(makeDice))
  t.pass()
})

// part: kit
test.serial('dice: a model rolls, and the roll is there after a crash', async (t) => {
  const model = scriptedProvider([[callTool('c1', 'roll_dice', { sides: 20 })], [text('It is done.')]])
  const daemon = await createTestDaemon({ plugins: [makeDice, model] })
  t.teardown(() => daemon.close())
  await daemon.request('POST', '/v1/sessions', { session_id: 'table' })
  const run = await daemon.request('POST', '/v1/sessions/table/input', { content: 'Roll a big one.' })
  t.is(run.body.outputs[0].content, 'It is done.')
  await daemon.crash()
  const rolls = await daemon.request('GET', '/v1/dice')
  t.like(rolls.body, [{ session_id: 'table', sides: 20 }])
})
// end

test.serial('dice: an author compiles it in a folder of its own, against the package', async (t) => {
  const folder = await freshRoot()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
  for (const [name, target] of [
    ['holdfast', repository],
    ['typescript', join(repository, 'node_modules', 'typescript')],
    ['.bin/tsc', '../typescript/bin/tsc'],
  ] as const)
    symlinkSync(target, join(folder, 'node_modules', name))
  const [imports = ''] = blocksFor('docs/plugin-guide.md', 'author-imports')
  const source = readFileSync(join(repository, 'docs/examples/dice/plugin.ts'), 'utf8').replaceAll(
    /^import type .*\n/gmu,
    '',
  )
  writeFileSync(join(folder, 'package.json'), readFileSync(join(repository, 'docs/examples/dice/package.json')))
  const testing = "export type { checkPlugin, CheckResult } from 'holdfast/testing'\n"
  writeFileSync(join(folder, 'plugin.ts'), imports + testing + source)
  const compile = blocksFor('docs/plugin-guide.md', 'author').join('')
  const { code, out } = await sh(compile, folder)
  t.deepEqual([code, out], [0, ''])
  const { default: make } = await import(pathToFileURL(join(folder, 'plugin.js')).href)
  t.is(make(kit).id, 'dice')
  const [example = '', command = ''] = blocksFor('docs/plugin-tests.md', 'author-test')
  writeFileSync(join(folder, 'plugin.test.js'), example)
  const tested = await sh(command, folder)
  t.deepEqual([tested.code, tested.err], [0, ''], tested.out)
  writeFileSync(join(folder, 'plugin.test.js'), example.replace('(plugin)', '({ ...plugin, id: "Dice" })'))
  const refused = await sh(command, folder)
  t.is(refused.code, 1)
  t.regex(refused.out, /export failed: its default export is not a plugin/u)
  t.regex(refused.out, /stop skipped: its default export is not a plugin/u)
  writeFileSync(join(folder, 'plugin.ts'), imports + source.replace('sides: number', 'sides: string'))
  t.not((await sh(compile, folder)).code, 0, 'the types of the package are looked at')
})

/** As the guide says: two files into a folder, one table into a file. */
const install = (root: string): void => {
  const folder = join(root, 'plugins', 'dice')
  for (const made of [folder, join(root, 'config')]) mkdirSync(made, { recursive: true, mode: 0o700 })
  cpSync(join(repository, 'docs/examples/dice/package.json'), join(folder, 'package.json'))
  cpSync(resolve(import.meta.dirname, '../../docs/examples/dice/plugin.js'), join(folder, 'plugin.js'))
  writeFileSync(join(root, 'config', 'plugins.toml'), blocksFor('docs/plugin-guide.md', 'dice-config').join(''))
}

test.serial('dice: installed by hand, a run rolls it, and the roll is there after a kill -9', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  install(root)
  const first = await spawnTestDaemon(t, { root })
  const {
    printed: [text = ''],
    run,
  } = await shBlocks([blocksFor('docs/plugin-guide.md', 'dice').join('').split('\n').at(-2) ?? ''], {
    url: first.url,
    folder: root,
  })
  t.deepEqual([run.err, JSON.parse(text)], ['', []])
  const {
    printed: [all = ''],
  } = await shBlocks(blocksFor('docs/plugin-guide.md', 'dice'), { url: first.url, folder: root })
  t.regex(all, /"status":"completed".*"sides":20,"result":\d+/su)
  const rolls = (await first.request('GET', '/v1/dice')).body
  t.is(rolls.length, 1)
  const reports = (await first.request('GET', '/v1/status')).body.plugins
  t.is(reports.find(({ id }: { id: string }) => id === 'dice').from, 'state:dice')
  await first.kill('SIGKILL')
  const second = await spawnTestDaemon(t, { root })
  t.deepEqual((await second.request('GET', '/v1/dice')).body, rolls)
  await second.stop()
  const safe = await spawnTestDaemon(t, { root, flags: ['--safe'] })
  t.is((await safe.request('GET', '/v1/dice')).status, 404)
  await safe.stop()
  const {
    text: { out },
    exited,
  } = spawnMain(['state', 'verify', '--state-root', root])
  t.is((await exited).code, 0, out)
})
