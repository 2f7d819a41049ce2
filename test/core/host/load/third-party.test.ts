/** What is said of `config/plugins.toml` and of packages that cannot be loaded. */
import test, { type ExecutionContext } from 'ava'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClock } from '../../../../core/base/clock.js'
import { mainOf, thirdPartyCandidates } from '../../../../core/host/load/third-party.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { tempRoot } from '../../../support/notes.js'

const disk = createDisk()
const written = (t: ExecutionContext, text: string): string => {
  const root = tempRoot(t)
  mkdirSync(join(root, 'config'))
  writeFileSync(join(root, 'config', 'plugins.toml'), text)
  return root
}
const candidates = (root: string) =>
  thirdPartyCandidates({ disk, root, kit: {}, clock: createClock(), patienceMs: 1000 })

test('a name that no plugin may have is told as that, with its line', (t) => {
  for (const [key, shown] of [
    ['"a b"', '"a b"'],
    ['"..x"', '"..x"'],
    ['A', '"A"'],
    ['"dice@1"', '"dice@1"'],
    ['"\\u00fcn\\u00ef"', '"ünï"'],
    ['"x\\ny"', String.raw`"x\ny"`],
    ['"x]y"', '"x]y"'],
  ] as const) {
    const root = written(t, `[dice]\nfrom = "state:dice"\n[${key}]\nfrom = "state:dice"\n`)
    const { message = '' } = t.throws(() => candidates(root), { code: 'config_invalid' }, key) ?? {}
    t.true(message.includes('config/plugins.toml:3'), message)
    t.true(message.includes(`${shown} is no name of a plugin: it must be words of small letters and digits`), message)
  }
})

test('what a folder or a package of a plugin may be called is said', (t) => {
  const root = written(t, '[dice]\nfrom = "state:a b"\n')
  t.throws(() => candidates(root), { message: /dice\.from must be .* with a name of small letters, digits, dots/u })
})

test('what stands in the place of a main file is said', (t) => {
  const folder = join(tempRoot(t), 'dice')
  mkdirSync(folder)
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'dice', version: '1.0.0', main: 'plugin.js', holdfast: { api: 1 } }),
  )
  const main = join(folder, 'plugin.js')
  const refused = (pattern: RegExp): void => {
    t.throws(() => mainOf(disk, folder), { code: 'plugin_refused', message: pattern })
    rmSync(main, { recursive: true, force: true })
  }
  refused(/its main file plugin\.js does not exist/u)
  spawnSync('mkfifo', [main])
  refused(/its main file plugin\.js is a pipe, a socket or a device/u)
  symlinkSync('nowhere.js', main)
  refused(/its main file plugin\.js is a link/u)
  mkdirSync(main)
  refused(/its main file plugin\.js is a folder/u)
})

test('a plugin that imports what is from the kit is told what to do, as by checkPlugin', async (t) => {
  const root = written(t, '[dice]\nfrom = "state:dice"\n')
  const folder = join(root, 'plugins', 'dice')
  mkdirSync(folder, { recursive: true })
  const manifest = { name: 'dice', version: '1.0.0', type: 'module', main: 'plugin.js', holdfast: { api: 1 } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'plugin.js'), "import { string } from 'holdfast/plugin'; export default string()")
  await t.throwsAsync(candidates(root)[0]?.load() ?? t.fail(), {
    code: 'plugin_refused',
    message:
      'it imports holdfast at run time, which is not there where a daemon loads it: ' +
      'take what it is from the kit, which the default export is given, and types with import type',
  })
})
