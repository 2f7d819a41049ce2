/** The checks that a plugin author runs: what each finds, and that a skipped one says why. */
import test from 'ava'
import * as kit from '../../../core/plugin.js'
import { assertPassed, checkPlugin, type CheckResult } from '../../../core/testing/contract.js'

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
    ['export', 'register', 'undo', 'settings', 'stop', 'repair'].map((check) => [check, 'passed']),
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
    ['register', 'undo', 'settings', 'stop', 'repair'].map(
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
    'stop skipped: its register did not pass',
    'repair skipped: its register did not pass',
  ])
})

test.serial('a need that nobody provides skips the daemons and names the token', async (t) => {
  const Salt = kit.defineToken<{ readonly grains: number }>('salt@1')
  const needy = plugin({ needs: { salt: Salt } })
  const results = await checkPlugin(needy)
  const reason = 'no plugin that is given provides salt@1: name its provider in beside'
  t.deepEqual(wrongIn(results), [`stop skipped: ${reason}`, `repair skipped: ${reason}`])
  t.throws(() => assertPassed(results), { message: `stop skipped: ${reason}\nrepair skipped: ${reason}` })
  t.notThrows(() => assertPassed(results, { maySkip: ['stop', 'repair'] }))
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
  t.regex(wrong.join(), /^stop failed: left behind: \d listeners of SIGUSR2; taken away: \d listeners of SIGUSR2/u)
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
    'stop failed: tried is failed: the oven is cold',
    'repair failed: tried is failed: the oven is cold',
  ])
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
