/** The program: it is that of the modules beside it, and to plugins and stacks it is as they are. */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { makeProgram } from '../../../core/build/make-program.js'
import { dist, filesOf, lives, programFolder, sealCode } from '../../../core/build/program.js'
import { version } from '../../../core/base/version.js'
import { shippedPlugins } from '../../../core/shipped.js'
import { ownerOf } from '../../../core/host/context/faults.js'
import { shippedCandidate } from '../../../core/host/load/candidate.js'
import * as kit from '../../../core/plugin.js'
import { copyOfBuild } from '../../support/build.js'
import { repository } from '../../support/docs.js'
import { freshRoot } from '../../support/folders.js'
import { spawnTestDaemon } from '../../support/daemon.js'

const run = async (args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24 })).stdout

test.before(() => makeProgram())

test.serial(
  'a program of other modules is not started, and the last step of a build makes that of these',
  async (t) => {
    const folder = copyOfBuild()
    const main = path.join(folder, 'core/main.js')
    const said = async (): Promise<string> => (await run([main, '--version'])).trim()
    const module = path.join(folder, 'core/base/version.js')
    writeFileSync(module, readFileSync(module, 'utf8').replace(version, '9.9.9'))
    t.is(await said(), version, 'what runs is the program')
    const notes = path.join(folder, '.tsbuildinfo')
    writeFileSync(notes, readFileSync(notes, 'utf8').replace('{', '{ '))
    t.is(await said(), '9.9.9', 'the compiler has written: the modules run')
    await run([path.join(folder, 'core/build/make.js')])
    writeFileSync(module, readFileSync(module, 'utf8').replace('9.9.9', '8.8.8'))
    t.is(await said(), '9.9.9', 'a program of the new modules')
    t.deepEqual(readdirSync(path.join(folder, 'bundle')), [path.basename(programFolder(folder) ?? '')])
  },
)

test.serial('code that this version of node cannot use, or none, makes a start slower and nothing else', async (t) => {
  const folder = copyOfBuild()
  const program = programFolder(folder) ?? ''
  for (const life of lives) writeFileSync(filesOf(program, life).code, sealCode(program, life, Buffer.from('x')))
  t.is((await run([path.join(folder, 'core/main.js'), '--version'])).trim(), version)
})

for (const life of lives)
  test.serial(`a start of ${life} takes the code that was kept for it`, async (t) => {
    const script = `
      const { readScript } = await import(${JSON.stringify(path.join(dist, 'core/build/program.js'))})
      console.log(readScript(${JSON.stringify(programFolder())}, '${life}').cachedDataRejected)`
    t.is((await run(['--input-type=module', '-e', script])).trim(), 'false')
  })

test.serial('the program is read one byte a character, and says what its modules say', (t) => {
  for (const life of lives) {
    const bytes = readFileSync(filesOf(programFolder() ?? '', life).program)
    t.true(bytes.every((byte) => byte < 128))
    if (life === 'serve') t.true(bytes.includes(String.raw`['\u2019]`), 'a pattern keeps its signs')
  }
})

test.serial('what tsc does alone is noticed, and npm start and npm run build end with the program', (t) => {
  const { compilerOptions } = JSON.parse(readFileSync(path.join(repository, 'tsconfig.json'), 'utf8'))
  t.like(compilerOptions, { incremental: true, tsBuildInfoFile: 'dist/.tsbuildinfo' })
  const { scripts, dependencies } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8'))
  t.regex(scripts.start, /tsc -p \. && node dist\/core\/build\/make\.js && exec node /u)
  t.regex(scripts.build, /--tsBuildInfoFile dist\.next\/\.tsbuildinfo && node dist\.next\/core\/build\/make\.js && /u)
  t.true('esbuild' in dependencies)
})

test.serial('stacks of the program tell of the sources, and whose they are', async (t) => {
  const script = `
    const { openProgram } = await import(${JSON.stringify(path.join(dist, 'core/build/program.js'))})
    const { stackOf } = openProgram('--version').program
    const modules = Object.entries(globalThis[Symbol.for('holdfast.modules')])
    const [, load] = modules.find(([url]) => url.endsWith('/plugins/execution/models/contract.js'))
    try { (await load()).checkGeneration() } catch (error) { console.log(stackOf(error)) }`
  const stack = await run(['--input-type=module', '-e', script])
  const [, line = ''] = /models\/generation\.ts:(\d+):\d+\)/u.exec(stack) ?? []
  const source = readFileSync(path.join(repository, 'plugins/execution/models/generation.ts'), 'utf8').split('\n')
  t.regex(source.slice(Number(line) - 3, Number(line)).join('\n'), /checkGeneration/u, stack)
  const owners = (await shippedPlugins()).map((entry) => shippedCandidate(entry, kit))
  t.is(ownerOf(Object.assign(new TypeError('x'), { stack }), owners), 'models')
})

test.serial('a plugin that imports classes and tokens gets those of the program', async (t) => {
  const root = await freshRoot()
  const folder = path.join(root, 'plugins/own')
  mkdirSync(path.join(folder, 'node_modules'), { recursive: true })
  mkdirSync(path.join(root, 'config'))
  symlinkSync(repository, path.join(folder, 'node_modules/holdfast'))
  writeFileSync(path.join(root, 'config/plugins.toml'), '[own]\nfrom = "state:own"\n')
  const manifest = { name: 'own', version: '1.0.0', type: 'module', main: 'index.js', holdfast: { api: 1 } }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(
    path.join(folder, 'index.js'),
    `import { Problem, defineErrors } from 'holdfast/plugin'
    import { runErrors } from 'holdfast/plugins/execution/runs'
    export default (kit) => {
      const own = globalThis[Symbol.for('holdfast.modules')] !== undefined
      if (!own || kit.Problem !== Problem || kit.defineErrors !== defineErrors) throw new Error('not the same')
      if (!(runErrors.run_not_found({ details: {} }) instanceof kit.Problem)) throw new Error('not the same')
      return { id: 'own', version: '1.0.0', api: 1, summary: 'Own.', register() {} }
    }`,
  )
  const daemon = await spawnTestDaemon(t, { root })
  const { plugins } = (await daemon.request('GET', '/v1/status')).body
  const own = plugins.find(({ id }: { id: string }) => id === 'own')
  t.is(own.state, 'ready', own.reason)
  await daemon.stop()
})
