/** Routes that say they search the web, of providers that cannot; docs/rules/models.md. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, spawnTestDaemon } from '../../../support/daemon.js'
import { saying, startOpenAiServer } from '../../../support/openai-server.js'
import { openSession, until } from '../../../support/runs.js'

test('models-54: a daemon refuses runs by a route whose provider has no search, and says so until its file is right', async (t) => {
  const path = await freshRoot()
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  mkdirSync(join(path, 'config'), { recursive: true })
  const drivers = ['openai_compatible', 'openrouter'] as const
  const server = await startOpenAiServer(() => saying('So.'))
  t.teardown(() => server.close())
  const file = (searches: string): string =>
    drivers
      .map(
        (driver) =>
          `[routes.${driver}]\ndriver = "${driver}"\nbase_url = "${server.url}"\nmodel_support = "any"\n` +
          `default_model = "m"\n${searches}\n`,
      )
      .join('')
  const write = (searches: string): void =>
    writeFileSync(join(path, 'config/routes.toml'), `default_route = "openrouter"\n${file(searches)}`)
  write('native_web_search = true')
  const daemon = await spawnTestDaemon(t, { root: path })
  await openSession(daemon)
  const submitTo = (provider: string) =>
    daemon.request('POST', '/v1/sessions/s1/runs', { content: 'How is the weather?', provider })
  const routes = async (): Promise<any[]> => (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes
  for (const { route_id, state, code, message } of await routes()) {
    t.is(code, route_id === 'openrouter' ? 'ready' : 'capability_unavailable')
    if (route_id === 'openrouter') continue
    t.is(state, 'error')
    t.is(message, `The provider ${route_id} has no native_web_search, which the route says it has.`)
    const { status, body } = await submitTo(route_id)
    t.like({ status, ...body }, { status: 400, code: 'route_not_ready', domain: 'routes' })
  }
  t.deepEqual((await daemon.request('GET', '/v1/runs?session_id=s1')).body, [])
  t.is(server.asked.length, 0)
  write('')
  for (let looks = 0; looks < 400 && (await routes()).some(({ state }) => state === 'error'); looks += 1)
    await new Promise((resolve) => setTimeout(resolve, 25))
  const { body } = await submitTo('openai_compatible')
  t.is((await until(daemon, body.run_id, 'completed')).outputs[0].content, 'So.')
})
