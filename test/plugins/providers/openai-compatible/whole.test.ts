/** Servers that do not stream, and what else stands in the place of a stream. */
import test from 'ava'
import { gzipSync } from 'node:zlib'
import type { JsonObject } from '../../../../core/plugin.js'
import { classOf, converseWith, failureOf, transport } from '../../../support/model-client.js'
import { chunk, stream, type Reply } from '../../../support/openai-server.js'

test.after.always(() => transport.close())

const usage = { prompt_tokens: 12, completion_tokens: 5 }
const completion = (message: JsonObject, finish_reason: string | null = 'stop', more: JsonObject = {}): JsonObject => ({
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage,
  ...more,
})
const sent = (body: JsonObject | string, headers: Readonly<Record<string, string>> = {}): Reply => ({
  type: 'status',
  status: 200,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
})

test('models-78: a whole completion in the place of a stream is the answer, with its thoughts and usage', async (t) => {
  const { ask } = await converseWith(t, sent(completion({ content: 'Héllo', reasoning_content: 'Hm.' })))
  t.deepEqual((await ask()).events, [
    { type: 'reasoning_delta', text: 'Hm.' },
    { type: 'text_delta', text: 'Héllo' },
    { type: 'part', part: { type: 'reasoning', text: 'Hm.' } },
    { type: 'part', part: { type: 'text', text: 'Héllo' } },
    { type: 'done', outcome: 'stop', usage: { input_tokens: 12, output_tokens: 5 } },
  ])
})

test('models-78: calls of a whole completion are made, and none of one that was cut at its length', async (t) => {
  const tool_calls = ['a', 'b'].map((id) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: `{"n":"${id}"}` },
  }))
  const { ask, server } = await converseWith(t, sent(completion({ content: null, tool_calls }, 'tool_calls')))
  const { parts, done } = await ask()
  t.deepEqual(parts, [
    { type: 'tool_call', id: 'a', name: 'f', input: { n: 'a' } },
    { type: 'tool_call', id: 'b', name: 'f', input: { n: 'b' } },
  ])
  t.is(done?.outcome, 'tool_calls')
  server.answer(() => sent(completion({ content: 'So', tool_calls }, 'length')))
  t.is((await ask()).done?.outcome, 'length')
})

const flawed: [string, Reply, string][] = [
  ['has no reason to end', sent(completion({ content: 'x' }, null)), 'truncated retryable'],
  ['was filtered', sent(completion({ content: 'x' }, 'content_filter')), 'bad_request final'],
  ['announces calls and has none', sent(completion({ content: 'x' }, 'tool_calls')), 'invalid_output retryable'],
  ['has content of another shape', sent(completion({ content: 5 })), 'invalid_output retryable'],
  ['is cut', sent('{"choices":[{"message":{"content":"x'), 'invalid_output retryable'],
  ['is an error', sent({ error: { message: 'slow down', code: 429 } }), 'rate_limited retryable'],
  ['is larger than is read at once', sent(completion({ content: 'x'.repeat(5_000_000) })), 'invalid_output final'],
  ['is nested very deeply', sent(`{"choices":[${'['.repeat(9_000)}`), 'invalid_output final'],
]
for (const [name, reply, expected] of flawed)
  test(`models-78: a whole completion is looked at as a stream is: one that ${name}`, async (t) => {
    const { ask } = await converseWith(t, reply)
    const answer = await ask()
    t.is(classOf(answer), expected)
    t.deepEqual(answer.parts, [])
  })

const others: [Reply, RegExp][] = [
  [sent({ status: 'ok' }), /answered with JSON that is no answer of a model and no event stream/u],
  [sent('["x"]'), /answered with JSON that is no answer of a model and no event stream/u],
  [sent('<html>', { 'content-type': 'text/html' }), /answered with a web page and no event stream/u],
  [{ type: 'status', status: 204 }, /answered with nothing \(status 204\) and no event stream/u],
]
test('models-78: what is neither a stream nor an answer is called what it is', async (t) => {
  for (const [reply, expected] of others) {
    const { ask } = await converseWith(t, reply)
    const answer = await ask()
    t.is(classOf(answer), 'bad_request final')
    t.regex(failureOf(answer)?.message ?? '', expected)
  }
  const { ask } = await converseWith(t, sent({ type: 'message', content: [] }), { spoken: 'anthropic' })
  t.regex(failureOf(await ask())?.message ?? '', /answered with JSON and no event stream/u)
})

test('models-28: a whole completion that is compressed fails with a sentence that says so', async (t) => {
  const packed = gzipSync(JSON.stringify(completion({ content: 'x' }))).toString('latin1')
  const { ask } = await converseWith(t, sent(packed, { 'content-encoding': 'gzip' }))
  t.regex(failureOf(await ask())?.message ?? '', /compressed its answer \(gzip\)/u)
})

const said = (index: number, content: string): JsonObject => ({ index, delta: { content } })
test('models-79: of several choices the first one is the answer, wherever it stands', async (t) => {
  const chunks = [
    { choices: [said(1, 'B'), said(0, 'A')] },
    { choices: [said(1, 'B')] },
    { choices: [{ index: 1, delta: {}, finish_reason: 'length' }] },
    { choices: [{ delta: { content: '!' } }] },
  ]
  const { ask, server } = await converseWith(t, stream(...chunks, chunk({}, 'stop')))
  t.like(await ask(), { text: 'A!', done: { outcome: 'stop' } })
  const choices = ['B', 'A'].map((content, at) => ({ index: 1 - at, message: { content }, finish_reason: 'stop' }))
  server.answer(() => sent({ choices }))
  t.like(await ask(), { text: 'A' })
})
