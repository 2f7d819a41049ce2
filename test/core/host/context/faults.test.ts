/** A table of faults: each has a fixture in test/broken-plugins, and none of them takes the daemon with it. */
import { cp, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { defineToken, type PluginReport } from '../../../../core/plugin.js'
import { testPlugin } from '../../../support/plugins.js'
import { freshRoot, spawnTestDaemon, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'

const fixtures = fileURLToPath(new URL('../../../../../test/broken-plugins', import.meta.url))

interface Row {
  readonly plugin: string
  /** What is wrong, as the end of a sentence. */
  readonly fault: string
  readonly state: PluginReport['state']
  /** In the reason, or in the last fault of a degraded plugin. */
  readonly says: RegExp
  /** Makes the fault happen. */
  readonly provoke?: (daemon: TestDaemon) => Promise<unknown>
}

const untilFaulted = async ({ daemon }: TestDaemon, plugin: string): Promise<void> => {
  for (let look = 0; look < 200; look += 1) {
    if ((daemon.view.plugins().find(({ id }) => id === plugin)?.fault_count ?? 0) > 0) return
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  }
}

const table: readonly Row[] = [
  { plugin: 'throws-in-register', fault: 'throws in register', state: 'failed', says: /register is broken/u },
  {
    plugin: 'asynchronous-register',
    fault: 'registers asynchronously',
    state: 'failed',
    says: /must not be asynchronous/u,
  },
  { plugin: 'rejects-in-start', fault: 'rejects in onStart', state: 'failed', says: /start is broken/u },
  {
    plugin: 'never-starts',
    fault: 'never finishes onStart',
    state: 'failed',
    says: /onStart did not finish within [\d.]+ s/u,
  },
  {
    plugin: 'throws-in-listener',
    fault: 'throws in a listener',
    state: 'degraded',
    says: /the listener is broken/u,
    provoke: (daemon) => untilFaulted(daemon, 'throws-in-listener'),
  },
  {
    plugin: 'throws-in-timer',
    fault: 'throws in a timer',
    state: 'degraded',
    says: /the timer is broken/u,
    provoke: (daemon) => untilFaulted(daemon, 'throws-in-timer'),
  },
  {
    plugin: 'rejects-in-timer',
    fault: 'fails in what its timer began',
    state: 'degraded',
    says: /the work of the timer is broken/u,
    provoke: (daemon) => untilFaulted(daemon, 'rejects-in-timer'),
  },
  {
    plugin: 'throws-in-route',
    fault: 'throws in a route handler',
    state: 'degraded',
    says: /the handler is broken/u,
    provoke: ({ request }) => request('GET', '/v1/broken'),
  },
  {
    plugin: 'throws-in-health-check',
    fault: 'throws in a health check',
    state: 'degraded',
    says: /the check is broken/u,
    provoke: async ({ daemon }) => daemon.view.warnings(),
  },
  {
    plugin: 'duplicate-key',
    fault: 'contributes a key twice',
    state: 'failed',
    says: /words@1 already has once, contributed by duplicate-key/u,
  },
  { plugin: 'taken-route', fault: 'claims a taken route', state: 'failed', says: /GET \/healthz\) is taken by core/u },
  {
    plugin: 'bad-config',
    fault: 'is configured with an unknown field',
    state: 'failed',
    says: /config\/bad-config\.toml:1 velocity is not a known field/u,
  },
  {
    plugin: 'no-default',
    fault: 'has a configuration field without a default',
    state: 'failed',
    says: /no default for speed/u,
  },
  {
    plugin: 'missing-need',
    fault: 'needs what nobody provides',
    state: 'skipped',
    says: /needs nobody@1, which no plugin provides/u,
  },
  { plugin: 'needs-itself', fault: 'needs itself', state: 'skipped', says: /cycle: needs-itself > needs-itself/u },
  {
    plugin: 'foreign-token',
    fault: 'provides a token that it does not list',
    state: 'failed',
    says: /models@1 is not in its provides/u,
  },
  {
    plugin: 'silent-provider',
    fault: 'does not provide what it lists',
    state: 'failed',
    says: /did not provide silence@1/u,
  },
  { plugin: 'restless-repair', fault: 'repairs without effect', state: 'failed', says: /restless still finds 1/u },
  {
    plugin: 'late-declaration',
    fault: 'declares a route after register',
    state: 'failed',
    says: /a route is only possible in register/u,
  },
  { plugin: 'not-a-plugin', fault: 'exports no plugin', state: 'failed', says: /default export/u },
  { plugin: 'wrong-shape', fault: 'exports a plugin of another version', state: 'failed', says: /not a plugin: api/u },
  { plugin: 'wrong-name', fault: 'calls itself by another name', state: 'failed', says: /calls itself another-name/u },
  {
    plugin: 'bad-syntax',
    fault: 'cannot be parsed',
    state: 'failed',
    says: /^part\.js:3: Unexpected token '='$/u,
  },
  { plugin: 'throws-on-import', fault: 'cannot be imported', state: 'failed', says: /the import is broken/u },
  {
    plugin: 'throws-null-on-import',
    fault: 'throws what is no error when it is imported',
    state: 'failed',
    says: /^its main file threw what is no error: null$/u,
  },
  {
    plugin: 'throws-null-in-export',
    fault: 'throws what is no error when it is made',
    state: 'failed',
    says: /^its default export threw what is no error: null$/u,
  },
  {
    plugin: 'asynchronous-export',
    fault: 'is made by an async function',
    state: 'failed',
    says: /^its default export gives a promise: it must give the plugin itself/u,
  },
  {
    plugin: 'later-api',
    fault: 'asks for a later contract in its package.json',
    state: 'failed',
    says: /holdfast\.api/u,
  },
  {
    plugin: 'escaping-main',
    fault: 'names a main file outside of its folder',
    state: 'failed',
    says: /outside of its folder/u,
  },
  {
    plugin: 'bad-manifest',
    fault: 'has a package.json that is not JSON',
    state: 'failed',
    says: /package\.json is not JSON/u,
  },
  { plugin: 'not-there', fault: 'is named but not there', state: 'failed', says: /there is no folder/u },
]

/** A root whose configuration names the plugins and `steady`. */
const rootWith = async (plugins: readonly string[], required = false): Promise<string> => {
  const root = await freshRoot()
  const all = [...plugins, 'steady']
  await mkdir(path.join(root, 'config'))
  for (const name of all)
    if (name !== 'not-there') await cp(path.join(fixtures, name), path.join(root, 'plugins', name), { recursive: true })
  await writeFile(
    path.join(root, 'config', 'plugins.toml'),
    all
      .map((name) => `[${name}]\nfrom = "state:${name}"\nrequired = ${String(required && name !== 'steady')}\n`)
      .join('\n'),
  )
  if (all.includes('bad-syntax'))
    await writeFile(
      path.join(root, 'plugins', 'bad-syntax', 'part.js'),
      '// Line 3 is wrong.\n\nexport const part = = 1\n',
    )
  if (all.includes('bad-config')) await writeFile(path.join(root, 'config', 'bad-config.toml'), 'velocity = 3\n')
  return root
}

/** Only the plugin that never starts is waited for. */
const start = async (t: ExecutionContext, plugins: readonly string[]): Promise<TestDaemon> => {
  const test = await startTestDaemon(t, {
    root: await rootWith(plugins),
    shipped: [],
    patienceMs: plugins.includes('never-starts') ? 1500 : 10_000,
  })
  await started(test)
  return test
}

/** The daemon listens before a plugin that takes long has started or was given up. */
const started = async ({ daemon }: TestDaemon): Promise<void> => {
  while (daemon.view.plugins().some(({ state }) => state === 'registered'))
    await new Promise((resolve) => setTimeout(resolve, 5))
}

test.serial(
  'a plugin that never starts does not keep the daemon from listening, and a stop does not wait for it',
  async (t) => {
    const daemon = await startTestDaemon(t, {
      root: await rootWith(['never-starts']),
      shipped: [],
      patienceMs: 600_000,
    })
    t.is(daemon.daemon.view.plugins().find(({ id }) => id === 'never-starts')?.state, 'registered')
    t.like(
      daemon.daemon.view.warnings().find(({ related_id: id }) => id === 'never-starts'),
      { severity: 'info', code: 'plugin_starting' },
    )
    await checkSteady(t, daemon)
    t.deepEqual(await daemon.daemon.stop(), { reason: 'stopped', clean: true })
  },
)

const check = (t: ExecutionContext, { daemon }: TestDaemon, { plugin, state, says }: Row): void => {
  const report = daemon.view.plugins().find(({ id }) => id === plugin)
  t.is(report?.state, state)
  t.regex((state === 'degraded' ? report?.last_fault?.message : report?.reason) ?? '', says)
  t.true(
    daemon.view.warnings().some(({ related_id: id }) => id === plugin),
    'the operator is told in the health warnings',
  )
}

const checkSteady = async (t: ExecutionContext, daemon: TestDaemon): Promise<void> => {
  t.is((await daemon.request('GET', '/v1/steady')).text, 'steady')
  t.is((await daemon.request('GET', '/readyz')).text, 'ready')
}

for (const row of table) {
  test.serial(`runtime-19: a plugin that ${row.fault} is named and leaves the daemon up`, async (t) => {
    const daemon = await start(t, [row.plugin])
    await row.provoke?.(daemon)
    check(t, daemon, row)
    await checkSteady(t, daemon)
    t.deepEqual(await daemon.daemon.stop(), { reason: 'stopped', clean: true })
    const { services, ...rest } = daemon.daemon.host.registry.counts()
    t.deepEqual(rest, { contributions: 0, routes: 0, repairs: 0, checks: 0 })
    t.is(services, 4, 'only what core provides is left')
  })
}

test.serial('runtime-19: all broken plugins at once leave the daemon up, and each is named', async (t) => {
  const daemon = await start(
    t,
    table.map(({ plugin }) => plugin),
  )
  for (const row of table) {
    await row.provoke?.(daemon)
    check(t, daemon, row)
  }
  await checkSteady(t, daemon)
})

test.serial('runtime-19: a plugin that is skipped has a line in the log, as one that fails has', async (t) => {
  const daemon = await start(t, ['missing-need', 'throws-in-register'])
  const told = daemon.log.filter(({ level, fact }) => level === 'error' && fact.startsWith('plugin '))
  t.deepEqual(told.map(({ fact }) => fact).toSorted(), [
    'plugin missing-need is left out: needs nobody@1, which no plugin provides',
    'plugin throws-in-register failed in register',
  ])
})

test.serial(
  'a token that is nearly the name of one is told with it, where it is needed and where it is wanted',
  async (t) => {
    const [Slots, Typo] = [defineToken<number>('secret-slots@1'), defineToken<number>('secret-slot@1')]
    const provider = testPlugin('keeper', { provides: [Slots], register: (ctx) => ctx.provide(Slots, 1) })
    const plugins = [
      provider,
      testPlugin('needy', { needs: { slots: Typo }, register: () => {} }),
      testPlugin('wishful', { wants: { slots: Typo }, register: () => {} }),
    ]
    const daemon = await startTestDaemon(t, { shipped: [], plugins })
    const facts = daemon.log.map(({ fact }) => fact)
    const typo = 'secret-slot@1, which no plugin provides; did you mean secret-slots@1?'
    t.true(facts.includes(`plugin needy is left out: needs ${typo}`))
    t.true(facts.includes(`plugin wishful wants ${typo}`))
  },
)

test.serial('an answer of a broken handler tells nothing of its error', async (t) => {
  const daemon = await start(t, ['throws-in-route'])
  const { status, text, body } = await daemon.request('GET', '/v1/broken')
  t.is(status, 500)
  t.is(body.code, 'internal_error')
  t.notRegex(text, /passwd|handler is broken/u)
})

test.serial('a failing undo is charged and does not stop the undos before it', async (t) => {
  const daemon = await start(t, ['throws-in-undo'])
  await daemon.stop()
  t.true(daemon.log.some(({ fact }) => fact === 'the other undo of throws-in-undo ran'))
  t.true(
    daemon.log.some(
      ({ fact, details }) =>
        fact === 'plugin throws-in-undo failed in an undo' && details['plugin'] === 'throws-in-undo',
    ),
  )
})

test.serial('a plugin that fails to start gives back what it took', async (t) => {
  const { log } = await start(t, ['rejects-in-start'])
  t.true(log.some(({ fact }) => fact === 'given back by rejects-in-start'))
})

test.serial('the code of a plugin whose package.json is refused never runs', async (t) => {
  await start(t, ['later-api'])
  t.false('laterApiRan' in globalThis)
})

test.serial(
  'runtime-21: a broken plugin that the operator calls required stops the start with its name and reason',
  async (t) => {
    const root = await rootWith(['throws-in-register'], true)
    await t.throwsAsync(startTestDaemon(t, { root, shipped: [] }), {
      message:
        'the required plugin throws-in-register did not come up: register is broken; ' +
        'holdfast serve --safe leaves third-party plugins out',
    })
  },
)

test.serial('errors that nobody caught are charged to the plugin whose code they came from', async (t) => {
  const daemon = await spawnTestDaemon(t, { root: await rootWith(['rejects-unheard', 'throws-out-of-reach']) })
  const both = (): boolean =>
    ['rejects-unheard failed', 'throws-out-of-reach failed'].every((text) => daemon.logText().includes(text))
  for (let look = 0; look < 2000 && !both(); look += 1)
    await new Promise((resolve) => {
      setTimeout(resolve, 10)
    })
  t.regex(daemon.logText(), /plugin rejects-unheard failed in an unhandled rejection/u)
  t.regex(daemon.logText(), /plugin throws-out-of-reach failed in an uncaught exception/u)
  t.is((await daemon.request('GET', '/v1/steady')).text, 'steady')
  await daemon.stop()
})

test.serial('runtime-21: serve --safe loads no third-party code', async (t) => {
  const root = await rootWith(['throws-on-import'])
  const { daemon } = await startTestDaemon(t, { root, shipped: [], flags: { safe: 'true' } })
  t.deepEqual(daemon.view.plugins(), [])
  t.true(daemon.view.boot().safe)
})
