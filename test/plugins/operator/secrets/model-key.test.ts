import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { saying, startOpenAiServer } from '../../../support/openai-server.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

test('secrets-13: a route with auth_ref asks for its key at each call, and holds its secret', async (t) => {
  const server = await startOpenAiServer(() => saying('Hello'))
  t.teardown(() => server.close())
  const daemon = await startTestDaemon(t, {
    flags: {
      provider: 'openai_compatible',
      'provider-base-url': server.url,
      model: 'm',
      'auth-ref': 'models.key',
    },
  })
  const store = (value: string) =>
    daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'models.key', mode: 'api_key', state: { value } })
  const readiness = async () => (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes[0]
  await openSession(daemon)
  t.like(await readiness(), { state: 'error', code: 'secret_not_found', auth_ref: 'models.key' })
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'x' })), [400, 'route_not_ready'])
  await store('canary-1')
  t.like(await readiness(), { state: 'ok' })
  await until(daemon, (await submit(daemon, 's1', 'Hi')).run_id, 'completed')
  await store('canary-2')
  await until(daemon, (await submit(daemon, 's1', 'Hi')).run_id, 'completed')
  t.deepEqual(
    server.asked.map(({ headers }) => headers.authorization),
    ['Bearer canary-1', 'Bearer canary-2'],
  )
  const refused = await daemon.request('DELETE', '/v1/runtime/secrets/models.key')
  t.deepEqual(codeOf(refused), [409, 'secret_in_use'])
  t.regex(refused.body.detail, /model_route openai_compatible/u)
  t.like((await daemon.request('GET', '/v1/runtime')).body.routes[0], { auth_ref: 'models.key' })
})

test('secrets-13: the key of another provider is not sent, and the route says why', async (t) => {
  const server = await startOpenAiServer(() => saying('Hello'))
  t.teardown(() => server.close())
  const flags = { provider: 'openai_compatible', 'provider-base-url': server.url, model: 'm', 'auth-ref': 'k' }
  const { request, ...daemon } = await startTestDaemon(t, { flags })
  const store = (provider: string) =>
    request('POST', '/v1/runtime/secrets', { slot_id: 'k', provider, mode: 'api_key', state: { value: 'canary' } })
  const readiness = async () => (await request('GET', '/v1/status')).body.provider_readiness.routes[0]
  await openSession({ request, ...daemon })
  await store('anthropic')
  t.like(await readiness(), { state: 'error', code: 'credential_provider_mismatch' })
  t.deepEqual(codeOf(await request('POST', '/v1/sessions/s1/runs', { content: 'x' })), [400, 'route_not_ready'])
  for (const provider of ['open_ai', 'generic']) {
    await store(provider)
    t.like(await readiness(), { state: 'ok' }, provider)
  }
  t.is(server.asked.length, 0)
})

test('secrets-13: a stored key and another one are too many', async (t) => {
  const flags = { provider: 'openai_compatible', 'provider-base-url': 'http://127.0.0.1:1', model: 'm' }
  const daemon = await startTestDaemon(t, { flags: { ...flags, 'auth-ref': 'a', 'api-key': 'sk-canary' } })
  const [route] = (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes
  t.like(route, { state: 'error', code: 'credential_ambiguous' })
})
