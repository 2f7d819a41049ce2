import test from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import type { Answer } from '../../../support/models.js'
import { classOf, converseWith, failureOf, transport } from '../../../support/model-client.js'
import {
  bytesOf,
  calling,
  chunk,
  doneEvent,
  saying,
  stream,
  usageChunk,
  type Reply,
} from '../../../support/openai-server.js'

test.after.always(() => transport.close())

const quirks: [string, Reply, (answer: Answer) => unknown, unknown][] = [
  [
    'finish_reason stop beside tool calls (Ollama)',
    stream(
      chunk({
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'call_1', index: 0, type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      }),
      chunk({ content: '' }, 'stop'),
      doneEvent,
    ),
    ({ parts, done }) => [parts, done?.outcome],
    [[{ type: 'tool_call', id: 'call_1', name: 'f', input: { a: 1 } }], 'tool_calls'],
  ],
  [
    'no index (Gemini)',
    stream(
      chunk({
        tool_calls: [
          { id: 'a', function: { name: 'f', arguments: '{}' } },
          { id: 'b', function: { name: 'g', arguments: '{"x":2}' } },
        ],
      }),
      chunk({}, 'tool_calls'),
    ),
    ({ parts }) => parts.map((part) => part.type === 'tool_call' && [part.name, part.input]),
    [
      ['f', {}],
      ['g', { x: 2 }],
    ],
  ],
  [
    'index 0 for all calls',
    stream(
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"n":1}' } }] }),
      chunk({ tool_calls: [{ index: 0, id: 'b', function: { name: 'f', arguments: '{"n":2}' } }] }),
      chunk({}, 'tool_calls'),
    ),
    ({ parts }) => parts.map((part) => part.type === 'tool_call' && [part.id, part.input]),
    [
      ['a', { n: 1 }],
      ['b', { n: 2 }],
    ],
  ],
  [
    'empty ids',
    stream(
      chunk({
        tool_calls: [
          { index: 0, id: '', function: { name: 'f', arguments: '{}' } },
          { index: 1, id: '', function: { name: 'g', arguments: '{}' } },
        ],
      }),
      chunk({}, 'tool_calls'),
    ),
    ({ parts }) => new Set(parts.map((part) => part.type === 'tool_call' && part.id.length > 3 && part.id)).size,
    2,
  ],
  [
    'an empty id on later pieces',
    stream(
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, id: '', function: { name: '', arguments: '{"k":' } }] }),
      chunk({ tool_calls: [{ index: 0, id: '', function: { name: null, arguments: '3}' } }] }),
      chunk({}, 'tool_calls'),
    ),
    ({ parts }) => parts,
    [{ type: 'tool_call', id: 'a', name: 'f', input: { k: 3 } }],
  ],
  [
    'an empty input',
    stream(
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '' } }] }),
      chunk({}, 'tool_calls'),
    ),
    ({ parts }) => parts,
    [{ type: 'tool_call', id: 'a', name: 'f', input: {} }],
  ],
  [
    'usage missing',
    stream(chunk({ content: 'x' }), chunk({}, 'stop'), doneEvent),
    ({ done }) => done?.usage,
    { input_tokens: 0, output_tokens: 0 },
  ],
  [
    'usage split and odd',
    stream(
      chunk({ content: 'x' }),
      chunk({}, 'stop'),
      usageChunk({
        prompt_tokens: 10.7,
        completion_tokens: 4,
        prompt_tokens_details: { cached_tokens: 6 },
        completion_tokens_details: { reasoning_tokens: 3 },
      }),
    ),
    ({ done }) => done?.usage,
    { input_tokens: 10, output_tokens: 4, cached_input_tokens: 6, reasoning_tokens: 3 },
  ],
  [
    'negative usage',
    stream(chunk({ content: 'x' }), chunk({}, 'stop'), usageChunk({ prompt_tokens: -1, completion_tokens: 1e300 })),
    ({ done }) => done?.usage,
    { input_tokens: 0, output_tokens: 0 },
  ],
  [
    '[DONE] missing',
    stream(chunk({ content: 'x' }), chunk({}, 'stop')),
    ({ text, done }) => [text, done?.outcome],
    ['x', 'stop'],
  ],
  [
    'comments and carriage returns',
    stream(
      ': OPENROUTER PROCESSING\r\n\r\n',
      ': ping\n\n',
      `event: message\r\ndata: ${JSON.stringify(chunk({ content: 'x' }))}\r\n\r\n`,
      chunk({}, 'stop'),
      doneEvent,
    ),
    ({ text, done }) => [text, done?.outcome],
    ['x', 'stop'],
  ],
  [
    'reasoning_content',
    stream(
      chunk({ reasoning_content: 'think' }),
      chunk({ reasoning_content: 'ing' }),
      chunk({ content: 'x' }),
      chunk({}, 'stop'),
    ),
    ({ parts }) => parts,
    [
      { type: 'reasoning', text: 'thinking' },
      { type: 'text', text: 'x' },
    ],
  ],
  [
    'a word of its own for the end',
    stream(chunk({ content: 'x' }), chunk({}, 'eos_token')),
    ({ done }) => done?.outcome,
    'stop',
  ],
  [
    'a word for the end that only this server knows',
    stream(chunk({ content: 'x' }), chunk({}, 'banana')),
    ({ done }) => done?.outcome,
    'other',
  ],
  [
    'a word of another protocol for the output limit',
    stream(chunk({ content: 'x' }), chunk({}, 'MAX_TOKENS')),
    ({ done }) => done?.outcome,
    'length',
  ],
  ['the output limit', stream(chunk({ content: 'x' }), chunk({}, 'length')), ({ done }) => done?.outcome, 'length'],
  [
    'the output limit behind a whole call',
    stream(
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":1}' } }] }),
      chunk({}, 'length'),
    ),
    ({ parts, done }) => [parts, done?.outcome],
    [[{ type: 'tool_call', id: 'a', name: 'f', input: { a: 1 } }], 'length'],
  ],
  [
    'the output limit within a call',
    stream(
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":"b' } }] }),
      chunk({}, 'length'),
    ),
    ({ parts, done }) => [parts, done?.outcome],
    [[{ type: 'tool_call', id: 'a', name: 'f', input: {}, unparsed: '{"a":"b' }], 'length'],
  ],
  [
    'a call with input that is not JSON',
    calling({ id: 'a', name: 'f', input: '{"a":' }, { id: 'b', name: 'f', input: '{"a":1}' }),
    ({ parts, done }) => [parts, done?.outcome],
    [
      [
        { type: 'tool_call', id: 'a', name: 'f', input: {}, unparsed: '{"a":' },
        { type: 'tool_call', id: 'b', name: 'f', input: { a: 1 } },
      ],
      'tool_calls',
    ],
  ],
  [
    'an empty finish_reason on every piece',
    stream({ choices: [{ delta: { content: 'x' }, finish_reason: '' }] }, chunk({}, 'stop')),
    ({ done }) => done?.outcome,
    'stop',
  ],
  [
    'thoughts under another name, and beside an empty one',
    stream(chunk({ reasoning: 'hm', reasoning_content: '' }), chunk({ content: 'x' }), chunk({}, 'stop')),
    ({ parts }) => parts,
    [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'x' },
    ],
  ],
  [
    'thoughts between texts',
    stream(chunk({ content: 'a' }), chunk({ reasoning: 'hm' }), chunk({ content: 'b' }), chunk({}, 'stop')),
    ({ parts, events }) => [parts.map((part) => 'text' in part && part.text), events.map(({ type }) => type)],
    [
      ['a', 'hm', 'b'],
      ['text_delta', 'reasoning_delta', 'text_delta', 'part', 'part', 'part', 'done'],
    ],
  ],
  [
    'content as parts (Mistral)',
    stream(
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] }),
      chunk({
        content: [
          { type: 'text', text: 'x' },
          { type: 'reference', ids: [1] },
          { type: 'text', text: 'y' },
        ],
      }),
      chunk({}, 'stop'),
    ),
    ({ parts }) => parts,
    [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'xy' },
    ],
  ],
  [
    'a refusal',
    stream(chunk({ content: null, refusal: 'I will ' }), chunk({ refusal: 'not.' }), chunk({}, 'stop')),
    ({ text, done }) => [text, done?.outcome],
    ['I will not.', 'stop'],
  ],
  [
    'an input that is JSON and no text',
    stream(
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: { k: [1] } } }] }),
      chunk({}, 'tool_calls'),
    ),
    ({ parts }) => parts,
    [{ type: 'tool_call', id: 'a', name: 'f', input: { k: [1] } }],
  ],
  [
    'events without choices, and without a delta',
    stream(
      { object: 'prompt_filter_results' },
      { choices: null, usage: null },
      { choices: [{ index: 0, finish_reason: null }] },
      chunk({ content: 'x' }),
      { choices: [{ index: 0, delta: null, finish_reason: 'stop' }] },
      { usage: { prompt_tokens: 3, completion_tokens: '4' } },
      doneEvent,
    ),
    ({ text, done }) => [text, done?.outcome, done?.usage],
    ['x', 'stop', { input_tokens: 3, output_tokens: 0 }],
  ],
  [
    'a second finish',
    stream(chunk({ content: 'x' }), chunk({}, 'stop'), chunk({}, 'stop'), chunk({}, ''), doneEvent, doneEvent),
    ({ text, done }) => [text, done?.outcome],
    ['x', 'stop'],
  ],
  [
    'a text of nothing but blanks, and a call without an id',
    stream(
      chunk({ content: ' ' }),
      chunk({ tool_calls: [{ function: { name: 'f', arguments: '{}' } }] }),
      chunk({}, 'function_call'),
    ),
    ({ parts, done }) => [
      parts.map((part) =>
        part.type === 'tool_call' ? /^call_[0-9A-Za-z]{20,}$/u.test(part.id) : 'text' in part && part.text,
      ),
      done?.outcome,
    ],
    [[' ', true], 'tool_calls'],
  ],
  [
    'a connection that breaks behind [DONE]',
    { ...saying('x'), cut: { bytes: bytesOf(saying('x').chunks).length, how: 'destroy' } },
    ({ text, done }) => [text, done?.outcome],
    ['x', 'stop'],
  ],
  ['another content type', { ...saying('x'), content_type: 'text/plain' }, ({ text }) => text, 'x'],
]
for (const [name, reply, look, expected] of quirks) {
  test(`a server's habit is understood: ${name}`, async (t) => {
    const { ask: go } = await converseWith(t, reply)
    const answer = await go()
    t.deepEqual(look(answer), expected, JSON.stringify(answer.done))
  })
}

const endings: [string, string][] = [
  ['length', 'no failure but length'],
  ['content_filter', 'bad_request final'],
  ['abort', 'overloaded retryable'],
]
for (const [reason, expected] of endings) {
  test(`models-24: an answer that ended with ${reason} stays that, whatever follows`, async (t) => {
    const { ask: go } = await converseWith(
      t,
      stream(chunk({ content: 'x' }), chunk({}, reason), chunk({}, 'stop'), usageChunk(), doneEvent),
    )
    t.is(classOf(await go()), expected)
  })
}

const bad: [string, Reply, string][] = [
  [
    'only an empty finish_reason',
    stream({ choices: [{ delta: { content: 'x' }, finish_reason: '' }] }),
    'truncated retryable',
  ],
  [
    'pieces that belong to no call',
    stream(
      chunk({
        tool_calls: [
          { id: 'a', function: { name: 'f', arguments: '' } },
          { id: 'b', function: { name: 'g', arguments: '' } },
        ],
      }),
      chunk({ tool_calls: [{ function: { arguments: '{"a":1}' } }] }),
      chunk({}, 'tool_calls'),
    ),
    'invalid_output retryable',
  ],
  [
    'a call without a name',
    stream(chunk({ tool_calls: [{ index: 0, id: 'a', function: { arguments: '{}' } }] }), chunk({}, 'tool_calls')),
    'invalid_output retryable',
  ],
  [
    'announced calls that never come',
    stream(chunk({ content: 'x' }), chunk({}, 'tool_calls')),
    'invalid_output retryable',
  ],
  [
    'calls that end for an unknown reason',
    stream(
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] }),
      chunk({}, 'who_knows'),
    ),
    'invalid_output retryable',
  ],
  ['a content filter', stream(chunk({ content: 'x' }), chunk({}, 'content_filter')), 'bad_request final'],
  ['an aborted answer (vLLM)', stream(chunk({ content: 'x' }), chunk({}, 'abort')), 'overloaded retryable'],
  ['garbage', stream('\u0000\u0001 hello\n\nnot sse at all'), 'truncated retryable'],
  [
    'garbage in an event',
    stream(chunk({ content: 'x' }), 'data: {oops\n\n', chunk({}, 'stop')),
    'invalid_output retryable',
  ],
  ['an event of another shape', stream('data: []\n\n', chunk({}, 'stop')), 'invalid_output retryable'],
  [
    'an error in the stream (OpenRouter)',
    stream(chunk({ content: 'x' }), { error: { code: 429, message: 'Rate limited upstream' } }),
    'rate_limited retryable',
  ],
  ['an overload in the stream', stream({ error: { code: 502, message: 'bad gateway' } }), 'overloaded retryable'],
  [
    'a context overflow in the stream (llama.cpp)',
    stream({
      error: {
        code: 400,
        message: 'the request exceeds the available context size',
        type: 'exceed_context_size_error',
      },
    }),
    'context_length final',
  ],
  [
    'a context overflow without a status',
    stream({ error: { code: 'context_length_exceeded', message: 'm' } }),
    'context_length final',
  ],
  [
    'a rate limit without a status',
    stream({ error: { message: 'm', type: 'rate_limit_error' } }),
    'rate_limited retryable',
  ],
  [
    'a refusal without a status',
    stream({ error: { message: 'm', type: 'invalid_request_error' } }),
    'bad_request final',
  ],
  [
    'an error that says little',
    stream(chunk({ content: 'x' }), { error: { message: 'boom' } }),
    'overloaded retryable',
  ],
  ['an error that says nothing', stream({ error: {} }), 'invalid_output retryable'],
  ['an error that is a text', stream({ error: 'boom' }), 'overloaded retryable'],
  [
    'an error that is the event',
    stream({ object: 'error', message: 'rate limit', code: 429 }),
    'rate_limited retryable',
  ],
  ['content of another shape', stream(chunk({ content: 5 }), chunk({}, 'stop')), 'invalid_output retryable'],
  ['calls of another shape', stream(chunk({ tool_calls: {} }), chunk({}, 'stop')), 'invalid_output retryable'],
  [
    'a piece of a call that is none',
    stream(chunk({ tool_calls: [null] }), chunk({}, 'tool_calls')),
    'invalid_output retryable',
  ],
  ['a finish of another shape', stream({ choices: [{ finish_reason: 5 }] }), 'invalid_output retryable'],
  ['a web page with an error', { type: 'status', status: 502, body: '<html>Bad gateway' }, 'overloaded retryable'],
  ['an error without a body', { type: 'status', status: 500 }, 'overloaded retryable'],
  ['an error that never ends', { type: 'status', status: 500, body: 'x'.repeat(300_000) }, 'overloaded retryable'],
  ['an empty answer', stream(), 'truncated retryable'],
  [
    'a web page',
    { type: 'status', status: 200, body: '<html>', headers: { 'content-type': 'text/html' } },
    'bad_request final',
  ],
  ['JSON that is no answer', { type: 'status', status: 200, body: '{"choices":[]}' }, 'bad_request final'],
  ['no content', { type: 'status', status: 204 }, 'bad_request final'],
  ['a redirect', { type: 'status', status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 'bad_request final'],
  ['a broken connection', { type: 'broken' }, 'network retryable'],
]
for (const [name, reply, expected] of bad) {
  test(`a bad answer fails by its class: ${name}`, async (t) => {
    const { ask: go, server } = await converseWith(t, reply)
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
  [
    400,
    { code: 'context_length_exceeded', message: "This model's maximum context length is 8192 tokens." },
    {},
    'context_length final',
  ],
  [413, {}, {}, 'context_length final'],
  [408, {}, {}, 'timeout retryable'],
  [418, {}, {}, 'bad_request final'],
]
for (const [status, error, headers, expected, wait] of statuses) {
  test(`status ${status} ${JSON.stringify({ ...error, ...headers })} is ${expected}`, async (t) => {
    const secret = 'sk-live-abcdef'
    const { ask: go, server } = await converseWith(
      t,
      { type: 'status', status, headers, body: JSON.stringify({ error: { message: 'no', ...error } }) },
      { api_key: secret },
    )
    const answer = await go()
    const failure = failureOf(answer)
    t.is(classOf(answer), expected)
    t.is(failure?.retry_after_ms, wait)
    t.is(failure?.status, status)
    t.is(server.asked.length, 1)
    t.notRegex(JSON.stringify(answer.events), /sk-live/u)
  })
}

test('a date in retry-after counts from now', async (t) => {
  const at = new Date(Date.now() + 60_000).toUTCString()
  const { ask: go } = await converseWith(t, {
    type: 'status',
    status: 429,
    headers: { 'retry-after': at },
    body: 'not json',
  })
  const wait = failureOf(await go())?.retry_after_ms ?? 0
  t.true(wait > 50_000 && wait <= 60_000, String(wait))
})
