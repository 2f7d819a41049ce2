/** The first plugin of the guide: it keeps what plugins must keep, and works when an operator installs it. */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import * as kit from '../../core/plugin.js'
import { shipped } from '../../plugins/index.js'
import type { ShippedPlugin } from '../../core/plugin.js'
import { conformPlugin } from '../conform/plugin.js'
import { freshRoot, spawnMain, spawnTestDaemon } from '../support/daemon.js'
import { blocksFor, repository, sh, shBlocks } from '../support/docs.js'

const dice: ShippedPlugin = { id: 'dice', required: false, load: () => import('../../docs/examples/dice/plugin.js') }

conformPlugin(test, [...shipped, dice], 'dice')

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
  writeFileSync(join(folder, 'plugin.ts'), imports + source)
  const compile = blocksFor('docs/plugin-guide.md', 'author').join('')
  const { code, out } = await sh(compile, folder)
  t.deepEqual([code, out], [0, ''])
  const { default: make } = await import(pathToFileURL(join(folder, 'plugin.js')).href)
  t.is(make(kit).id, 'dice')
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
