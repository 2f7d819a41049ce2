/** Runs whose model's server searches the web; docs/rules/models.md. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import {
  answering,
  block,
  callBlock,
  citation,
  citedBlock,
  sayingAs,
  searchBlocks,
  textBlock,
} from '../../../support/anthropic-server.js'
import { freshRoot, startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { startMortal } from '../../../support/mortal.js'
import { grounded, ending, searchParts } from '../../../support/google-server.js'
import { startOpenAiServer, stream, type Asked, type Reply } from '../../../support/openai-server.js'
import { answeringIn, citedItem, searchItem } from '../../../support/responses-server.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { listOf } from '../../../support/vendors.js'

const pages = [
  { url: 'https://a.example/1', title: 'One' },
  { url: 'https://b.example/2', title: 'Two' },
]
const searched = answering(
  'end_turn',
  searchBlocks(0, { id: 'srvtoolu_1', query: 'weather', pages }),
  citedBlock(2, 'It rains.', citation('https://a.example/1', 'One'), citation('https://a.example/1', 'One')),
)
const own = { type: 'web_search_20250305', name: 'web_search', max_uses: 5 }

const root = async (t: ExecutionContext, base_url: string, more = 'native_web_search = true'): Promise<string> => {
  const path = await freshRoot()
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  mkdirSync(join(path, 'config'), { recursive: true })
  writeFileSync(
    join(path, 'config/routes.toml'),
    `[routes.claude]\ndriver = "anthropic"\nbase_url = "${base_url}"\ndefault_model = "claude-opus-4-6"\n${more}\n`,
  )
  return path
}
const serve = async (t: ExecutionContext, respond: (asked: Asked) => Reply) => {
  const server = await startOpenAiServer(respond)
  t.teardown(() => server.close())
  return server
}
const start = async (
  t: ExecutionContext,
  respond: (asked: Asked) => Reply,
  { config = {}, more }: { config?: TestDaemonOptions['config']; more?: string } = {},
) => {
  const server = await serve(t, respond)
  const daemon = await startTestDaemon(t, {
    root: await root(t, server.url, more),
    config: { web: { search_engine: 'searxng', search_url: 'http://127.0.0.1:9/search' }, ...config },
  })
  await openSession(daemon)
  const run = async (content = 'How is the weather?'): Promise<any> => {
    const asked = await daemon.request('POST', '/v1/sessions/s1/runs', { content })
    return until(daemon, asked.body.run_id, 'completed', 'failed')
  }
  const toolsOf = (at: number): any[] =>
    ((server.asked.at(at)?.body['tools'] as any[]) ?? []).filter(({ name }) => name === 'web_search')
  return { server, daemon, run, toolsOf }
}

test('models-53: a route with native_web_search has its server search in place of our tool, and the run tells of it', async (t) => {
  const { server, daemon, run, toolsOf } = await start(t, () => searched)
  const done = await run()
  t.deepEqual(toolsOf(0), [own])
  t.is(done.outputs[0].content, 'It rains.\n\nSources:\n- One: https://a.example/1')
  const { body } = await daemon.request('GET', `/v1/runs/${done.run_id}/events?steps=true`)
  t.deepEqual(
    body.map(({ event }: any) => event).filter(({ type }: any) => type.startsWith('model_')),
    [
      { type: 'model_searched', queries: ['weather'], pages },
      { type: 'model_answered', tool_names: [] },
    ],
  )
  const { routes } = (await daemon.request('GET', '/v1/runtime')).body
  t.true(routes[0].native_web_search)
  await run('And tomorrow?')
  const [, said] = listOf(server.asked[1], 'messages')
  t.deepEqual(
    said.content.map(({ type, citations = [] }: any) => [type, citations.length]),
    [
      ['server_tool_use', 0],
      ['web_search_tool_result', 0],
      ['text', 2],
    ],
  )
  t.is(said.content[1].content[0].encrypted_content, 'ZW5jOne')
})

test('models-53: a route that does not say so searches by our tool alone, and one of a provider without it is in error', async (t) => {
  const { run, toolsOf } = await start(t, () => sayingAs('So.'), { more: '' })
  await run()
  t.deepEqual(
    toolsOf(0).map(({ type, input_schema }) => [type, typeof input_schema]),
    [[undefined, 'object']],
  )
  const other = await start(t, () => sayingAs('So.'), {
    more:
      'native_web_search = true\n[routes.other]\ndriver = "openai_compatible"\nbase_url = "http://127.0.0.1:9/v1"\n' +
      'default_model = "m"\nnative_web_search = true\n',
  })
  const { body } = await other.daemon.request('GET', '/v1/status')
  const route = body.provider_readiness.routes.find(({ route_id }: any) => route_id === 'other')
  t.is(route.code, 'capability_unavailable', JSON.stringify(route))
})

test('models-53: what is denied, asked about or turned off of web_search holds for searches of the server too', async (t) => {
  const rules = (behavior: string) => ({
    tools: { permission_rules: [{ scope: 'user', tool_name_pattern: 'web_search', behavior }] },
  })
  for (const config of [
    rules('deny'),
    rules('ask'),
    { tools: { limits: { max_sandbox: 'workspace_write' } } },
    { tools: { limits: { max_sandbox: 'workspace_write' } }, web: {} },
    // Nobody has configured an engine of ours: the rule holds all the same, and fits.
    { ...rules('deny'), web: {} },
  ]) {
    const { server, run, daemon } = await start(t, () => sayingAs('So.'), { config })
    t.is((await run('x')).status, 'completed')
    const tools = (server.asked[0]?.body['tools'] as any[]) ?? []
    t.false(
      tools.some(({ type }) => type === own.type),
      JSON.stringify(config),
    )
    const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
    t.false(warnings.some(({ code }: any) => code === 'permission_rule_fits_nothing'))
  }
  const { daemon, run, toolsOf } = await start(t, () => sayingAs('So.'), { config: { web: {} } })
  await run()
  t.deepEqual(toolsOf(0), [own], 'without an engine of ours too')
  const tool_overrides = { enable: [], disable: ['web_search'] }
  t.is((await daemon.request('PUT', '/v1/sessions/s1/tool-overrides', { tool_overrides })).status, 200)
  await run()
  t.deepEqual(toolsOf(-1), [])
})

test('models-53: an answer that its server pauses is gone on with, in the same run, beside tools of ours', async (t) => {
  const asks = block(1, { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } })
  const replies: Reply[] = [
    answering('pause_turn', textBlock(0, 'I look. '), asks),
    answering(
      'tool_use',
      searchBlocks(0, { id: 's2', query: 'q', pages }),
      callBlock(2, { id: 'c1', name: 'list_skills', input: '{}' }),
    ),
    sayingAs('There.'),
  ]
  const { server, run } = await start(t, ({ number }) => replies[number - 1] ?? sayingAs('Too often.'))
  const done = await run()
  t.like(done, { status: 'completed', usage: { calls: 3 } })
  t.deepEqual(
    done.outputs.map(({ content }: any) => content),
    ['There.'],
  )
  const last = listOf(server.asked[1], 'messages').at(-1)
  t.is(last.role, 'assistant')
  t.like(last.content[1], { type: 'server_tool_use', id: 's1', cache_control: { type: 'ephemeral' } })
  t.deepEqual(
    listOf(server.asked[2], 'messages').map(({ role, content }) => [role, content.length]),
    [
      ['user', 1],
      ['assistant', 2],
      ['assistant', 3],
      ['user', 1],
    ],
  )
})

test('models-53: after a kill what was searched goes back as it came', async (t) => {
  const server = await serve(t, () => searched)
  const path = await root(t, server.url)
  const first = await startMortal(t, { root: path })
  await openSession(first)
  await until(first, (await submit(first, 's1', 'How is the weather?')).run_id, 'completed')
  await first.kill('SIGKILL')
  const second = await startMortal(t, { root: first.root })
  await until(second, (await submit(second, 's1', 'And tomorrow?')).run_id, 'completed')
  const [before, said] = listOf(server.asked[1], 'messages')
  t.is(before.role, 'user')
  t.deepEqual(said.content[0], {
    type: 'server_tool_use',
    id: 'srvtoolu_1',
    name: 'web_search',
    input: { query: 'weather' },
  })
  t.is(said.content[1].content[1].encrypted_content, 'ZW5jTwo')
})

test('models-53: an answer of a form stays of that form, and openai tells of its searches as anthropic does', async (t) => {
  const cites = { type: 'url_citation', start_index: 0, end_index: 2, url: 'https://a.example/1', title: 'One' }
  const action = { type: 'search', query: 'q', sources: [{ type: 'url', url: 'https://a.example/1' }] }
  const server = await serve(t, () => answeringIn(searchItem(0, action), citedItem(1, '{"rain":true}', cites)))
  const path = await root(t, server.url)
  writeFileSync(
    join(path, 'config/routes.toml'),
    `[routes.gpt]\ndriver = "openai"\nbase_url = "${server.url}"\ndefault_model = "gpt-5.4"\nnative_web_search = true\n`,
  )
  const daemon = await startTestDaemon(t, { root: path })
  await openSession(daemon)
  const schema = { type: 'object', properties: { rain: { type: 'boolean' } } }
  const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', {
    content: 'Does it rain?',
    generation: { response_format: { type: 'structured_json', schema } },
  })
  const done = await until(daemon, body.run_id, 'completed')
  t.is(done.outputs[0].content, '{"rain":true}')
  const { body: events } = await daemon.request('GET', `/v1/runs/${done.run_id}/events?steps=true`)
  t.like(
    events.map(({ event }: any) => event).find(({ type }: any) => type === 'model_searched'),
    { queries: ['q'], pages: [{ url: 'https://a.example/1', title: '' }] },
  )
})

/** A daemon whose routes are these, and a run on one of them. */
const startWith = async (t: ExecutionContext, respond: (asked: Asked) => Reply, routes: (url: string) => string) => {
  const server = await serve(t, respond)
  const path = await root(t, server.url)
  writeFileSync(join(path, 'config/routes.toml'), routes(server.url))
  const daemon = await startTestDaemon(t, {
    root: path,
    config: {
      web: { search_engine: 'searxng', search_url: 'http://127.0.0.1:9/search' },
      usage: { prices: [{ input: 0, output: 0, searches: 14_000_000 }] },
    },
  })
  await openSession(daemon)
  const run = async (wish: object = {}): Promise<any> => {
    const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'How is the weather?', ...wish })
    return body.run_id === undefined ? body : until(daemon, body.run_id, 'completed', 'failed')
  }
  return { server, daemon, run }
}

test('models-56: a run by google tells what was searched and found, and a model that cannot search beside tools has ours', async (t) => {
  const found = pages.map(({ url, title }) => [url, title] as const)
  const searching = [...searchParts('s1', 'weather'), { text: 'It rains.' }]
  const gemini = stream(grounded(ending('STOP', searching), ['weather'], found, [0]))
  const route = (id: string, model: string, url: string): string =>
    `[routes.${id}]\ndriver = "google"\nbase_url = "${url}"\ndefault_model = "${model}"\nnative_web_search = true\n`
  const { server, daemon, run } = await startWith(
    t,
    () => gemini,
    (url) =>
      `default_route = "g"\n${route('g', 'gemini-3-flash-preview', url)}${route('old', 'gemini-2.5-flash', url)}`,
  )
  const done = await run()
  t.is(done.outputs[0].content, 'It rains.\n\nSources:\n- One: https://a.example/1')
  t.like(done.usage, { searches: 1, cost_microusd: 14_000 })
  const { body } = await daemon.request('GET', `/v1/runs/${done.run_id}/events?steps=true`)
  t.deepEqual(
    body.map(({ event }: any) => event).find(({ type }: any) => type === 'model_searched'),
    { type: 'model_searched', queries: ['weather'], pages },
  )
  const searchesOf = (at: number): unknown[] => {
    const tools = listOf(server.asked.at(at), 'tools')
    const functions = tools.flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    return [tools.some(({ googleSearch }) => googleSearch), functions.some(({ name }: any) => name === 'web_search')]
  }
  t.deepEqual(searchesOf(-1), [true, false])
  await run({ generation: { model: 'gemini-2.5-flash' } })
  t.deepEqual(searchesOf(-1), [false, true])
  const { routes } = (await daemon.request('GET', '/v1/status')).body.provider_readiness
  const old = routes.find(({ route_id }: any) => route_id === 'old')
  t.like(old, { state: 'error', code: 'capability_unavailable' })
  t.regex(old.message, /gemini-2\.5-flash of google has no native_web_search beside tools/u)
  t.like(await run({ provider: 'old' }), { status: 400, code: 'route_not_ready' })
})
