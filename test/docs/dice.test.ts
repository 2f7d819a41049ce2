/** The first plugin of the guide: it keeps what plugins must keep, and works when an operator installs it. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { shipped } from '../../plugins/index.js'
import type { ShippedPlugin } from '../../core/plugin.js'
import { conformPlugin } from '../conform/plugin.js'
import { freshRoot, spawnMain, spawnTestDaemon } from '../support/daemon.js'
import { blocksFor, repository, shBlocks } from '../support/docs.js'

const dice: ShippedPlugin = { id: 'dice', required: false, load: () => import('../../docs/examples/dice/plugin.js') }

conformPlugin(test, [...shipped, dice], 'dice')

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
  const { printed: [text = ''], run } = await shBlocks([blocksFor('docs/plugin-guide.md', 'dice').join('').split('\n').at(-2) ?? ''], { url: first.url, folder: root })
  t.deepEqual([run.err, JSON.parse(text)], ['', []])
  const { printed: [all = ''] } = await shBlocks(blocksFor('docs/plugin-guide.md', 'dice'), { url: first.url, folder: root })
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
  const { text: { out }, exited } = spawnMain(['state', 'verify', '--state-root', root])
  t.is((await exited).code, 0, out)
})
