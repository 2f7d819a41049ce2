/** Searches that OpenRouter's server makes; docs/rules/models.md. */
import test, { type ExecutionContext } from 'ava'
import type { ModelMessage } from '../../../../plugins/execution/models/contract.js'
import { classOf, converseWith, transport } from '../../../support/model-client.js'
import { requestOf, userText } from '../../../support/models.js'
import type { Reply, StreamReply } from '../../../support/openai-server.js'
import { vendors } from '../../../../plugins/providers/openai-compatible/vendors.js'
import { listOf } from '../../../support/vendors.js'

test.after.always(() => transport.close())

const converse = (t: ExecutionContext, reply: Reply) => converseWith(t, reply, { spoken: 'openrouter' })
const cite = (url: string, title: string) => ({
  type: 'url_citation',
  url_citation: { url, title, content: 'It rained.', start_index: 0, end_index: 9 },
})
const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const searched: StreamReply = {
  type: 'stream',
  chunks: [
    chunk({ role: 'assistant', content: 'It ' }),
    chunk({ content: 'rains.', annotations: [cite('https://a.example/1', 'One'), { type: 'file', file: {} }] }),
    chunk({ content: '', annotations: [cite('https://a.example/1', 'One'), cite('https://b.example/2', '')] }, 'stop'),
    'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"server_tool_use":{"web_search_requests":2}}}\n\n',
    'data: [DONE]\n\n',
  ],
}
const pages = [
  { url: 'https://a.example/1', title: 'One' },
  { url: 'https://b.example/2', title: '' },
]
const tool = { name: 'look', description: '', parameters: { type: 'object' as const } }

test('models-54: openrouter is asked with its own tool beside those of the request, and only where it may search', async (t) => {
  const { server, ask } = await converse(t, searched)
  const request = requestOf([userText('x')], { tools: [tool] })
  await ask({ ...request, web_search: true })
  await ask(request)
  await ask({ ...requestOf([userText('x')]), web_search: true })
  await ask(requestOf([userText('x')]))
  const types = server.asked.map((asked) =>
    ('tools' in asked.body ? listOf(asked, 'tools') : []).map(({ type }) => type),
  )
  t.deepEqual(types, [['function', 'openrouter:web_search'], ['function'], ['openrouter:web_search'], []])
})

test('models-54: a server of the same protocol that has no such tool is asked with none', async (t) => {
  const { server, ask } = await converseWith(t, searched)
  await ask({ ...requestOf([userText('x')]), web_search: true })
  t.false('tools' in (server.asked[0]?.body ?? {}))
})

test('models-54: openrouter: pages that are cited are told once each, however the stream is cut into pieces, and do not go back', async (t) => {
  for (const drip_bytes of [undefined, 1, 7]) {
    const { server, ask } = await converse(t, drip_bytes === undefined ? searched : { ...searched, drip_bytes })
    const { parts, done } = await ask({ ...requestOf([userText('x')]), web_search: true })
    t.is(done?.outcome, 'stop')
    t.deepEqual(done?.usage, { input_tokens: 9, output_tokens: 2, searches: 2 })
    t.deepEqual(parts, [
      { type: 'search', queries: [], pages },
      { type: 'text', text: 'It rains.', cites: pages },
    ])
    const messages: ModelMessage[] = [userText('x'), { role: 'assistant', content: [...parts] }, userText('and then?')]
    await ask(requestOf(messages))
    t.like(listOf(server.asked[1], 'messages').at(-2), { role: 'assistant', content: 'It rains.' })
    t.false(JSON.stringify(server.asked[1]?.body).includes('a.example'))
  }
})

test('models-54: openrouter: an answer with citations that ends at any event before its last is none', async (t) => {
  let bytes = 0
  for (const text of searched.chunks.slice(0, 2)) {
    bytes += Buffer.byteLength(String(text))
    for (const how of ['end', 'destroy'] as const) {
      const { ask } = await converse(t, { ...searched, cut: { bytes, how } })
      const answer = await ask({ ...requestOf([userText('x')]), web_search: true })
      t.regex(classOf(answer), /retryable$/u)
      t.deepEqual(answer.parts, [])
    }
  }
})

test('models-54: annotations that follow no protocol say nothing', async (t) => {
  for (const annotations of ['x', 5, {}, [null, 5, 'x', { type: 'url_citation' }, cite('', 'x')]]) {
    const { ask } = await converse(t, {
      type: 'stream',
      chunks: [chunk({ content: 'Yes.', annotations }), chunk({}, 'stop'), 'data: [DONE]\n\n'],
    })
    t.deepEqual((await ask()).parts, [{ type: 'text', text: 'Yes.' }])
  }
})

test('models-54: of the vendors of the protocol openrouter alone has a search', (t) => {
  const having = vendors.filter(({ search_tool }) => search_tool !== undefined)
  t.deepEqual(
    having.map(({ provider }) => provider),
    ['openrouter'],
  )
})
