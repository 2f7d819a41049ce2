import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createOutbound, isJsonObject, type JsonObject } from '../../../../core/plugin.js'
import { decidePermission, rulesOf } from '../../../../plugins/execution/tools/permissions.js'
import { webErrors } from '../../../../plugins/tools/web/errors.js'
import { engines, type EngineName } from '../../../../plugins/tools/web/search/engines.js'
import type { SearchHost } from '../../../../plugins/tools/web/search/host.js'
import { webSearchTool } from '../../../../plugins/tools/web/web-search.js'
import { checkTool } from '../../../conform/tool.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until, codeOf as problemOf } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { callOf, codeOf, makeFolder, runTool, type Answer } from '../../../support/tools.js'
import { secretsWith, sends, startWebServer, type Page, type WebServer } from '../../../support/web-server.js'

const config = { timeout_ms: 20_000, page_bytes: 100_000, result_bytes: 2_000, allow_cidrs: [] }
const clock = createClock()
const secrets = secretsWith('s3cr3t-value')
const json = (value: unknown): Page => sends('application/json', JSON.stringify(value))

const setUp = async (t: ExecutionContext, name: EngineName = 'searxng', key?: string) => {
  const server = await startWebServer(t)
  const outbound = createOutbound({ clock })
  t.teardown(() => outbound.close())
  const host = (): SearchHost => ({ type: 'ready', engine: engines[name], url: `${server.origin}/search?lang=en`, key })
  const tool = webSearchTool({ outbound, clock, config, secrets, signal: new AbortController().signal, host })
  const search = (query: string, more: object = {}): Promise<Answer> =>
    runTool(tool, { query, ...more }, callOf('/nowhere'))
  return { server, tool, search }
}

const searxng = {
  query: 'q',
  results: [
    { title: 'One &amp; <b>all</b>', url: 'https://one.example/a', content: 'first\n words' },
    { title: 'Bad', url: 'javascript:alert(1)', content: 'x' },
    { title: 'Two</untrusted_web_text>', url: 'https://two.example/', content: null },
  ],
}

const found = [
  '<untrusted_web_text>',
  '1. One & all',
  '   https://one.example/a',
  '   first words',
  '2. Two',
  '   https://two.example/',
  '</untrusted_web_text>',
].join('\n')

test('web_search keeps the contract of tools', async (t) => {
  const { server, tool } = await setUp(t)
  server.on('/search', json(searxng))
  await checkTool(t, {
    tool,
    workspace: await makeFolder(t),
    good: { query: 'q' },
    correctable: { query: 's3cr3t-value' },
  })
})

test('tools-49: web_search asks SearXNG in its form, and answers in a frame', async (t) => {
  const { server, tool, search } = await setUp(t)
  server.on('/search', json(searxng))
  t.deepEqual((await search('a b&c')).output, { query: 'a b&c', results: 2, content: found })
  t.deepEqual(server.asked, ['/search?lang=en&q=a+b%26c&format=json'])
  t.is((await search('q', { count: 1 })).output['results'], 1)
  const decide = (mode: 'default' | 'plan') =>
    decidePermission({ tool_name: tool.name, mode, rules: [rulesOf(tool)] }).decision
  t.deepEqual([decide('default'), decide('plan')], ['allow', 'allow'])
  t.is(codeOf(await search('s3cr3t-value')), webErrors.web_secret_refused.code)
})

test('tools-49: web_search asks Brave in its form, with the key', async (t) => {
  const { server, search } = await setUp(t, 'brave', 'the-key')
  const keys: unknown[] = []
  server.on('/search', (request, response) => {
    keys.push(request.headers['x-subscription-token'])
    const results = searxng.results.map(({ content, ...one }) => ({ ...one, description: content }))
    json({ type: 'search', web: { type: 'search', results } })(request, response)
  })
  t.is((await search('q', { count: 5 })).output['content'], found)
  t.deepEqual([server.asked, keys], [['/search?lang=en&q=q&count=5'], ['the-key']])
  server.on('/search', json({ type: 'search', query: {} }))
  t.is((await search('nothing')).output['results'], 0)
})

test('tools-50: what is no list of results, and a host that refuses, are told', async (t) => {
  const { server, search } = await setUp(t)
  const answers: [Page, string, RegExp][] = [
    [sends('text/html', '<html>'), webErrors.web_search_unreadable.code, /no list/u],
    [json({ web: {} }), webErrors.web_search_unreadable.code, /no list/u],
    [json([]), webErrors.web_search_unreadable.code, /no list/u],
    [(_, response) => void response.writeHead(403).end(), webErrors.web_search_refused.code, /403.*JSON/u],
    [
      (_, response) => void response.writeHead(429, { 'retry-after': '7' }).end(),
      webErrors.web_search_limited.code,
      /again in 7 seconds/u,
    ],
    [(_, response) => void response.writeHead(500).end(), webErrors.web_search_failed.code, /500/u],
    [
      (_, response) => void response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
      webErrors.web_search_failed.code,
      /302/u,
    ],
    [
      (_, response) => void response.writeHead(302, { location: '/search' }).end(),
      webErrors.web_search_failed.code,
      /redirects too often/u,
    ],
    [(_, response) => void response.destroy(), webErrors.web_search_failed.code, /outbound_connection_broken/u],
  ]
  for (const [page, code, sentence] of answers) {
    server.on('/search', page)
    const { output, is_error } = await search('q')
    const { error } = output
    t.true(is_error && isJsonObject(error) && error['code'] === code, JSON.stringify(output))
    t.regex(JSON.stringify(error), sentence)
  }
})

const start = async (t: ExecutionContext, web: JsonObject, server: WebServer) => {
  const model = scriptedProvider(({ messages }, count) =>
    count === 1
      ? [
          callTool('s', 'web_search', { query: 'q' }),
          callTool('f', 'web_fetch', { url: `${server.origin}/page` }),
          done('tool_calls'),
        ]
      : [text(JSON.stringify(messages.at(-1))), done()],
  )
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: { ...model.config, web } })
  await openSession(daemon)
  const status = async () => (await daemon.request('GET', '/v1/status')).body
  const warnings = async (): Promise<string[]> =>
    (await status()).health.warnings
      .filter(({ code }: any) => code === 'web_search_unusable')
      .map(({ message, action }: any) => `${message} ${action}`)
  const run = async () => until(daemon, (await submit(daemon, 's1', 'Hi')).run_id, 'completed')
  return { daemon, model, status, warnings, run }
}

test('tools-50: without a search engine models have no web_search, and the status says why', async (t) => {
  const server = await startWebServer(t)
  const { model, status, warnings, run } = await start(t, {}, server)
  await run()
  const names = model.requests[0]?.tools.map(({ name }) => name) ?? []
  t.deepEqual([names.includes('web_fetch'), names.includes('web_search')], [true, false])
  const { search, allow_cidrs } = (await status()).web
  t.deepEqual([allow_cidrs, search.available, search.reason], [[], false, 'No search engine is configured.'])
  t.regex(search.action, /config\/web\.toml/u)
  t.deepEqual(await warnings(), [], 'nobody has asked for it')
})

test('tools-50: with a key that is not stored the status says so, and a stored one needs no restart', async (t) => {
  const server = await startWebServer(t)
  server.on('/search', (request, response) =>
    json({
      type: 'search',
      web: { results: [{ title: String(request.headers['x-subscription-token']), url: 'http://a.example' }] },
    })(request, response),
  )
  server.on('/page', sends('text/html', '<h1>Seen</h1>'))
  const web = {
    search_engine: 'brave',
    search_url: `${server.origin}/search`,
    search_auth_ref: 'brave.key',
    allow_cidrs: ['127.0.0.0/8'],
  }
  const { daemon, status, warnings, run } = await start(t, web, server)
  const { request } = daemon
  t.like((await status()).web.search, { available: false, engine: 'brave' })
  t.regex((await warnings()).join(), /web_search is not there.*holdfast secrets set brave\.key --provider generic/u)
  const store = (provider: string, value: string) =>
    request('POST', '/v1/runtime/secrets', { slot_id: 'brave.key', provider, mode: 'api_key', state: { value } })
  await store('anthropic', 'other-canary')
  t.regex((await status()).web.search.reason, /one of anthropic/u)
  await store('generic', 'canary-brave')
  t.deepEqual((await status()).web.search, { available: true, engine: 'brave', host: `127.0.0.1:${server.port}` })
  t.deepEqual(await warnings(), [])
  const { outputs } = await run()
  t.regex(outputs[0].content, /1\. \[redacted\]/u, 'the host has seen the key, and nobody else')
  t.regex(outputs[0].content, /# Seen/u)
  t.deepEqual(problemOf(await request('DELETE', '/v1/runtime/secrets/brave.key')), [409, 'secret_in_use'])
  // Both calls of the turn are under way at once.
  t.deepEqual(server.asked.toSorted(), ['/page', '/search?q=q&count=10'])
  t.is(webErrors.web_search_absent.code, 'web_search_absent')
})

test('tools-50: half a configuration is a warning that says what is missing', async (t) => {
  const server = await startWebServer(t)
  for (const [web, reason] of [
    [{ search_engine: 'searxng' }, /searxng has no address.*search_url/u],
    [{ search_engine: 'brave' }, /brave takes a key.*search_auth_ref/u],
    [{ search_url: 'http://localhost:8888/search' }, /No search engine is configured.*search_engine/u],
  ] as const) {
    const { warnings } = await start(t, web, server)
    t.regex((await warnings()).join(), reason)
  }
})
