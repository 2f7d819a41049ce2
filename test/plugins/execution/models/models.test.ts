import { execFileSync } from 'node:child_process'
import { createClock } from '../../../../core/base/clock.js'
import { noSecrets } from '../../../../core/base/text/secrets.js'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { defineErrors, parse, Problem, type Secrets } from '../../../../core/plugin.js'
import type { ConnectionOptions, ModelProvider, Readiness } from '../../../../plugins/execution/models/contract.js'
import { toldReadiness } from '../../../../plugins/execution/models/bounds/taken-readiness.js'
import { buildRoute } from '../../../../plugins/execution/models/model-route.js'
import type { RouteConfig } from '../../../../plugins/execution/models/route-config.js'
import { flagWords } from '../../../../plugins/execution/models/file/route-words.js'
import { createModels } from '../../../../plugins/execution/models/models.js'
import { activeRouteCheck, readinessSection } from '../../../../plugins/execution/models/provider-readiness.js'
import { ask, requestOf, userText } from '../../../support/models.js'

const errors = defineErrors({ cannot_work: { status: 400, detail: 'It cannot work.', action: 'Do something else.' } })

const flagged: RouteConfig = {
  route_id: 'scripted',
  provider: 'scripted',
  model: 'm',
  idle_timeout_ms: 1000,
  max_concurrent_calls: 0,
  usual_window: 32_000,
  takesAny: false,
  abilities: {},
  own_models: {},
  vendor: {},
  vendor_env: {},
  words: flagWords,
}

const setup = (readiness: Readiness = { state: 'ok', code: 'ready', message: 'Ready.' }) => {
  const connected: ConnectionOptions[] = []
  const guarded: string[] = []
  const capabilities = {
    matrix_version: 2,
    multimodal_input: true,
    native_web_search: false,
    image_generation: false,
    image_edit: false,
    audio_generation: false,
    transcription: false,
  } as const
  const provider: ModelProvider = {
    id: 'scripted',
    summary: 'For tests.',
    capabilities,
    connect: (options) => {
      if (options.base_url === 'broken') throw errors.cannot_work()
      const { tellLimits: _, ...rest } = options
      connected.push(rest)
      return {
        readiness: () => readiness,
        async *stream() {
          yield { type: 'done', outcome: 'stop', usage: { input_tokens: 0, output_tokens: 0 } }
        },
      }
    },
  }
  const secrets: Secrets = {
    ...noSecrets,
    guard: (value) => {
      guarded.push(value)
      return () => {}
    },
  }
  const build = (config: Partial<RouteConfig> = {}) =>
    buildRoute({ ...flagged, ...config }, [provider], {
      clock: createClock(),
      held: () => {},
      broke: () => {},
      holds: () => ({ before: [], keep: () => {} }),
      secrets,
      slots: () => undefined,
      backends: () => [],
    })
  return {
    build,
    connected,
    guarded,
    models: (config: Partial<RouteConfig> = {}) => {
      const route = build(config)
      const active = { route_id: config.provider ?? 'scripted', model: route.model }
      const configured = { routes: () => [route], active: () => active, file: '' }
      return createModels({ configured, chosen: () => active })
    },
  }
}

const codeOf = (route: ReturnType<ReturnType<typeof setup>['build']>) => route.connection.readiness().code

test('models-1: a route is named after its provider and carries its model and capabilities', (t) => {
  const { build, connected } = setup()
  const route = build({ base_url: 'http://x', api_key: '  k  ' })
  t.like(route, { route_id: 'scripted', provider: 'scripted', model: 'm' })
  t.true(route.capabilities.multimodal_input)
  t.deepEqual(connected, [{ idle_timeout_ms: 1000, base_url: 'http://x', api_key: 'k', vendor: {} }])
})

test('models-14: a key is guarded before anyone can use it, and an empty one is none', (t) => {
  const { build, connected, guarded } = setup()
  build({ api_key: 'secret' })
  build({ api_key: ' ', api_key_file: '' })
  build({ api_key: 'of-nobody', provider: 'unknown' })
  build({ api_key: 'of-one-that-cannot', abilities: { image_edit: true } })
  t.deepEqual([...new Set(guarded)], ['secret', 'of-nobody', 'of-one-that-cannot'])
  t.deepEqual(
    connected.map(({ api_key }) => api_key),
    ['secret', undefined],
  )
})

test('a key file is read through links; one that cannot be used makes the route not ready and is named', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-key-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const { build, connected } = setup()
  symlinkSync(file('key', ' from-file\n'), join(folder, 'link'))
  build({ api_key_file: join(folder, 'link') })
  t.is(connected[0]?.api_key, 'from-file')
  execFileSync('mkfifo', [join(folder, 'pipe')])
  for (const path of [
    join(folder, 'absent'),
    join(folder, 'pipe'),
    folder,
    file('empty', '\n'),
    file('two', 'a\nb'),
    file('large', 'x'.repeat(70_000)),
  ]) {
    const { state, code, message } = build({ api_key_file: path }).connection.readiness()
    t.deepEqual([state, code], ['error', 'secret_file_unreadable'])
    t.true(message.includes(path), message)
  }
})

test('a route that cannot work says why and refuses every question', async (t) => {
  const { build } = setup()
  t.is(codeOf(build({ provider: 'nobody' })), 'provider_unknown')
  t.is(codeOf(build({ model: undefined })), 'model_missing')
  const broken = build({ base_url: 'broken' })
  t.deepEqual(toldReadiness(broken.connection.readiness()), {
    state: 'error',
    code: 'cannot_work',
    message: 'It cannot work.',
    action: 'Do something else.',
  })
  const { done } = await ask(broken.connection, requestOf([userText('hi')]))
  t.deepEqual(done, {
    type: 'done',
    outcome: 'failed',
    failure: { class: 'bad_request', retryable: false, message: 'It cannot work.' },
  })
})

test('models-8: ready gives the default or the named route, and refuses an unknown one and one in error', (t) => {
  const models = setup().models()
  t.true(models.ready() === models.find('scripted'))
  t.is(models.ready('scripted').model, 'm')
  t.is(models.find('other'), undefined)
  const unknown = t.throws(() => models.ready('other'), { instanceOf: Problem })
  t.deepEqual([unknown.code, unknown.spec.status], ['bad_request', 400])
  const refused = t.throws(() => setup().models({ base_url: 'broken' }).ready(), { instanceOf: Problem })
  t.deepEqual([refused.code, refused.spec.status, refused.spec.domain], ['route_not_ready', 400, 'routes'])
  t.is(refused.message, 'The model route scripted is not ready: It cannot work.')
  const warned = setup({ state: 'warning', code: 'w', message: 'Soon.' }).models()
  t.is(warned.ready().route_id, 'scripted')
})

test('models-32: a chosen route that is not there at the moment gives way to the configured one', (t) => {
  const route = setup().build()
  const configured = { routes: () => [route], active: () => ({ route_id: 'scripted', model: 'm' }), file: '' }
  const models = createModels({ configured, chosen: () => ({ route_id: 'gone', model: 'x' }) })
  t.is(models.default_route, 'scripted')
  t.is(models.ready().model, 'm')
})

test('models-13: the status section counts routes by readiness and has the shape it declares', (t) => {
  const cases = [
    [
      setup().models(),
      { ready_route_count: 1, warning_route_count: 0, error_route_count: 0, active_route_ready: true },
    ],
    [
      setup({ state: 'warning', code: 'w', message: 'Soon.' }).models(),
      { ready_route_count: 0, warning_route_count: 1, error_route_count: 0, active_route_ready: true },
    ],
    [
      setup().models({ base_url: 'broken' }),
      { ready_route_count: 0, warning_route_count: 0, error_route_count: 1, active_route_ready: false },
    ],
  ] as const
  for (const [models, counts] of cases) {
    const section = readinessSection(models)
    const value = section.collect()
    t.like(value, { route_count: 1, ...counts })
    t.true(parse(section.schema, value).ok)
    t.deepEqual(JSON.parse(JSON.stringify(value)), value)
  }
})

test('models-13: a route in error or with a warning is a health warning', (t) => {
  t.deepEqual(activeRouteCheck(setup().models(), () => false).check(), [])
  t.deepEqual(
    activeRouteCheck(setup({ state: 'warning', code: 'w', message: 'Soon.' }).models(), () => false).check(),
    [
      {
        severity: 'warning',
        code: 'provider_route_failing',
        message: 'The model route scripted needs attention: Soon.',
        related_id: 'scripted',
        action: 'See what the documentation of the plugin scripted says of w.',
      },
    ],
  )
  t.deepEqual(activeRouteCheck(setup().models({ base_url: 'broken' }), () => false).check(), [
    {
      severity: 'error',
      code: 'provider_active_route_not_ready',
      message: 'It cannot work.',
      related_id: 'scripted',
      action: 'Do something else.',
    },
  ])
  const beside = { ...setup().models({ base_url: 'broken' }), default_route: 'another' }
  t.deepEqual(activeRouteCheck(beside, () => false).check(), [
    {
      severity: 'warning',
      code: 'provider_route_not_ready',
      message: 'Runs that name the model route scripted are refused: It cannot work.',
      related_id: 'scripted',
      action: 'Do something else.',
    },
  ])
  t.deepEqual(activeRouteCheck(beside, () => true).check(), [], 'its entry is told as wrong')
})
