import test from 'ava'
import { vendors } from '../../../../plugins/providers/openai-compatible/vendors.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { saying, startOpenAiServer } from '../../../support/openai-server.js'
import { openSession, submit, until } from '../../../support/runs.js'

test('models-39: each vendor is where it says, needs a key, and takes its own models by default', async (t) => {
  for (const { provider, base_url, family, default_model = '' } of vendors) {
    t.is(new URL(base_url).protocol, 'https:')
    t.true(family?.has(default_model), provider)
    t.false(family?.has('claude-opus-4-6'), provider)
    const { request } = await startTestDaemon(t, { flags: { provider } })
    const [route] = (await request('GET', '/v1/status')).body.provider_readiness.routes
    t.like(route, { provider, model: default_model, state: 'error', code: 'credential_missing' })
  }
})

test('models-39: a vendor is asked by the chat-completions protocol, with its key', async (t) => {
  const server = await startOpenAiServer(() => saying('So.'))
  t.teardown(() => server.close())
  for (const { provider, default_model } of vendors) {
    const flags = { provider, 'provider-base-url': server.url, 'api-key': 'sk-1' }
    const daemon = await startTestDaemon(t, { root: await freshRoot(), flags })
    await openSession(daemon)
    const run = await until(daemon, (await submit(daemon, 's1', 'hi')).run_id, 'completed')
    t.like(run, { request: { provider, model: default_model }, outputs: [{ content: 'So.' }] })
    t.like(server.asked.at(-1), { path: '/v1/chat/completions', headers: { authorization: 'Bearer sk-1' } })
  }
})
