/** Third-party code that never ends while the daemon starts, in real processes. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import test from 'ava'
import { spawnMain, spawnTestDaemon, freshRoot } from '../../../support/daemon.js'

const pluginOf = (id: string, members: string): string =>
  `export default ({ definePlugin, object, string }) => definePlugin({
    id: '${id}', version: '1.0.0', api: 1, summary: 'A test.', config: object({}), ${members} })`

const never = `(console.error('it hangs'), new Promise(() => {}))`
const hangs = {
  import: `await ${never}\nexport default 1`,
  repair: pluginOf('hang', `register(ctx) { ctx.repair({ id: 'hang', check: () => [1], fix: () => ${never} }) }`),
  onStart: pluginOf('hang', `register(ctx) { ctx.onStart(() => ${never}) }`),
}
const fine = pluginOf('fine', 'register() {}')

const rootWith = async (plugins: Readonly<Record<string, string>>, required = false): Promise<string> => {
  const root = await freshRoot()
  await mkdir(path.join(root, 'config'), { recursive: true, mode: 0o700 })
  const tables = Object.keys(plugins).map((id) => `[${id}]\nfrom = "state:${id}"\nrequired = ${required}\n`)
  await writeFile(path.join(root, 'config', 'plugins.toml'), tables.join('\n'), { mode: 0o600 })
  for (const [id, code] of Object.entries(plugins)) {
    const folder = path.join(root, 'plugins', id)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const manifest = { name: id, version: '1.0.0', type: 'module', main: 'plugin.js', holdfast: { api: 1 } }
    await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest))
    await writeFile(path.join(folder, 'plugin.js'), code)
  }
  return root
}

for (const [what, reason] of [
  ['import', 'importing it did not finish within 10 s'],
  ['repair', 'the repair did not finish within 10 s'],
] as const)
  test(`runtime-18: a third-party plugin whose ${what} never ends is failed after ten seconds, and the others start`, async (t) => {
    const daemon = await spawnTestDaemon(t, { root: await rootWith({ hang: hangs[what], fine }) })
    const { plugins } = (await daemon.request('GET', '/v1/status')).body
    const told = (id: string) => plugins.find((plugin: { id: string }) => plugin.id === id)
    t.like(told('hang'), { state: 'failed', reason })
    t.is(told('fine').state, 'ready')
    t.regex(daemon.logText(), /plugin hang failed in /u)
    await daemon.stop()
  })

for (const [what, code] of Object.entries(hangs))
  test(`runtime-14: a SIGTERM ends a start at once that waits for the ${what} of a third-party plugin`, async (t) => {
    const root = await rootWith({ hang: code }, true)
    const { child, text, exited } = spawnMain(['serve', '--bind', '127.0.0.1:0', '--state-root', root])
    await new Promise<void>((resolve) => {
      child.stderr.on('data', () => text.err.includes('it hangs') && resolve())
    })
    const from = Date.now()
    child.kill('SIGTERM')
    t.deepEqual(await exited, { code: 0, signal: null }, text.err)
    t.true(Date.now() - from < 5000, `it took ${Date.now() - from} ms`)
    t.regex(text.err, /"stopped".*"clean":true/u)
    t.notRegex(text.err, /plugin hang failed/u)
    await (await spawnTestDaemon(t, { root, flags: ['--safe'] })).stop()
  })
