import test from 'ava'
import fc from 'fast-check'
import type { ExecutionContext } from 'ava'
import { createClock } from '../../../../core/clock.js'
import { Problem } from '../../../../core/plugin.js'
import type { JsonObject } from '../../../../core/plugin.js'
import type { ConnectionOptions, ModelMessage } from '../../../../plugins/execution/models/contract.js'
import { createConnection } from '../../../../plugins/providers/openai-compatible/connection.js'
import { createTransport } from '../../../../plugins/providers/openai-compatible/transport.js'
import { conformProvider } from '../../../conform/provider.js'
import { ask, requestOf, resultsOf, userText } from '../../../support/models.js'
import type { Answer } from '../../../support/models.js'
import { bytesOf, calling, chunk, doneEvent, inTurn, saying, startOpenAiServer, stream, usageChunk } from '../../../support/openai-server.js'
import type { Asked, Reply } from '../../../support/openai-server.js'

const clock = createClock()
const transport = createTransport()
test.after.always(() => transport.close())

const open = (base_url: string, more: Partial<ConnectionOptions> = {}) => createConnection({ base_url, idle_timeout_ms: 5000, ...more }, clock, transport)

const setup = async (t: ExecutionContext, reply: Reply, more: Partial<ConnectionOptions> = {}) => {
  const server = await startOpenAiServer(() => reply)
  t.teardown(() => server.close())
  const connection = open(server.url, more)
  return { server, connection, ask: (request = requestOf([userText('hi')]), signal?: AbortSignal) => ask(connection, request, signal) }
}

const failureOf = ({ done }: Answer) => (done?.outcome === 'failed' ? done.failure : undefined)
const classOf = (answer: Answer): string => {
  const failure = failureOf(answer)
  return failure === undefined ? `no failure but ${answer.done?.outcome}` : `${failure.class} ${failure.retryable ? 'retryable' : 'final'}`
}

test('a text is streamed as it comes and is one part at the end', async (t) => {
  const { ask: go, server } = await setup(t, saying('Hel', 'lo ', 'wörld'))
  const answer = await go()
  t.deepEqual(answer.events, [
    { type: 'text_delta', text: 'Hel' }, { type: 'text_delta', text: 'lo ' }, { type: 'text_delta', text: 'wörld' },
    { type: 'part', part: { type: 'text', text: 'Hello wörld' } },
    { type: 'done', outcome: 'stop', usage: { input_tokens: 12, output_tokens: 5 } },
  ])
  t.like(server.asked[0], { path: '/v1/chat/completions', number: 1 })
})

test('parallel tool calls arrive whole, with their ids, after a real finish', async (t) => {
  const { ask: go } = await setup(t, calling({ id: 'a', name: 'read_file', input: '{"path":"x y"}' }, { id: 'b', name: 'bash', input: '{"command":"ls","n":[1,2]}' }))
  const answer = await go()
  t.deepEqual(answer.parts, [
    { type: 'tool_call', id: 'a', name: 'read_file', input: { path: 'x y' } },
    { type: 'tool_call', id: 'b', name: 'bash', input: { command: 'ls', n: [1, 2] } },
  ])
  t.is(answer.done?.outcome, 'tool_calls')
})

test('the request carries messages, tools, settings and the key in their wire form', async (t) => {
  const { ask: go, server } = await setup(t, saying('ok'), { api_key: 'sk-test-key' })
  const messages: ModelMessage[] = [
    userText('one'),
    { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }, { type: 'text', text: 'look' }, { type: 'tool_call', id: 'c1', name: 'bash', input: { command: 'ls' } }] },
    { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'c1', name: 'bash', output: { out: 'a' }, is_error: false }] },
    { role: 'assistant', content: [] },
    userText('two'),
  ]
  const tools = [{ name: 'bash', description: 'Runs.', parameters: { type: 'object', properties: {} } }]
  await go(requestOf(messages, { tools, generation: { tool_choice: { type: 'specific', name: 'bash' }, allow_parallel_tool_calls: false, max_output_tokens: 9, temperature: 0.5 } }))
  const [{ body, headers } = { body: {}, headers: {} }] = server.asked
  t.deepEqual(body, {
    model: 'test-model', max_tokens: 9, temperature: 0.5, parallel_tool_calls: false,
    messages: [
      { role: 'system', content: 'You are a test.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'look', reasoning_content: 'hm', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }] },
      { role: 'tool', tool_call_id: 'c1', content: '{"out":"a"}' },
      { role: 'user', content: 'two' },
    ],
    tools: [{ type: 'function', function: { name: 'bash', description: 'Runs.', parameters: { type: 'object', properties: {} } } }],
    tool_choice: { type: 'function', function: { name: 'bash' } },
    stream: true, stream_options: { include_usage: true },
  })
  t.is(headers['authorization'], 'Bearer sk-test-key')
})

test.serial('a stream cut at any byte before its finish is truncated and may be retried, never a success', async (t) => {
  const server = await startOpenAiServer(() => ({ type: 'broken' }))
  t.teardown(() => server.close())
  const connection = open(server.url)
  const reply = calling({ id: 'a', name: 'bash', input: '{"command":"rm -rf /tmp/x"}' }, { id: 'b', name: 'bash', input: '{}' })
  const whole = bytesOf(reply.chunks)
  const finish = whole.indexOf('data:', whole.indexOf('"finish_reason":"tool_calls"'))
  for (const how of ['end', 'destroy'] as const) {
    for (let bytes = 0; bytes < finish; bytes += bytes < 300 ? 7 : 41) {
      server.answer(() => ({ ...reply, cut: { bytes, how } }))
      const answer = await ask(connection, requestOf([userText('hi')]))
      t.is(classOf(answer), 'truncated retryable', `${how} after ${bytes} bytes`)
      t.deepEqual(answer.parts, [])
    }
  }
})

test.serial('a cut at every event boundary, cleanly closed or broken, is truncated until the finish is there', async (t) => {
  const server = await startOpenAiServer(() => ({ type: 'broken' }))
  t.teardown(() => server.close())
  const connection = open(server.url)
  for (const reply of [saying('a', 'b'), calling({ id: 'a', name: 'x', input: '{"k":true}' })]) {
    const finish = reply.chunks.length - 2
    for (let count = 0; count <= reply.chunks.length; count += 1) {
      const bytes = bytesOf(reply.chunks.slice(0, count)).length
      server.answer(() => ({ ...reply, cut: { bytes, how: 'end' } }))
      const ended = await ask(connection, requestOf([userText('hi')]))
      t.is(ended.done?.outcome === 'failed', count < finish, `${count} events`)
      server.answer(() => ({ ...reply, cut: { bytes, how: 'destroy' } }))
      const broken = await ask(connection, requestOf([userText('hi')]))
      if (count < finish) t.is(classOf(broken), 'truncated retryable', `${count} events`)
      else t.true(broken.done?.outcome !== 'failed' || classOf(broken) === 'truncated retryable')
    }
  }
})

test.serial('whatever bytes are damaged, a call ends in exactly one done and acts on nothing that was not sent', async (t) => {
  const server = await startOpenAiServer(() => ({ type: 'broken' }))
  t.teardown(() => server.close())
  const connection = open(server.url)
  const whole = bytesOf(calling({ id: 'a', name: 'bash', input: '{"command":"ls"}' }).chunks).toString()
  const junk = ['null', '[]', '{}', '"', '}', ',', ':', '\n', '\n\n', 'data:', '\\', 'é', '{"error":{}}', '{"choices":null}', '1e999', '']
  const damage = fc.record({ at: fc.nat(whole.length - 1), cut: fc.nat(12), put: fc.constantFrom(...junk) })
  const property = fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
    const text = damages.reduce((so, { at, cut, put }) => so.slice(0, at) + put + so.slice(at + cut), whole)
    server.answer(() => stream(text))
    const { events, parts, done } = await ask(connection, requestOf([userText('hi')]))
    const ends = events.filter(({ type }) => type === 'done').length
    return ends === 1 && (done?.outcome !== 'failed' || parts.length === 0) && classOf({ events, parts, text: '', done }) !== 'unknown final'
  })
  await t.notThrowsAsync(fc.assert(property, { numRuns: 200 }))
})

test('an answer in single bytes, and one in a single huge event, are read like any other', async (t) => {
  const { ask: go, server } = await setup(t, { ...calling({ id: 'ä', name: 'bash', input: '{"command":"ü€😀"}' }), drip_bytes: 1 })
  t.deepEqual((await go()).parts, [{ type: 'tool_call', id: 'ä', name: 'bash', input: { command: 'ü€😀' } }])
  const huge = 'x'.repeat(3_000_000)
  server.answer(() => saying(huge))
  t.is((await go()).text.length, huge.length)
})

test('an answer beyond the size limit ends, and its socket is closed', async (t) => {
  const piece = chunk({ content: 'x'.repeat(1_000_000) })
  const { ask: go, server } = await setup(t, stream(...Array.from({ length: 60 }, () => piece)))
  t.is(classOf(await go()), 'bad_request final')
  t.true(await server.asked[0]?.gone)
})

const quirks: [string, Reply, (answer: Answer) => unknown, unknown][] = [
  ['finish_reason stop beside tool calls (Ollama)', stream(chunk({ role: 'assistant', content: '', tool_calls: [{ id: 'call_1', index: 0, type: 'function', function: { name: 'f', arguments: '{"a":1}' } }] }), chunk({ content: '' }, 'stop'), doneEvent), ({ parts, done }) => [parts, done?.outcome], [[{ type: 'tool_call', id: 'call_1', name: 'f', input: { a: 1 } }], 'tool_calls']],
  ['no index (Gemini)', stream(chunk({ tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }, { id: 'b', function: { name: 'g', arguments: '{"x":2}' } }] }), chunk({}, 'tool_calls')), ({ parts }) => parts.map((part) => part.type === 'tool_call' && [part.name, part.input]), [['f', {}], ['g', { x: 2 }]]],
  ['index 0 for all calls', stream(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"n":1}' } }] }), chunk({ tool_calls: [{ index: 0, id: 'b', function: { name: 'f', arguments: '{"n":2}' } }] }), chunk({}, 'tool_calls')), ({ parts }) => parts.map((part) => part.type === 'tool_call' && [part.id, part.input]), [['a', { n: 1 }], ['b', { n: 2 }]]],
  ['empty ids', stream(chunk({ tool_calls: [{ index: 0, id: '', function: { name: 'f', arguments: '{}' } }, { index: 1, id: '', function: { name: 'g', arguments: '{}' } }] }), chunk({}, 'tool_calls')), ({ parts }) => new Set(parts.map((part) => part.type === 'tool_call' && part.id.length > 3 && part.id)).size, 2],
  ['an empty id on later pieces', stream(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }), chunk({ tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '{"k":' } }] }), chunk({ tool_calls: [{ index: 0, id: '', function: { name: null, arguments: '3}' } }] }), chunk({}, 'tool_calls')), ({ parts }) => parts, [{ type: 'tool_call', id: 'a', name: 'f', input: { k: 3 } }]],
  ['an empty input', stream(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }), chunk({}, 'tool_calls')), ({ parts }) => parts, [{ type: 'tool_call', id: 'a', name: 'f', input: {} }]],
  ['usage missing', stream(chunk({ content: 'x' }), chunk({}, 'stop'), doneEvent), ({ done }) => done?.usage, { input_tokens: 0, output_tokens: 0 }],
  ['usage split and odd', stream(chunk({ content: 'x' }), chunk({}, 'stop'), usageChunk({ prompt_tokens: 10.7, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 6 }, completion_tokens_details: { reasoning_tokens: 3 } })), ({ done }) => done?.usage, { input_tokens: 10, output_tokens: 4, cached_input_tokens: 6, reasoning_tokens: 3 }],
  ['negative usage', stream(chunk({ content: 'x' }), chunk({}, 'stop'), usageChunk({ prompt_tokens: -1, completion_tokens: 1e300 })), ({ done }) => done?.usage, { input_tokens: 0, output_tokens: 0 }],
  ['[DONE] missing', stream(chunk({ content: 'x' }), chunk({}, 'stop')), ({ text, done }) => [text, done?.outcome], ['x', 'stop']],
  ['comments and carriage returns', stream(': OPENROUTER PROCESSING\r\n\r\n', ': ping\n\n', `event: message\r\ndata: ${JSON.stringify(chunk({ content: 'x' }))}\r\n\r\n`, chunk({}, 'stop'), doneEvent), ({ text, done }) => [text, done?.outcome], ['x', 'stop']],
  ['reasoning_content', stream(chunk({ reasoning_content: 'think' }), chunk({ reasoning_content: 'ing' }), chunk({ content: 'x' }), chunk({}, 'stop')), ({ parts }) => parts, [{ type: 'reasoning', text: 'thinking' }, { type: 'text', text: 'x' }]],
  ['a word for the end that only this server knows', stream(chunk({ content: 'x' }), chunk({}, 'eos_token')), ({ done }) => done?.outcome, 'stop'],
  ['the output limit', stream(chunk({ content: 'x' }), chunk({}, 'length')), ({ done }) => done?.outcome, 'length'],
  ['an empty finish_reason on every piece', stream({ choices: [{ delta: { content: 'x' }, finish_reason: '' }] }, chunk({}, 'stop')), ({ done }) => done?.outcome, 'stop'],
  ['another content type', { ...saying('x'), content_type: 'text/plain' }, ({ text }) => text, 'x'],
]
for (const [name, reply, look, expected] of quirks) {
  test(`a server's habit is understood: ${name}`, async (t) => {
    const { ask: go } = await setup(t, reply)
    const answer = await go()
    t.deepEqual(look(answer), expected, JSON.stringify(answer.done))
  })
}

const bad: [string, Reply, string][] = [
  ['only an empty finish_reason', stream({ choices: [{ delta: { content: 'x' }, finish_reason: '' }] }), 'truncated retryable'],
  ['input that is not JSON', calling({ id: 'a', name: 'f', input: '{"a":' }), 'invalid_output retryable'],
  ['a call cut at the output limit', stream(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":"b' } }] }), chunk({}, 'length')), 'invalid_output retryable'],
  ['pieces that belong to no call', stream(chunk({ tool_calls: [{ id: 'a', function: { name: 'f', arguments: '' } }, { id: 'b', function: { name: 'g', arguments: '' } }] }), chunk({ tool_calls: [{ function: { arguments: '{"a":1}' } }] }), chunk({}, 'tool_calls')), 'invalid_output retryable'],
  ['a call without a name', stream(chunk({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] }), chunk({}, 'tool_calls')), 'invalid_output retryable'],
  ['announced calls that never come', stream(chunk({ content: 'x' }), chunk({}, 'tool_calls')), 'invalid_output retryable'],
  ['calls that end for an unknown reason', stream(chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] }), chunk({}, 'who_knows')), 'invalid_output retryable'],
  ['a content filter', stream(chunk({ content: 'x' }), chunk({}, 'content_filter')), 'bad_request final'],
  ['an aborted answer (vLLM)', stream(chunk({ content: 'x' }), chunk({}, 'abort')), 'overloaded retryable'],
  ['garbage', stream('\u0000\u0001 hello\n\nnot sse at all'), 'truncated retryable'],
  ['garbage in an event', stream(chunk({ content: 'x' }), 'data: {oops\n\n', chunk({}, 'stop')), 'invalid_output retryable'],
  ['an event of another shape', stream('data: []\n\n', chunk({}, 'stop')), 'invalid_output retryable'],
  ['an error in the stream (OpenRouter)', stream(chunk({ content: 'x' }), { error: { code: 429, message: 'Rate limited upstream' } }), 'rate_limited retryable'],
  ['an overload in the stream', stream({ error: { code: 502, message: 'bad gateway' } }), 'overloaded retryable'],
  ['a context overflow in the stream (llama.cpp)', stream({ error: { code: 400, message: 'the request exceeds the available context size', type: 'exceed_context_size_error' } }), 'context_length final'],
  ['a context overflow without a status', stream({ error: { code: 'context_length_exceeded', message: 'm' } }), 'context_length final'],
  ['a rate limit without a status', stream({ error: { message: 'm', type: 'rate_limit_error' } }), 'rate_limited retryable'],
  ['a refusal without a status', stream({ error: { message: 'm', type: 'invalid_request_error' } }), 'bad_request final'],
  ['an error that says little', stream(chunk({ content: 'x' }), { error: { message: 'boom' } }), 'overloaded retryable'],
  ['an error that says nothing', stream({ error: {} }), 'invalid_output retryable'],
  ['an empty answer', stream(), 'truncated retryable'],
  ['a web page', { type: 'status', status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }, 'bad_request final'],
  ['a whole JSON answer', { type: 'status', status: 200, body: '{"choices":[]}' }, 'bad_request final'],
  ['no content', { type: 'status', status: 204 }, 'bad_request final'],
  ['a redirect', { type: 'status', status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 'bad_request final'],
  ['a broken connection', { type: 'broken' }, 'network retryable'],
]
for (const [name, reply, expected] of bad) {
  test(`a bad answer fails by its class: ${name}`, async (t) => {
    const { ask: go, server } = await setup(t, reply)
    const answer = await go()
    t.is(classOf(answer), expected, JSON.stringify(answer.done))
    t.is(answer.events.filter(({ type }) => type === 'part').length, 0)
    t.is(server.asked.length, 1)
  })
}

const statuses: [number, JsonObject, Record<string, string>, string, number?][] = [
  [429, {}, { 'retry-after': '7' }, 'rate_limited retryable', 7000],
  [429, {}, { 'retry-after': '0.5' }, 'rate_limited retryable', 500],
  [429, {}, { 'retry-after': '9', 'retry-after-ms': '1234' }, 'rate_limited retryable', 1234],
  [429, {}, { 'retry-after': 'soon' }, 'rate_limited retryable'],
  [429, {}, { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, 'rate_limited retryable', 0],
  [429, { code: 'insufficient_quota' }, {}, 'rate_limited final'],
  [402, {}, {}, 'rate_limited final'],
  [500, {}, {}, 'overloaded retryable'],
  [503, { message: 'Loading model' }, { 'retry-after': '3' }, 'overloaded retryable', 3000],
  [529, {}, {}, 'overloaded retryable'],
  [401, { message: 'bad key sk-live-abcdef' }, {}, 'auth final'],
  [403, {}, {}, 'auth final'],
  [404, { code: 'model_not_found' }, {}, 'bad_request final'],
  [400, { message: 'nope' }, {}, 'bad_request final'],
  [400, { code: 'context_length_exceeded', message: "This model's maximum context length is 8192 tokens." }, {}, 'context_length final'],
  [413, {}, {}, 'context_length final'],
  [408, {}, {}, 'timeout retryable'],
  [418, {}, {}, 'bad_request final'],
]
for (const [status, error, headers, expected, wait] of statuses) {
  test(`status ${status} ${JSON.stringify({ ...error, ...headers })} is ${expected}`, async (t) => {
    const secret = 'sk-live-abcdef'
    const { ask: go, server } = await setup(t, { type: 'status', status, headers, body: JSON.stringify({ error: { message: 'no', ...error } }) }, { api_key: secret })
    const answer = await go()
    const failure = failureOf(answer)
    t.is(classOf(answer), expected)
    t.is(failure?.retry_after_ms, wait)
    t.is(failure?.status, status)
    t.is(server.asked.length, 1)
    t.notRegex(JSON.stringify(answer.events), /sk-live|127\.0\.0\.1|Loading|nope/u)
  })
}

test('a date in retry-after counts from now', async (t) => {
  const at = new Date(Date.now() + 60_000).toUTCString()
  const { ask: go } = await setup(t, { type: 'status', status: 429, headers: { 'retry-after': at }, body: 'not json' })
  const wait = failureOf(await go())?.retry_after_ms ?? 0
  t.true(wait > 50_000 && wait <= 60_000, String(wait))
})

test('a server that is not there is a network failure', async (t) => {
  const server = await startOpenAiServer(() => saying('x'))
  await server.close()
  t.is(classOf(await ask(open(server.url), requestOf([userText('hi')]))), 'network retryable')
  t.is(classOf(await ask(open('https://host.invalid/v1'), requestOf([userText('hi')]))), 'network retryable')
})

test('TLS to a server that speaks none is a network failure that is not repeated', async (t) => {
  const { server } = await setup(t, saying('x'))
  t.is(classOf(await ask(open(server.url.replace('http:', 'https:')), requestOf([userText('hi')]))), 'network final')
})

test.serial('silence ends at the idle limit, before and after the headers, and closes the socket', async (t) => {
  for (const headers of [false, true]) {
    const { ask: go, server } = await setup(t, { type: 'silence', headers }, { idle_timeout_ms: 60 })
    t.is(classOf(await go()), 'timeout retryable')
    t.true(await server.asked[0]?.gone)
  }
})

test.serial('a slow provider is not a silent one: pieces and comments count as life, and a slow reader does not', async (t) => {
  const slow = [': wait\n\n', ': wait\n\n', ': wait\n\n', ...saying('a', 'b').chunks]
  const { ask: go, connection } = await setup(t, { ...stream(...slow), pace_ms: 60 }, { idle_timeout_ms: 150 })
  t.is((await go()).text, 'ab')
  let text = ''
  for await (const event of connection.stream(requestOf([userText('hi')]), new AbortController().signal)) {
    if (event.type !== 'text_delta') continue
    await clock.sleep(400)
    text += event.text
  }
  t.is(text, 'ab')
})

test.serial('an abort ends the call at once and closes the socket, wherever the call is', async (t) => {
  const replies: Reply[] = [{ type: 'silence', headers: false }, { type: 'silence', headers: true }, { ...saying('a', 'b', 'c'), keep_open: true, pace_ms: 30 }]
  for (const reply of replies) {
    const { ask: go, server } = await setup(t, reply)
    const abort = new AbortController()
    const asking = go(undefined, abort.signal)
    await clock.sleep(50)
    const begun = clock.elapsed()
    abort.abort()
    t.is(classOf(await asking), 'aborted final')
    t.true(clock.elapsed() - begun < 500)
    t.true(await server.asked[0]?.gone)
  }
})

test('a call that is aborted before it starts asks nobody', async (t) => {
  const { ask: go, server } = await setup(t, saying('x'))
  t.is(classOf(await go(undefined, AbortSignal.abort())), 'aborted final')
  t.is(server.asked.length, 0)
})

test.serial('a reader that leaves early closes the socket', async (t) => {
  const { connection, server } = await setup(t, { ...saying('a', 'b'), keep_open: true })
  for await (const _ of connection.stream(requestOf([userText('hi')]), new AbortController().signal)) break
  t.true(await server.asked[0]?.gone)
})

test.serial('a server that says [DONE] and keeps the socket open is not waited for', async (t) => {
  const { ask: go, server } = await setup(t, { ...saying('a'), keep_open: true })
  const begun = clock.elapsed()
  t.is((await go()).done?.outcome, 'stop')
  t.true(clock.elapsed() - begun < 3000)
  t.true(await server.asked[0]?.gone)
})

test.serial('calls after each other use one socket', async (t) => {
  const { ask: go, server } = await setup(t, saying('a'))
  for (let n = 0; n < 3; n += 1) {
    await go()
    await clock.sleep(20)
  }
  t.is(await server.sockets(), 1)
})

test('recorded parts go back with what the provider gave beside them', async (t) => {
  const signed = chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' }, extra_content: { google: { thought_signature: 'SIG' } } }] })
  const server = await startOpenAiServer(inTurn(stream(signed, chunk({}, 'tool_calls')), saying('done')))
  t.teardown(() => server.close())
  const connection = open(server.url)
  const first = await ask(connection, requestOf([userText('hi')]))
  const recorded: typeof first.parts = JSON.parse(JSON.stringify(first.parts))
  const second = await ask(connection, requestOf([userText('hi'), { role: 'assistant', content: recorded }, resultsOf(recorded)]))
  t.is(second.text, 'done')
  const sent: any = server.asked[1]?.body
  t.deepEqual(sent.messages[2].tool_calls, [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' }, extra_content: { google: { thought_signature: 'SIG' } } }])
})

test('a refused key is a warning until a call succeeds again', async (t) => {
  const server = await startOpenAiServer(inTurn({ type: 'status', status: 401 }, { type: 'status', status: 500 }, saying('x')))
  t.teardown(() => server.close())
  const connection = open(server.url)
  const states: string[] = [connection.readiness().state]
  for (let n = 0; n < 3; n += 1) {
    await ask(connection, requestOf([userText('hi')]))
    states.push(connection.readiness().state)
  }
  t.deepEqual(states, ['ok', 'warning', 'warning', 'ok'])
})

test('options that cannot work are refused with a reason that shows nothing of them', (t) => {
  const codeOf = (base_url: string | undefined, api_key = 'k'): string | undefined => {
    const make = () => createConnection({ idle_timeout_ms: 1, api_key, ...(base_url !== undefined && { base_url }) }, clock, transport)
    const problem = t.throws(make, { instanceOf: Problem })
    t.notRegex(problem.message, /secret/u)
    return problem.code
  }
  t.is(codeOf(undefined), 'base_url_missing')
  t.is(codeOf(' '), 'base_url_missing')
  for (const url of ['secret', 'ftp://secret/v1', 'http://secret:x@host/v1', 'http://secret@host', 'http://host/v1?secret', 'http://host/v1#secret', 'http://host/?', 'http://', 'file:///secret', '//secret/v1']) t.is(codeOf(url), 'base_url_invalid')
  for (const key of ['a b secret', 'secret\nx', 'sécret']) t.is(codeOf('http://host/v1', key), 'api_key_invalid')
})

test('a trailing slash of the base URL does not matter', async (t) => {
  const { server } = await setup(t, saying('x'))
  t.is((await ask(open(`${server.url}//`), requestOf([userText('hi')]))).text, 'x')
  t.is(server.asked[0]?.path, '/v1/chat/completions')
})

const replies: Readonly<Record<string, Reply>> = {
  text: saying('a', 'b'),
  calls: calling({ id: 'x', name: 'f', input: '{"a":[1,2]}' }, { id: 'y', name: 'g', input: '{}' }),
  fails: { type: 'status', status: 500, body: '{"error":{"message":"down"}}' },
  endless: { ...stream(...Array.from({ length: 1000 }, () => chunk({ content: 'x' }))), pace_ms: 10 },
}

/** A model that does what the last message says, and ends after results. */
const obedient = ({ body }: Asked): Reply => {
  const messages = Array.isArray(body['messages']) ? body['messages'] : []
  const last: any = messages.at(-1)
  return (last?.role === 'user' ? replies[String(last.content)] : undefined) ?? saying('ok')
}

conformProvider('openai_compatible', async (t) => {
  const server = await startOpenAiServer(obedient)
  t.teardown(() => server.close())
  return {
    connection: open(server.url, { api_key: 'sk-1' }),
    texts: { text: 'text', calls: 'calls', fails: 'fails', endless: 'endless' },
    traffic: () => ({ asked: server.asked.length, open: server.open() }),
  }
})
