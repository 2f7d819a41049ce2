import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { integer, object, parse } from '../../../../core/plugin.js'
import { textOnly } from '../../../../plugins/execution/models/contract.js'
import { ToolLimitsView } from '../../../../plugins/execution/tools/config.js'
import { RuntimeSections, runtimeUpdated } from '../../../../plugins/operator/runtime/contract.js'
import { freshRoot, spawnDaemon, startTestDaemon } from '../../../support/daemon.js'
import { testPlugin } from '../../../support/plugins.js'

test('models-1, runtime-3: GET /v1/runtime shows routes with flat capability flags, and only what this daemon has', async (t) => {
  const { request, root } = await startTestDaemon(t)
  const { status, body } = await request('GET', '/v1/runtime')
  t.is(status, 200)
  t.deepEqual(Object.keys(body).sort(), [
    'config',
    'debug_capture',
    'debug_level',
    'default_route',
    'hooks',
    'learning_policy',
    'mcp',
    'model',
    'permission_mode',
    'provider',
    'route_diagnostics',
    'route_id',
    'routes',
    'routes_file',
    'run_memory_policy',
    'scheduler_policy',
    'shell',
    'skills',
    'state_root',
    'subagent_policy',
    'system_prompt',
    'tool_runtime_limits',
    'workspace_root',
  ])
  t.like(body, {
    default_route: 'demo',
    route_id: 'demo',
    provider: 'demo',
    model: 'demo',
    permission_mode: 'default',
    state_root: root,
    route_diagnostics: [],
  })
  t.deepEqual(body.routes, [{ route_id: 'demo', provider: 'demo', model: 'demo', ...textOnly }])
  t.true(parse(runtimeUpdated.data, { runtime: body }).ok)
})

test('runtime-3: a plugin adds a member to GET /v1/runtime and to the status, and cannot replace one', async (t) => {
  const section = (name: string) => ({ name, schema: object({ most: integer() }), collect: () => ({ most: 3 }) })
  const plugin = testPlugin('adds', {
    register(ctx) {
      ctx.contribute(RuntimeSections, section('added'), section('model'))
    },
  })
  const { request } = await startTestDaemon(t, { plugins: [plugin] })
  for (const runtime of [
    (await request('GET', '/v1/runtime')).body,
    (await request('GET', '/v1/status')).body.runtime,
  ]) {
    t.like(runtime, { added: { most: 3 }, model: 'demo' })
  }
})

test('runtime-3: a section that throws is left out and told, and takes nothing with it', async (t) => {
  const plugin = testPlugin('breaks', {
    register(ctx) {
      const schema = object({ most: integer() })
      const collect = (): never => {
        throw new RangeError('not today')
      }
      ctx.contribute(RuntimeSections, { name: 'broken', schema, collect })
      ctx.contribute(RuntimeSections, { name: 'added', schema, collect: () => ({ most: 3 }) })
    },
  })
  const { request, log } = await startTestDaemon(t, { plugins: [plugin] })
  const { status, body } = await request('GET', '/v1/runtime')
  t.is(status, 200)
  t.like(body, { added: { most: 3 }, model: 'demo', broken: undefined })
  t.like((await request('GET', '/v1/status')).body.runtime, { added: { most: 3 }, broken: undefined })
  t.like(
    log.find(({ fact }) => fact === 'a section of the runtime failed'),
    { level: 'error', details: { section: 'broken' } },
  )
})

test('tools-18: GET /v1/runtime/tool-limits answers the bare limits', async (t) => {
  const { request } = await startTestDaemon(t)
  const { status, body } = await request('GET', '/v1/runtime/tool-limits')
  t.is(status, 200)
  t.true(parse(ToolLimitsView, body).ok)
  t.like(body, { max_input_bytes: 16_777_216, max_parallel_tools: 16, max_sandbox: 'network_enabled' })
  t.deepEqual((await request('GET', '/v1/runtime')).body.tool_runtime_limits, body)
})

test('models-11: a daemon whose default route cannot work starts all the same and says why', async (t) => {
  const cases = [
    [{ provider: 'nobody' }, 'provider_unknown', ''],
    [{ provider: 'openai_compatible' }, 'model_missing', ''],
    [{ provider: 'openai_compatible', model: 'm' }, 'base_url_missing', 'm'],
    [{ provider: 'openai_compatible', model: 'm', 'provider-base-url': 'ftp://x' }, 'base_url_invalid', 'm'],
    [{ provider: 'demo', 'api-key-file': '/nowhere/at/all' }, 'secret_file_unreadable', 'demo'],
  ] as const
  for (const [flags, code, model] of cases) {
    const { request, log, daemon } = await startTestDaemon(t, { flags })
    const { body } = await request('GET', '/v1/runtime')
    t.like(body, { default_route: flags.provider, model })
    t.like(body.route_diagnostics[0], { severity: 'error', code, route_id: flags.provider })
    t.like(daemon.view.warnings()[0], {
      code: 'provider_active_route_not_ready',
      severity: 'error',
      related_id: flags.provider,
    })
    t.true(log.some(({ level, details }) => level === 'warn' && details['code'] === code))
  }
})

test('models-10: a run on a route that is not ready or not there is refused and leaves nothing behind', async (t) => {
  const { request } = await startTestDaemon(t, { flags: { provider: 'openai_compatible' } })
  await request('POST', '/v1/sessions', { session_id: 's1' })
  const refused = await request('POST', '/v1/sessions/s1/runs', { content: 'Hi' })
  t.like(refused.body, { status: 400, code: 'route_not_ready', domain: 'routes' })
  t.regex(refused.body.detail, /needs the name of a model/u)
  const unknown = await request('POST', '/v1/sessions/s1/runs', { content: 'Hi', provider: 'nobody' })
  t.like(unknown.body, { status: 400, code: 'bad_request' })
  t.deepEqual((await request('GET', '/v1/runs')).body, [])
})

test('models-14, runtime-3: flags and variables configure the route, and the key is nowhere to be seen', async (t) => {
  const [folder, root] = [await freshRoot(), await freshRoot()]
  t.teardown(() => [folder, root].forEach((path) => rmSync(path, { recursive: true, force: true })))
  const keyFile = join(folder, 'key')
  writeFileSync(keyFile, 'sk-secret-from-file\n')
  const env = {
    SERVICE_PROVIDER: 'openai_compatible',
    SERVICE_MODEL: 'from-env',
    SERVICE_PROVIDER_BASE_URL: 'http://127.0.0.1:9/v1',
  }
  for (const key of [{ SERVICE_API_KEY: 'sk-secret-direct' }, { SERVICE_API_KEY_FILE: keyFile }]) {
    const daemon = await spawnDaemon({ root, env: { ...env, ...key }, flags: ['--model', 'from-flag'] })
    const { text, body } = await daemon.request('GET', '/v1/runtime')
    await daemon.stop()
    t.like(body, {
      default_route: 'openai_compatible',
      provider: 'openai_compatible',
      model: 'from-flag',
      route_diagnostics: [],
    })
    t.notRegex(text + daemon.line + daemon.logText(), /sk-secret/u)
  }
})
