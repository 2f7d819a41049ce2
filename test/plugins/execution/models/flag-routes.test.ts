/** Routes that flags name beside the default one; docs/rules/models.md. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import sharp from 'sharp'
import { freshRoot, spawnTestDaemon, startTestDaemon } from '../../../support/daemon.js'
import { openSession, until } from '../../../support/runs.js'
import { startTranscriptionServer } from '../../../support/transcription-server.js'
import { startWebServer } from '../../../support/web-server.js'

/** The routes of a daemon that is started with these flags, by their ids. */
const routesOf = async (t: ExecutionContext, flags: Record<string, string>, root?: string) => {
  const daemon = await startTestDaemon(t, { flags, ...(root !== undefined && { root }) })
  const { body } = await daemon.request('GET', '/v1/runtime')
  const { body: status } = await daemon.request('GET', '/v1/status')
  const states = new Map<string, any>(status.provider_readiness.routes.map((one: any) => [one.route_id, one]))
  return {
    daemon,
    default_route: body.default_route,
    routes: body.routes.map((route: any) => ({ ...route, ...states.get(route.route_id) })) as any[],
    text: JSON.stringify([body, status]),
  }
}

test('models-57: flags name servers that make pictures and write down speech, beside a default route that does neither', async (t) => {
  const server = await startWebServer(t)
  const asked: unknown[] = []
  const png = await sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    .png()
    .toBuffer()
  server.on('/v1/images/generations', (request, response) => {
    asked.push(request.headers.authorization)
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      asked.push(JSON.parse(Buffer.concat(pieces).toString()).model)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ data: [{ b64_json: png.toString('base64') }] }))
    })
  })
  const heard = await startTranscriptionServer(t)
  const flags = [
    ['image-provider', 'openai_compatible'],
    ['image-base-url', `${server.origin}/v1`],
    ['image-api-key', 'k-of-pictures'],
    ['image-model', 'brush'],
    ['transcription-provider', 'openai_compatible'],
    ['transcription-base-url', heard.base_url],
    ['transcription-model', 'ear'],
    ['permission-mode', 'bypassPermissions'],
  ].flatMap(([name, value]) => [`--${name}`, `${value}`])
  const daemon = await spawnTestDaemon(t, { flags })
  await openSession(daemon)
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', {
    content: '/tool generate_image {"prompt":"A field"}',
  })
  const run = await until(daemon, body.run_id, 'completed')
  t.is(run.request.provider, 'demo')
  const { body: events } = await daemon.request('GET', '/v1/sessions/s1/events')
  const outcome = events.session.journal.find(({ type }: any) => type === 'outcome').entry
  t.like(outcome, { state: 'done', output: { route_id: 'image', provider: 'openai_compatible', model: 'brush' } })
  t.deepEqual(asked, ['Bearer k-of-pictures', 'brush'])
  t.like((await daemon.request('GET', '/v1/status')).body.transcription, { available: true, route_id: 'transcription' })
})

test('models-57: without a provider of their own they are of the default one, with its address, model and key', async (t) => {
  const { default_route, routes } = await routesOf(t, {
    provider: 'openai',
    'api-key': 'k-of-all',
    'image-model': 'gpt-image-1',
    'transcription-model': 'whisper-1',
  })
  t.is(default_route, 'openai')
  t.deepEqual(
    routes.map(({ route_id, provider, model, state }) => [route_id, provider, model, state]),
    ['openai', 'image', 'transcription'].map((route_id) => [route_id, 'openai', 'gpt-5.4', 'ok']),
  )
  const able = ['image_generation', 'image_edit', 'audio_generation', 'transcription']
  t.deepEqual(
    routes.map((route) => able.filter((name) => route[name])),
    [[], ['image_generation', 'image_edit'], ['transcription']],
  )
})

test('models-57: the key of the default route goes to no other server, and what cannot work is told with the flag', async (t) => {
  const { default_route, routes, text } = await routesOf(t, {
    provider: 'openai_compatible',
    'provider-base-url': 'http://127.0.0.1:9/v1',
    model: 'm',
    'api-key': 'k-of-all',
    'image-provider': 'openai',
    'transcription-provider': 'anthropic',
    'transcription-api-key': 'k-of-words',
  })
  t.is(default_route, 'openai_compatible')
  t.deepEqual(
    routes.map(({ route_id, state, code }) => [route_id, state, code]),
    [
      ['openai_compatible', 'ok', 'ready'],
      ['image', 'error', 'credential_missing'],
      ['transcription', 'error', 'capability_unavailable'],
    ],
  )
  t.regex(routes[2].action, /--transcription/u)
  t.false(text.includes('k-of-'))
})

test('models-57: where config/routes.toml has routes, those of the flags are not there', async (t) => {
  const root = await oneRoute(t, '[routes.image]\ndriver = "demo"\n')
  const { default_route, routes } = await routesOf(t, { 'image-provider': 'openai', 'image-api-key': 'k' }, root)
  t.deepEqual([default_route, ...routes.map(({ provider }) => provider)], ['image', 'demo'])
})

const oneRoute = async (t: ExecutionContext, text: string): Promise<string> => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  writeFileSync(join(root, 'config/routes.toml'), text)
  return root
}

test('models-61: flags that do nothing beside config/routes.toml are named by a warning, without a key', async (t) => {
  const root = await oneRoute(t, '[routes.own]\ndriver = "demo"\n')
  const usual = { 'context-window': '64000', 'default-route': 'own' }
  const given = { ...usual, provider: 'openai', 'image-provider': 'openai', 'image-api-key': 'k-of-pictures' }
  const { daemon } = await routesOf(t, given, root)
  const [warning, ...others] = daemon.daemon.view.warnings()
  t.deepEqual(others, [])
  t.like(warning, { severity: 'warning', code: 'route_flags_unused' })
  t.regex(warning?.message ?? '', /do nothing: --provider, --image-provider, --image-api-key\.$/u)
  await daemon.stop()
  const codes = async (flags: Record<string, string>, at?: string) =>
    (await routesOf(t, flags, at)).daemon.daemon.view.warnings().map(({ code }) => code)
  t.deepEqual(await codes(usual, root), [])
  t.false((await codes(given)).includes('route_flags_unused'))
})

test('models-62: what to do about a route names the flags that it is of, or its entry in config/routes.toml', async (t) => {
  const actions = async (flags: Record<string, string>, root?: string): Promise<string[]> =>
    (await routesOf(t, flags, root)).routes.map(({ action }) => action)
  const bare = { 'image-provider': 'openai', 'transcription-provider': 'openai_compatible', 'transcription-model': 'm' }
  t.deepEqual(await actions({ provider: 'google', ...bare }), [
    'Start with --api-key-file FILE or --auth-ref SECRET that its server takes, or with SERVICE_API_KEY.',
    'Start with --image-api-key and a key that its server takes.',
    'Start with --transcription-base-url and --transcription-model NAME.',
  ])
  const [, unable] = await actions({ 'image-api-key': 'k' })
  t.is(unable, 'Start with --image-provider and one of: google, openai, openai_compatible, openrouter, xai.')
  const root = await oneRoute(
    t,
    '[routes.a]\ndriver = "openai"\n[routes.b]\ndriver = "demo"\ntranscription = true\n' +
      '[routes.c]\ndriver = "openai_compatible"\ndefault_model = "m"\n',
  )
  const [keyless, deaf, placeless] = await actions({ 'default-route': 'a' }, root)
  t.regex(keyless ?? '', /^Set auth_ref in \[routes\.a\] of config\/routes\.toml/u)
  t.regex(deaf ?? '', /^Remove transcription from \[routes\.b\] of .*, or set driver to one of: openai, /u)
  t.regex(placeless ?? '', /^Set base_url in \[routes\.c\] of config\/routes\.toml/u)
})
