/** The checks that a plugin author runs: what each finds, and that a skipped one says why. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import * as kit from '../../../core/plugin.js'
import { assertPassed, checkPlugin, type CheckResult } from '../../../core/testing/contract.js'
import { freshRoot } from '../../support/daemon.js'
import { repository } from '../../support/docs.js'

const plugin = (members: Partial<kit.AnyPlugin>): kit.AnyPlugin => ({
  id: 'tried',
  version: '1.0.0',
  api: 1,
  summary: 'Is tried.',
  register: () => {},
  ...members,
})

const wrongIn = (results: readonly CheckResult[]): string[] =>
  results
    .filter(({ outcome }) => outcome !== 'passed')
    .map(({ check, outcome, sentence }) => `${check} ${outcome}: ${sentence}`)

const wrongWith = async (members: Partial<kit.AnyPlugin>): Promise<string[]> =>
  wrongIn(await checkPlugin(plugin(members)))

test.serial('a plugin that keeps everything passes every check, each with a sentence', async (t) => {
  const results = await checkPlugin(plugin({}))
  t.deepEqual(
    results.map(({ check, outcome }) => [check, outcome]),
    ['export', 'load', 'register', 'undo', 'settings', 'contributions', 'stop', 'repair'].map((check) => [
      check,
      'passed',
    ]),
  )
  t.true(results.every(({ sentence }) => sentence.length > 20))
  t.notThrows(() => assertPassed(results))
})

test.serial('what is no plugin fails the first check, and the others say why they were not made', async (t) => {
  const results = await checkPlugin(plugin({ id: 'Not Kebab' }))
  const [first, ...others] = wrongIn(results)
  t.regex(first ?? '', /^export failed: its default export is not a plugin: id /u)
  t.deepEqual(
    others,
    ['load', 'register', 'undo', 'settings', 'contributions', 'stop', 'repair'].map(
      (check) => `${check} skipped: its default export is not a plugin`,
    ),
  )
})

test.serial('a function that throws instead of making a plugin is told with its sentence', async (t) => {
  const [first] = await checkPlugin(() => {
    throw new Error('no kit\nfor me')
  })
  t.deepEqual(first, { check: 'export', outcome: 'failed', sentence: 'no kit for me' })
})

test.serial('a register that works instead of declaring is named, and no daemon is started for it', async (t) => {
  t.deepEqual(await wrongWith({ register: ({ clock }) => void clock.now() }), [
    'register failed: tried is failed: register must not call clock.now',
    'undo failed: tried is failed: register must not call clock.now',
    'contributions skipped: its register did not pass',
    'stop skipped: its register did not pass',
    'repair skipped: its register did not pass',
  ])
})

test.serial('a need that nobody provides skips the daemons and names the token', async (t) => {
  const Salt = kit.defineToken<{ readonly grains: number }>('salt@1')
  const needy = plugin({ needs: { salt: Salt } })
  const results = await checkPlugin(needy)
  const reason = 'no plugin that is given provides salt@1: name its provider in beside'
  const skipped = ['contributions', 'stop', 'repair']
  const lines = skipped.map((check) => `${check} skipped: ${reason}`)
  t.deepEqual(wrongIn(results), lines)
  t.throws(() => assertPassed(results), { message: lines.join('\n') })
  t.notThrows(() => assertPassed(results, { maySkip: skipped }))
  const mine = plugin({ id: 'mine', provides: [Salt], register: (ctx) => ctx.provide(Salt, { grains: 1 }) })
  t.deepEqual(wrongIn(await checkPlugin(needy, { beside: [mine] })), [])
})

test.serial('settings without a default or a sentence and flags of nothing are named', async (t) => {
  const config = kit.object({ salt: kit.defaulted(kit.integer(), 1) })
  t.deepEqual(await wrongWith({ config, flags: { pepper: 'pepper' } }), [
    'settings failed: the setting salt has no sentence: give it one with doc(); ' +
      'the flag --pepper names pepper, which is no setting',
  ])
  t.regex((await wrongWith({ config: kit.object({ salt: kit.integer() }) })).join(), /^export failed: .*salt/u)
})

test.serial('what a stop leaves behind is named', async (t) => {
  const never = (): void => {}
  t.teardown(() => process.off('SIGUSR2', never))
  const wrong = await wrongWith({ register: ({ onStart }) => onStart(() => void process.on('SIGUSR2', never)) })
  // The daemon before it has left a listener too.
  t.regex(wrong.join(), /^stop failed: left behind: \d listeners of SIGUSR2$/u)
})

test.serial('what a stop takes away is named', async (t) => {
  const others = [(): void => {}, (): void => {}, (): void => {}]
  for (const other of others) process.on('SIGUSR2', other)
  t.teardown(() => others.forEach((other) => process.off('SIGUSR2', other)))
  const register: Parameters<typeof plugin>[0]['register'] = ({ onStart }) =>
    onStart(() => {
      const other = others.pop()
      if (other !== undefined) process.off('SIGUSR2', other)
    })
  t.regex((await wrongWith({ register })).join(), /taken away: \d listeners of SIGUSR2/u)
})

test.serial('a timer that a stop leaves behind is named with what to do', async (t) => {
  const timers: NodeJS.Timeout[] = []
  t.teardown(() => timers.forEach((timer) => clearInterval(timer)))
  const wrong = await wrongWith({
    register: ({ onStart }) => onStart(() => void timers.push(setInterval(() => {}, 60_000))),
  })
  t.regex(wrong.join(), /left behind: \d+ Timeout \(wait with ctx\.clock: its timers end with the plugin\)/u)
})

test.serial('a plugin that does not come up says why', async (t) => {
  const wrong = await wrongWith({
    register: ({ onStart }) =>
      onStart(() => {
        throw new Error('the oven is cold')
      }),
  })
  t.deepEqual(wrong, [
    'contributions failed: tried is failed: the oven is cold',
    'stop failed: tried is failed: the oven is cold',
    'repair failed: tried is failed: the oven is cold',
  ])
})

test.serial('a metric of another name and a setting that begins with what it may not be are named', async (t) => {
  const colour = {
    name: 'colour',
    schema: kit.enums(['red']),
    initial: () => 'blue',
    change: { path: 'colour', summary: 'Sets it.', fields: {}, value: () => 'red', example: {} },
  }
  const metric = { name: 'colours_total', help: 'Colours.', type: 'counter', collect: () => [] }
  for (const [point, value, says] of [
    ['runtime-settings@1', colour, /contributions failed: .*the setting colour is wrong: .*must be one of "red"/u],
    ['metrics@1', metric, /contributions failed: .*colours_total of a metric must begin with service_/u],
  ] as const)
    t.regex((await wrongWith({ register: (ctx) => void ctx.contribute({ point }, value) })).join('\n'), says)
})

test.serial('a repair step that finds something in a fresh root is named', async (t) => {
  const wrong = await wrongWith({
    register: (ctx) => ctx.repair({ id: 'tried.never', check: () => ['dust'], fix: () => Promise.resolve() }),
  })
  t.true(
    wrong.some((line) => line.startsWith('repair failed: ')),
    wrong.join('\n'),
  )
})

/** The folder of an author, who has `holdfast` there to compile against and to test with. */
const author = async (t: ExecutionContext, files: Readonly<Record<string, string>>): Promise<string> => {
  const folder = await freshRoot()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const modules = path.join(folder, 'node_modules')
  mkdirSync(path.join(modules, 'spare'), { recursive: true })
  symlinkSync(repository, path.join(modules, 'holdfast'))
  const spare = { name: 'spare', type: 'module', main: 'index.js' }
  const written = { 'node_modules/spare/package.json': JSON.stringify(spare), 'node_modules/spare/index.js': '' }
  for (const [name, content] of Object.entries({ ...written, ...files }))
    writeFileSync(path.join(folder, name), content)
  return folder
}
const manifest = {
  name: 'salt',
  version: '1.0.0',
  type: 'module',
  main: 'plugin.js',
  devDependencies: { spare: '1.0.0' },
  holdfast: { api: 1 },
}
const made = `({ definePlugin }) =>
  definePlugin({ id: 'salt', version: '1.0.0', api: 1, summary: 'Salts.', register: () => {} })`
const wrongOf = async (folder: string): Promise<string[]> =>
  wrongIn(await checkPlugin((await import(pathToFileURL(path.join(folder, 'plugin.js')).href)).default))

test.serial('a plugin that imports what is not there where a daemon loads it is named with what to do', async (t) => {
  const howTo = 'take what it is from the kit, which the default export is given, and types with import type'
  for (const name of ['holdfast/plugin', 'holdfast/plugins/media/assets', 'spare']) {
    const folder = await author(t, {
      'package.json': JSON.stringify(manifest),
      'plugin.js': `import { other } from './other.js'\nexport default ${made}\nexport { other }`,
      'other.js': `import '${name}'\nexport const other = 1`,
    })
    const where = 'which is not there where a daemon loads it'
    t.deepEqual(await wrongOf(folder), [`load failed: it imports ${name} at run time, ${where}: ${howTo}`])
  }
  const alone = await author(t, {
    'package.json': JSON.stringify(manifest),
    'plugin.js': `import './other.js'\nimport 'node:fs'\nexport default ${made}`,
    'other.js': '',
  })
  t.deepEqual(await wrongOf(alone), [])
})

test.serial('a plugin whose package a daemon refuses does not load, also one that is a value', async (t) => {
  const folder = await author(t, {
    'package.json': JSON.stringify({ ...manifest, holdfast: { api: 7 } }),
    'plugin.js': `import * as kit from 'holdfast/plugin'\nexport default (${made})(kit)`,
  })
  t.regex((await wrongOf(folder)).join(), /^load failed: .*holdfast\.api/u)
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest))
  t.regex((await wrongOf(folder)).join(), /^load failed: it imports holdfast\/plugin at run time/u)
})

test.serial('a contribution that its point refuses, and one to a point that is not there, are named', async (t) => {
  const Tools = kit.definePoint<object>('tools@1')
  t.regex(
    (await wrongWith({ register: (ctx) => ctx.contribute(Tools, { name: 'Bad Name' }) })).join(),
    /^contributions failed: tried is \w+: .*the name "Bad Name" of a tool must be of small letters/u,
  )
  t.deepEqual(await wrongWith({ register: (ctx) => ctx.contribute(kit.definePoint<object>('toolz@1'), {}) }), [
    'contributions failed: it contributes to toolz@1, which no plugin reads; did you mean tools@1?',
  ])
})
