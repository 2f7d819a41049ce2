/** Grok by the responses protocol, and the searches that xAI's servers make; docs/rules/models.md. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import type { ModelMessage } from '../../../../plugins/execution/models/contract.js'
import { grok } from '../../../../plugins/providers/openai/models.js'
import { xAi } from '../../../../plugins/providers/openai/vendor.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { converseWith, transport } from '../../../support/model-client.js'
import { requestOf, userText } from '../../../support/models.js'
import { startOpenAiServer, stream, type Reply } from '../../../support/openai-server.js'
import {
  begun,
  callItem,
  citedItem,
  ended,
  sayingIn,
  searchItem,
  thoughtItem,
  usual,
} from '../../../support/responses-server.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { listOf } from '../../../support/vendors.js'

test.after.always(() => transport.close())

const converse = (t: ExecutionContext, reply: Reply) => converseWith(t, reply, { spoken: 'xai', api_key: 'xai-1' })
const page = (n: number) => `https://a.example/${n}`
/** As its servers write it: pages that were looked at stand at no place, those that the text names at one. */
const cites = (url: string, title: string, end_index: number): JsonObject => ({
  type: 'url_citation',
  url,
  title,
  start_index: 0,
  end_index,
})
const action = { type: 'search', query: 'weather', sources: [1, 2].map((n) => ({ type: 'url', url: page(n) })) }
const counted = { ...usual, num_server_side_tools_used: 3, server_side_tool_usage_details: { web_search_calls: 3 } }
const answering = (...annotations: JsonObject[]): Reply =>
  stream(
    begun(),
    thoughtItem(0, 'ZW5j', 'I look it up.'),
    searchItem(1, action),
    citedItem(2, 'It rains [[1]](https://a.example/1).', ...annotations),
    ended('completed', { usage: counted }),
  )
const searched = answering(cites(page(1), page(1), 0), cites(page(2), page(2), 0), cites(page(1), '1', 35))

test('models-59: xai is where its vendor is, needs a key, and takes its own models by default', async (t) => {
  t.is(xAi.base_url, 'https://api.x.ai/v1')
  const { request } = await startTestDaemon(t, { flags: { provider: 'xai' } })
  const [route] = (await request('GET', '/v1/status')).body.provider_readiness.routes
  t.like(route, { provider: 'xai', model: 'grok-4-fast-reasoning', state: 'error', code: 'credential_missing' })
  t.deepEqual(
    ['grok-4', 'claude-opus-4-6', 'gpt-5.4'].map((model) => grok.isOwn(model)),
    [true, false, false],
  )
})

test('models-59: xai is asked by the responses protocol: what it is told first as a message, with the name of the conversation, and nothing is stored', async (t) => {
  const { server, ask } = await converse(t, sayingIn('So.'))
  const messages = [userText('one')]
  await ask(requestOf(messages, { model: 'grok-4', generation: { reasoning: { effort: 'low' } } }))
  await ask(requestOf([...messages, userText('two')], { model: 'grok-4-fast-non-reasoning', system: '' }))
  await ask(requestOf([userText('other')], { model: 'grok-4' }))
  const { path, headers, body } = server.asked[0] ?? {}
  t.is(path, '/v1/responses')
  t.like(headers, { authorization: 'Bearer xai-1' })
  const { prompt_cache_key, ...rest } = body ?? {}
  t.deepEqual(rest, {
    model: 'grok-4',
    reasoning: { effort: 'low' },
    include: ['reasoning.encrypted_content'],
    store: false,
    stream: true,
    input: [
      { type: 'message', role: 'system', content: 'You are a test.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one' }] },
    ],
  })
  t.regex(String(prompt_cache_key), /^[0-9a-f]{32}$/u)
  t.is(server.asked[1]?.body['prompt_cache_key'], prompt_cache_key)
  t.not(server.asked[2]?.body['prompt_cache_key'], prompt_cache_key)
  t.is(server.asked[1]?.body['include'], undefined, 'a model that does not think is asked for no thoughts')
  t.is(listOf(server.asked[1], 'input').length, 2)
})

test('models-59: what xai thought goes back to xai alone, before what it led to', async (t) => {
  const call = callItem(1, { id: 'call_1', name: 'peek', input: '{}' })
  const { server, ask } = await converse(t, stream(begun(), thoughtItem(0, 'ZW5j', 'Hm.'), call, ended('completed')))
  const { parts, done } = await ask(requestOf([userText('x')], { model: 'grok-4' }))
  t.is(done?.outcome, 'tool_calls')
  t.like(parts[0], { type: 'reasoning', metadata: { xai: { id: 'rs_0', encrypted_content: 'ZW5j' } } })
  const foreign = { type: 'reasoning' as const, text: '', metadata: { openai: { id: 'rs_9', encrypted_content: 'Z' } } }
  const result = { type: 'tool_result' as const, tool_call_id: 'call_1', name: 'peek', output: 'no', is_error: false }
  const messages: ModelMessage[] = [
    userText('x'),
    { role: 'assistant', content: [foreign, ...parts] },
    { role: 'tool', content: [result] },
  ]
  await ask(requestOf(messages, { model: 'grok-4' }))
  t.deepEqual(
    listOf(server.asked[1], 'input').map(({ type, id }) => [type, id]),
    [
      ['message', undefined],
      ['message', undefined],
      ['reasoning', 'rs_0'],
      ['function_call', 'fc_1'],
      ['function_call_output', undefined],
    ],
  )
  const openAi = await converseWith(t, sayingIn('So.'), { spoken: 'openai' })
  await openAi.ask(requestOf(messages, { model: 'gpt-5.4' }))
  t.deepEqual(
    listOf(openAi.server.asked[0], 'input').map(({ type, id }) => [type, id]),
    [
      ['message', undefined],
      ['reasoning', 'rs_9'],
      ['function_call', undefined],
      ['function_call_output', undefined],
    ],
  )
})

test('models-59: xai: an answer that ends as incomplete was cut, whatever event tells it', async (t) => {
  const call = callItem(0, { id: 'call_1', name: 'peek', input: '{}' })
  const more = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
  const { ask } = await converse(t, stream(begun(), call, ended('completed', more)))
  t.is((await ask()).done?.outcome, 'length')
})

test('models-60: xai searches by the tool of its server; pages that the text names stand for those that were looked at, and its count of searches is billed', async (t) => {
  for (const drip_bytes of [undefined, 1, 7]) {
    const { server, ask } = await converse(
      t,
      drip_bytes === undefined ? searched : Object.assign({}, searched, { drip_bytes }),
    )
    const request = requestOf([userText('x')], { model: 'grok-4' })
    const { parts, done } = await ask({ ...request, web_search: true })
    t.deepEqual(server.asked[0]?.body['tools'], [{ type: 'web_search' }])
    t.deepEqual(server.asked[0]?.body['include'], ['reasoning.encrypted_content'])
    t.is(done?.outcome, 'stop')
    t.is(done?.usage?.searches, 3)
    t.like(parts[1], { type: 'search', queries: ['weather'] })
    t.like(parts[1], { pages: [1, 2].map((n) => ({ url: page(n), title: '' })) })
    t.is(JSON.stringify({ ...parts[2], text: '' }).match(/a\.example/gu)?.length, 1)
    t.like(parts[2], { type: 'text', cites: [{ url: page(1), title: '' }] })
    await ask(
      requestOf([userText('x'), { role: 'assistant', content: [...parts] }, userText('y')], { model: 'grok-4' }),
    )
    t.like(listOf(server.asked[1], 'input')[3], { id: 'ws_1', type: 'web_search_call', action })
  }
  const { ask } = await converse(t, answering(cites(page(1), 'One', 0), cites(page(2), page(2), 0)))
  const { parts } = await ask()
  const named = [1, 2].map((n) => ({ url: page(n), title: n === 1 ? 'One' : '' }))
  t.like(parts[2], { cites: named }, 'where the text names none, all that were looked at')
})

test('models-60: a run by xai tells what was searched and found, with its pages behind the answer', async (t) => {
  const server = await startOpenAiServer(() => searched)
  const path = await freshRoot()
  t.teardown(() => Promise.all([server.close(), rmSync(path, { recursive: true, force: true })]))
  mkdirSync(join(path, 'config'), { recursive: true })
  writeFileSync(
    join(path, 'config/routes.toml'),
    `[routes.grok]\ndriver = "xai"\nbase_url = "${server.url}"\ndefault_model = "grok-4"\nnative_web_search = true\n`,
  )
  const daemon = await startTestDaemon(t, { root: path })
  await openSession(daemon)
  const run = await until(daemon, (await submit(daemon, 's1', 'How is the weather?')).run_id, 'completed', 'failed')
  t.is(run.outputs[0].content, 'It rains [[1]](https://a.example/1).\n\nSources:\n- https://a.example/1')
  t.is(run.usage.searches, 3)
  const { body } = await daemon.request('GET', `/v1/runs/${run.run_id}/events?steps=true`)
  t.deepEqual(
    body.map(({ event }: any) => event).find(({ type }: any) => type === 'model_searched'),
    { type: 'model_searched', queries: ['weather'], pages: [1, 2].map((n) => ({ url: page(n), title: '' })) },
  )
  const { routes } = (await daemon.request('GET', '/v1/runtime')).body
  t.true(routes[0].native_web_search)
})
