import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { definePlugin, object } from '../../../../core/plugin.js'
import { Models, RouteBackends } from '../../../../plugins/execution/models/contract.js'
import { freshRoot, startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { lender } from '../../../support/plugins.js'
import { startOpenAiServer } from '../../../support/openai-server.js'
import { sayingIn } from '../../../support/responses-server.js'
import { makeFolder } from '../../../support/tools.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

const clock = createClock()

/** A daemon with this `config/routes.toml`. */
const start = async (t: ExecutionContext, first: string, options: TestDaemonOptions = {}) => {
  const root = options.root ?? (await freshRoot())
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  const write = (text: string): void => writeFileSync(join(root, 'config', 'routes.toml'), text)
  write(first)
  const daemon = await startTestDaemon(t, { ...options, root })
  await openSession(daemon)
  const runtime = async (): Promise<any> => (await daemon.request('GET', '/v1/runtime')).body
  const ids = async (): Promise<string[]> => (await runtime()).routes.map(({ route_id }: any) => route_id)
  const readiness = async (route_id: string): Promise<any> =>
    (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes.find(
      (route: any) => route.route_id === route_id,
    )
  const warnings = (): string[] => daemon.daemon.view.warnings().map(({ code }) => code)
  const becomes = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
    for (let attempt = 0; attempt < 400 && !(await holds()); attempt += 1) await clock.sleep(25)
    t.true(await holds(), JSON.stringify([await runtime(), warnings()]))
  }
  const run = async (wish: object = {}): Promise<any> => {
    const { status, body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hi', ...wish })
    return status === 202 ? until(daemon, body.run_id, 'completed', 'failed') : { status, ...body }
  }
  return { daemon, write, runtime, ids, readiness, warnings, becomes, run }
}

const two = `version = 1
default_route = "fast"

[routes.fast]
driver = "demo"
default_model = "demo-fast"

[routes.slow]
driver = "demo"
`

test('models-31: a file that loses all its routes leaves none that answers, until they are back', async (t) => {
  const { ids, becomes, write, run } = await start(t, two)
  t.deepEqual(await ids(), ['fast', 'slow'])
  write('')
  await becomes(async () => (await ids()).join() === 'none')
  t.like(await run(), { status: 400, code: 'route_not_ready' })
  write(two)
  await becomes(async () => (await ids()).join() === 'fast,slow')
  t.like(await run(), { status: 'completed' })
})

test('models-30: the routes of config/routes.toml stand in for that of the flags, and runs can wish each', async (t) => {
  const { ids, runtime, run } = await start(t, two)
  t.deepEqual(await ids(), ['fast', 'slow'])
  t.is((await runtime()).default_route, 'fast')
  t.like(await run(), { status: 'completed', request: { provider: 'fast', model: 'demo-fast' } })
  t.like(await run({ provider: 'slow' }), { status: 'completed', request: { provider: 'slow', model: 'demo' } })
  t.like(await run({ provider: 'demo' }), { status: 400, code: 'bad_request' })
})

test('models-30: without the file, or with an empty one, the route of the flags is the only one', async (t) => {
  const { ids, write, becomes, run } = await start(t, '')
  t.deepEqual(await ids(), ['demo'])
  write('[routes.only]\ndriver = "demo"\n')
  await becomes(async () => (await ids()).join() === 'only')
  t.like(await run(), { status: 'completed', request: { provider: 'only' } })
})

test('models-31: a saved file is applied route by route: a wrong one stays as it was, and a warning names it', async (t) => {
  const { ids, write, becomes, readiness, warnings, run } = await start(t, two)
  write(two.replace('demo-fast', 'demo-faster').replace('[routes.slow]\ndriver', '[routes.slow]\ndriven'))
  await becomes(() => warnings().includes('config_entry_invalid'))
  t.deepEqual(await ids(), ['fast', 'slow'])
  t.like(await run(), { status: 'completed', request: { model: 'demo-faster' } })
  t.like(await run({ provider: 'slow' }), { status: 'completed' })
  write('[routes.fast]\ndriver = "demo"\n')
  await becomes(async () => (await ids()).join() === 'fast')
  t.deepEqual(warnings(), [])
  t.is((await readiness('fast')).model, 'demo')
})

test('models-31: a route that is wrong from the start is in error and says why, and no other stands in for it', async (t) => {
  const { readiness, run, write, becomes } = await start(t, '[routes.fast]\ndriver = 7\n')
  t.like(await readiness('fast'), { state: 'error', code: 'route_invalid', active: true })
  t.regex((await readiness('fast')).message, /driver must be a string/u)
  t.like(await run(), { status: 400, code: 'route_not_ready' })
  write('[routes.fast]\ndriver = "demo"\n')
  await becomes(async () => (await readiness('fast')).state === 'ok')
  t.is((await run()).status, 'completed')
})

test('models-13: an entry that cannot be read is one warning, with one period, unless it is of the default route', async (t) => {
  const { readiness, daemon, warnings, write, becomes } = await start(t, two)
  write(`${two}\n[routes.odd]\ndriver = "nobody"\ndefault_model = "m"\n`)
  await becomes(() => warnings().length > 0)
  t.deepEqual(warnings(), ['config_entry_invalid'])
  t.regex((await readiness('odd')).message, /driver is no model provider that is here\.$/u)
  t.notRegex(JSON.stringify(daemon.daemon.view.warnings()), /[.?]\./u)
  const alone = await start(t, '[routes.odd]\ndriver = 7\n')
  t.deepEqual(alone.warnings().toSorted(), ['config_entry_invalid', 'provider_active_route_not_ready'])
})

test('models-31: a file that is no TOML from the start leaves no route, rather than that of the flags', async (t) => {
  const { ids, run, readiness } = await start(t, '[routes.fast\n')
  t.deepEqual(await ids(), ['none'])
  t.regex((await readiness('none')).message, /routes\.toml/u)
  t.like(await run(), { status: 400, code: 'route_not_ready' })
})

test('models-32: a default route that is none of the routes keeps the one of before, or is in error from the start', async (t) => {
  const { runtime, write, becomes, warnings, run, readiness } = await start(t, two.replace('"fast"', '"fat"'))
  t.is((await runtime()).default_route, 'fat')
  t.regex((await readiness('fat')).message, /default_route fat is none of the routes/u)
  t.like(await run(), { status: 400, code: 'route_not_ready' })
  write(two)
  await becomes(async () => (await run()).status === 'completed')
  write(two.replace('default_route = "fast"', ''))
  await becomes(() => warnings().includes('default_route_unknown'))
  t.like(await run(), { status: 'completed', request: { provider: 'fast' } })
  write(two.replace('"fast"', '"slow"'))
  await becomes(async () => (await runtime()).default_route === 'slow')
  t.deepEqual(warnings(), [])
  t.like(await run(), { request: { provider: 'slow' } })
})

test('models-31: of a route whose saved driver nobody provides the last good one stays, and the right one is named', async (t) => {
  const { daemon, write, becomes, warnings, run, readiness } = await start(t, two)
  write(two.replace('[routes.slow]\ndriver = "demo"', '[routes.slow]\ndriver = "demmo"'))
  await becomes(() => warnings().includes('config_entry_invalid'))
  const [told] = daemon.daemon.view.warnings()
  t.is(
    told?.message,
    'config/routes.toml:9: [routes.slow] driver is no model provider that is here; did you mean demo? ' +
      'What held before stays.',
  )
  t.like(await readiness('slow'), { state: 'ok', provider: 'demo' })
  t.like(await run({ provider: 'slow' }), { status: 'completed' })
})

test('models-31: a driver that nobody provides at the start is told with its line and the one that was meant', async (t) => {
  const { readiness, write, becomes } = await start(t, '[routes.a]\ndriver = "demmo"\n')
  const told = await readiness('a')
  t.is(told.message, 'No plugin provides the model provider demmo; did you mean demo?')
  t.regex(told.action, /^Set driver in \[routes\.a\] of config\/routes\.toml:2 to one of: .*demo/u)
  write('# Moved.\n\n[routes.a]\ndriver = "demmo"\n')
  await becomes(async () => /routes\.toml:4 to one/u.test((await readiness('a')).action))
})

test('models-32: a default route that is none is told with its line and the one that was meant, as the file is now', async (t) => {
  const { daemon, write, becomes, warnings } = await start(t, two)
  write(two.replace('"fast"', '"fats"'))
  await becomes(() => warnings().includes('default_route_unknown'))
  t.is(
    daemon.daemon.view.warnings()[0]?.message,
    'config/routes.toml:2: The default_route fats is none of the routes; did you mean fast? ' +
      'The one of before stays: fast.',
  )
  write('[[routes]]\n')
  await becomes(() => warnings().join() === 'config_entry_invalid')
})

test('models-32: --default-route goes before the default route of the file', async (t) => {
  const { runtime, run } = await start(t, two, { flags: { 'default-route': 'slow' } })
  t.is((await runtime()).default_route, 'slow')
  t.like(await run(), { request: { provider: 'slow' } })
})

test('models-32: an active model whose route leaves the file gives way to the default route until it is back', async (t) => {
  const { daemon, write, becomes, warnings, run } = await start(t, two)
  const { status } = await daemon.request('POST', '/v1/runtime/model', { model: 'demo-x', provider: 'slow' })
  t.is(status, 200)
  t.like(await run(), { request: { provider: 'slow', model: 'demo-x' } })
  write('[routes.fast]\ndriver = "demo"\n')
  await becomes(() => warnings().includes('setting_unfit'))
  t.like(await run(), { status: 'completed', request: { provider: 'fast', model: 'demo' } })
  const told = daemon.daemon.view.warnings().find(({ code }) => code === 'setting_unfit')
  t.regex(told?.message ?? '', /the setting model \(\{"route_id":"slow","model":"demo-x"\}\) cannot .*: .*slow/u)
  t.is(told?.action, 'Mend what it lacks, or go on without what was kept: holdfast runtime set-model fast/demo')
  write(two)
  await becomes(() => warnings().length === 0)
  t.like(await run(), { status: 'completed', request: { provider: 'slow', model: 'demo-x' } })
})

test('models-33: a route has one key, from a stored secret, a variable, a file, or the entry itself', async (t) => {
  const route = (more: string): string =>
    `[routes.a]\ndriver = "openai_compatible"\ndefault_model = "m"\nbase_url = "http://127.0.0.1:9/v1"\n${more}`
  const { daemon, write, becomes, readiness } = await start(t, route('api_key = "k"\napi_key_env = "HOUSE_KEY"\n'))
  t.regex((await readiness('a')).message, /may have one of api_key and api_key_env, not both/u)
  write(route('api_key_env = "HOUSE_KEY_NOT_SET"\n'))
  await becomes(async () => (await readiness('a')).code === 'api_key_env_missing')
  t.regex((await readiness('a')).message, /HOUSE_KEY_NOT_SET, which \[routes\.a\] of config\/routes\.toml names/u)
  write(route('auth_ref = "house"\n'))
  await becomes(async () => (await readiness('a')).code === 'secret_not_found')
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'house', state: { value: 'k' } })
  t.is((await readiness('a')).state, 'ok')
  t.deepEqual(codeOf(await daemon.request('DELETE', '/v1/runtime/secrets/house')), [409, 'secret_in_use'])
  write(route('api_key_env = "HOME"\n'))
  await becomes(async () => (await readiness('a')).auth_ref === undefined)
  t.is((await readiness('a')).state, 'ok')
})

test('models-34: a route that says it can what its provider cannot is in error; it may say that it does without', async (t) => {
  const { readiness, write, becomes } = await start(t, '[routes.a]\ndriver = "demo"\nimage_generation = true\n')
  t.like(await readiness('a'), { state: 'error', code: 'capability_unavailable' })
  write('[routes.a]\ndriver = "demo"\nimage_generation = false\n')
  await becomes(async () => (await readiness('a')).state === 'ok')
})

test('models-35: a route has no more calls under way than max_concurrent_calls; the others wait for their turn', async (t) => {
  const { daemon } = await start(t, '[routes.a]\ndriver = "demo"\nmax_concurrent_calls = 1\n')
  await openSession(daemon, 's2')
  await openSession(daemon, 's3')
  const first = await submit(daemon, 's1', '/sleep 3600000')
  const second = await submit(daemon, 's2', 'hello')
  const third = await submit(daemon, 's3', 'hello')
  await until(daemon, second.run_id, 'running')
  await until(daemon, third.run_id, 'running')
  await daemon.request('POST', `/v1/runs/${third.run_id}/cancel`, {})
  await until(daemon, third.run_id, 'cancelled')
  t.is((await daemon.request('GET', `/v1/runs/${second.run_id}`)).body.status, 'running')
  await daemon.request('POST', `/v1/runs/${first.run_id}/cancel`, {})
  t.is((await until(daemon, second.run_id, 'completed')).status, 'completed')
})

test('models-38: a model of another family is refused on a route, unless the route takes any', async (t) => {
  const route = (more: string): string => `[routes.a]\ndriver = "anthropic"\napi_key = "k"\n${more}`
  const { daemon, write, becomes, readiness, run } = await start(t, route('default_model = "gpt-5.4"\n'))
  t.like(await readiness('a'), { state: 'error', code: 'model_family_mismatch' })
  write(route(''))
  await becomes(async () => (await readiness('a')).state === 'ok')
  for (const generation of [{ model: 'gpt-5.4' }, { fallback_model: 'grok-4' }]) {
    const refused = await run({ generation })
    t.like(refused, { status: 400, code: 'model_family_mismatch' })
    t.like(refused.errors[0], {
      path: `body.generation.${Object.keys(generation)[0]}`,
      rule: 'must have claude in their names',
    })
  }
  const policy = { route_policy: { provider: 'a', generation: { model: 'gpt-5.4' } } }
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/route-policy', policy)), [
    400,
    'model_family_mismatch',
  ])
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/runtime/model', { model: 'gpt-5.4' })), [
    400,
    'model_family_mismatch',
  ])
  t.is((await daemon.request('POST', '/v1/runtime/model', { model: 'claude-sonnet-5' })).status, 200)
  write(route('model_support = "any"\ndefault_model = "gpt-5.4"\n'))
  const set = () => daemon.request('POST', '/v1/runtime/model', { model: 'gpt-5.4' })
  await becomes(async () => (await set()).status === 200)
})

test('models-38: the route of the flags takes any model where it has a base URL', async (t) => {
  const stateOf = async (flags: Record<string, string>) => {
    const { readiness } = await start(t, '', {
      flags: { provider: 'anthropic', 'api-key': 'k', model: 'mine', ...flags },
    })
    return (await readiness('anthropic')).state
  }
  t.is(await stateOf({}), 'error')
  t.is(await stateOf({ 'provider-base-url': 'http://127.0.0.1:9/v1' }), 'ok')
})

test('models-49: a route says for whom it asks and by which version, where its provider has such', async (t) => {
  const server = await startOpenAiServer(() => sayingIn('So.'))
  t.teardown(() => server.close())
  const route = (driver: string, more: string): string =>
    `[routes.a]\ndriver = "${driver}"\nmodel_support = "any"\nbase_url = "${server.url}"\n${more}`
  const flags = { 'openai-organization': 'all', 'openai-project': 'p-1' }
  const { write, becomes, readiness, run } = await start(t, route('openai', 'organization = "own"\n'), { flags })
  t.is((await run()).status, 'completed')
  t.like(server.asked[0]?.headers, { 'openai-organization': 'own', 'openai-project': 'p-1' })
  write(route('openai', 'organization_env = "HOLDFAST_NOT_SET"\n'))
  await becomes(async () => (await readiness('a')).code === 'api_key_env_missing')
  write(route('openai', 'project = "p"\nproject_env = "LANG"\n'))
  const { warnings } = await start(t, route('openai', 'project = "p"\nproject_env = "LANG"\n'))
  t.true(warnings().includes('config_entry_invalid'))
  write(route('anthropic', 'organization = "own"\n'))
  await becomes(async () => (await readiness('a')).code === 'vendor_option_foreign')
  t.like(await run(), { status: 400, code: 'route_not_ready' })
  write(route('anthropic', 'anthropic_version = "2030-01-01"\nanthropic_beta_headers = ["one", "two"]\n'))
  await becomes(async () => (await readiness('a')).state === 'ok')
  await run()
  t.like(server.asked.at(-1)?.headers, { 'anthropic-version': '2030-01-01', 'anthropic-beta': 'one,two' })
})

test('models-50: a route has what a back end does for its provider where it says so, and its server is told the key of now', async (t) => {
  const reached: unknown[] = []
  const backend = definePlugin({
    id: 'backend',
    version: '1.0.0',
    api: 1,
    summary: 'Does for demo routes what no model does.',
    needs: { models: Models },
    config: object({}),
    register(ctx, { models }) {
      ctx.contribute(RouteBackends, {
        id: 'b',
        providers: ['demo'],
        capabilities: ['image_generation', 'transcription'],
      })
      ctx.onStart(() => {
        const { reach, own_models, capabilities } = models.ready('a')
        reached.push(reach?.(), own_models, capabilities.image_generation, capabilities.transcription)
      })
    },
  })
  const file =
    '[routes.a]\ndriver = "demo"\nimage_generation = true\nimage_model = "brush"\napi_key = "k"\nbase_url = "http://x"\n'
  const { readiness, write, becomes } = await start(t, file, { plugins: [backend] })
  t.is((await readiness('a')).state, 'ok')
  const idle_timeout_ms = 300_000
  t.deepEqual(reached, [
    { idle_timeout_ms, api_key: 'k', base_url: 'http://x', vendor: {} },
    { image: 'brush' },
    true,
    false,
  ])
  write(file.replace('image_generation', 'audio_generation'))
  await becomes(async () => (await readiness('a')).code === 'capability_unavailable')
})

test('models-55: what the file does not know is told with its place, and an address is no more than one', async (t) => {
  const route = (more: string): string => `[routes.a]\ndriver = "openai_compatible"\ndefault_model = "m"\n${more}`
  const { readiness, write, becomes, daemon } = await start(t, `version = 2\n${two.slice(12)}`)
  const told = (): string => JSON.stringify(daemon.daemon.view.warnings())
  t.regex(told(), /version must be 1/u)
  t.like(await readiness('none'), { state: 'error', active: true })
  write(two)
  await becomes(async () => (await readiness('fast')).active)
  write(`version = 2\n${two.slice(12)}`)
  await becomes(() => told().includes('version must be 1'))
  t.true((await readiness('fast')).active)
  const of = (driver: string, key: string) => `[routes.${key}]\ndriver = "${driver}"\n${key} = "codex"\n`
  const others = {
    openai: ['openai_auth_source', 'openai_auth_file'],
    anthropic: ['anthropic_auth_source', 'anthropic_credentials_file'],
  }
  const unknown = Object.entries(others).flatMap(([driver, keys]) => keys.map((key) => of(driver, key)))
  const wrongKeys = await start(t, `${route('api_kee = "k"\n')}${unknown.join('')}`)
  t.regex((await wrongKeys.readiness('a')).message, /api_kee/u)
  for (const key of Object.values(others).flat())
    t.like(await wrongKeys.readiness(key), {
      state: 'error',
      code: 'route_invalid',
      message: `The route cannot be read: ${key} is not a known field.`,
    })
  for (const [address, reason] of [
    ['ftp://127.0.0.1/v1', 'neither http nor https'],
    ['http://me:pw@127.0.0.1/v1', 'names a user'],
    ['http://127.0.0.1/v1?key=1', 'has a query'],
    ['http://127.0.0.1/v1#top', 'has a fragment'],
    ['127.0.0.1', 'not a URL'],
  ] as const) {
    const wrong = await (await start(t, route(`base_url = "${address}"\n`))).readiness('a')
    t.like(wrong, { state: 'error', code: 'base_url_invalid' })
    t.true(wrong.message.includes(reason), wrong.message)
    t.false(wrong.message.includes('pw'))
  }
})

test('models-67: another file is read and watched in place of that in config, and what is told names it', async (t) => {
  const file = join(await makeFolder(t), 'mine.toml')
  const unread = '[routes.unread]\ndriver = "demo"\n'
  const flags = { 'routes-file': file, 'default-route': 'a' }
  writeFileSync(file, '[routes.a]\ndriver = "openai"\n[routes.b]\ndriver = "demo"\n')
  const { daemon, ids, runtime, readiness, becomes } = await start(t, unread, { flags })
  t.deepEqual(await ids(), ['a', 'b'])
  t.is((await runtime()).routes_file, file)
  t.true((await readiness('a')).action.startsWith(`Set auth_ref in [routes.a] of ${file} to a secret`))
  const warning = (code: string) => daemon.daemon.view.warnings().find((one) => one.code === code)
  writeFileSync(file, '[routes.c]\ndriver = "demo"\n[routes.bad]\ndriven = "demo"\n')
  await becomes(async () => (await ids()).join() === 'c,bad,a')
  t.regex(warning('config_entry_invalid')?.message.replace(file, 'FILE') ?? '', /^FILE:\d+: \[routes\.bad\] /u)
  t.is((await readiness('a')).action, `Correct ${file}: it is read again when it is saved.`)
  writeFileSync(file, '[routes.c\n')
  await becomes(() => warning('config_entry_invalid')?.message.startsWith(`${file} is not TOML`) === true)
})

test('models-67: flags that do nothing beside another file are told with its name, and its own flag is none of them', async (t) => {
  const file = join(await makeFolder(t), 'mine.toml')
  writeFileSync(file, '[routes.a]\ndriver = "demo"\n')
  const { daemon } = await start(t, '', { flags: { 'routes-file': file, model: 'm' } })
  const told = daemon.daemon.view.warnings()
  t.deepEqual(
    told.map(({ message, action }) => [message, action]),
    [
      [
        `${file} has routes, so these flags of the daemon do nothing: --model.`,
        `Say it of a route in ${file}, and start without these flags and their variables.`,
      ],
    ],
  )
})

test('models-68: a file that is named and is not there is a warning, and no route stands in for its routes', async (t) => {
  const file = join(await makeFolder(t), 'mine.toml')
  const { ids, readiness, run, warnings, becomes } = await start(t, two, { flags: { 'routes-file': file } })
  t.deepEqual(await ids(), ['none'])
  t.deepEqual(warnings(), ['routes_file_missing', 'provider_active_route_not_ready'].toSorted())
  t.is((await readiness('none')).message, `${file}, which --routes-file names, is not there.`)
  t.like(await run(), { status: 400, code: 'route_not_ready' })
  writeFileSync(file, '[routes.a]\ndriver = "demo"\n')
  await becomes(async () => (await ids()).join() === 'a')
  t.deepEqual(warnings(), [])
  rmSync(file)
  await becomes(async () => (await ids()).join() === 'none')
})

test('runtime-44: a key is redacted also in an entry that is not taken, and of a file that is no TOML nothing is shown', async (t) => {
  const lent = lender({})
  const wrong = (key: string): string => `token = "canary-beside"\n[routes.a]\ndriver = 7\napi_key = "${key}"\n`
  const { daemon, write, becomes } = await start(t, wrong('canary-first'), { plugins: [lent.plugin] })
  const shown = (text: string): string => lent.context().secrets.redact(text)
  t.is(shown('canary-first canary-beside'), '[redacted] [redacted]')
  write(wrong('canary-second'))
  await becomes(() => shown('canary-second') === '[redacted]')
  t.is(shown('canary-first'), '[redacted]')
  write('[routes.a]\napi_key = canary-unquoted\n')
  const isTold = (): boolean => JSON.stringify(daemon.daemon.view.warnings()).includes('is not TOML: line 2')
  await becomes(isTold)
  const answers = [await daemon.request('GET', '/v1/status'), await daemon.request('GET', '/v1/runtime')]
  t.false(answers.some(({ text }) => text.includes('canary')))
})
