import test, { type ExecutionContext } from 'ava'
import {
  answering,
  block,
  callBlock,
  callingAs,
  event,
  messageEnd,
  messageStart,
  sayingAs,
  textBlock,
  thinkingBlock,
} from '../../../support/anthropic-server.js'
import { classOf, converseWith, failureOf, transport } from '../../../support/model-client.js'
import { bytesOf, stream, type Reply } from '../../../support/openai-server.js'

test.after.always(() => transport.close())

const converse = (t: ExecutionContext, reply: Reply) => converseWith(t, reply, { spoken: 'anthropic' })
const answerTo = async (t: ExecutionContext, reply: Reply) => (await converse(t, reply)).ask()

test('a text comes as deltas and as one part, with what it used', async (t) => {
  const { text, parts, done, events } = await answerTo(t, sayingAs('Hel', 'lo ', 'there'))
  t.is(text, 'Hello there')
  t.deepEqual(parts, [{ type: 'text', text: 'Hello there' }])
  t.like(done, { outcome: 'stop', usage: { input_tokens: 12, output_tokens: 5 } })
  const deltas = events.flatMap((one) => (one.type === 'text_delta' ? [one.text] : []))
  t.is(deltas.join(''), 'Hello there')
})

test('models-36: thoughts keep their signatures, hidden ones their data', async (t) => {
  const { parts, events } = await answerTo(
    t,
    answering(
      'end_turn',
      thinkingBlock(0, 'Let me see.', 'c2ln'),
      block(1, { type: 'redacted_thinking', data: 'aGlkZGVu' }),
      textBlock(2, 'Yes.'),
    ),
  )
  t.deepEqual(parts, [
    { type: 'reasoning', text: 'Let me see.', metadata: { anthropic: { signature: 'c2ln' } } },
    { type: 'reasoning', text: '', metadata: { anthropic: { redacted: 'aGlkZGVu' } } },
    { type: 'text', text: 'Yes.' },
  ])
  t.deepEqual(
    events.flatMap((one) => (one.type === 'reasoning_delta' ? [one.text] : [])),
    ['Let me see.'],
  )
})

test('calls are put together of their pieces, in the order in which they began', async (t) => {
  const { parts, done } = await answerTo(
    t,
    answering(
      'tool_use',
      textBlock(0, 'I look.'),
      callBlock(1, { id: 'toolu_1', name: 'read_file', input: '{"path":"ä.txt"}' }),
      callBlock(2, { id: 'toolu_2', name: 'list_files', input: '' }),
      block(3, { type: 'tool_use', id: 'toolu_3', name: 'peek', input: { at: 1 } }),
    ),
  )
  t.deepEqual(parts, [
    { type: 'text', text: 'I look.' },
    { type: 'tool_call', id: 'toolu_1', name: 'read_file', input: { path: 'ä.txt' } },
    { type: 'tool_call', id: 'toolu_2', name: 'list_files', input: {} },
    { type: 'tool_call', id: 'toolu_3', name: 'peek', input: { at: 1 } },
  ])
  t.is(done?.outcome, 'tool_calls')
})

test('an input that is no JSON is kept as it came, and the call is not made of it', async (t) => {
  const { parts } = await answerTo(t, callingAs({ id: 'toolu_1', name: 'peek', input: '{"at":' }))
  t.deepEqual(parts, [{ type: 'tool_call', id: 'toolu_1', name: 'peek', input: {}, unparsed: '{"at":' }])
})

test('why the model stopped decides what an answer is', async (t) => {
  for (const [reason, outcome] of [
    ['end_turn', 'no failure but stop'],
    ['stop_sequence', 'no failure but stop'],
    ['max_tokens', 'no failure but length'],
    ['model_context_window_exceeded', 'no failure but length'],
    ['refusal', 'bad_request final'],
    ['tool_use', 'invalid_output retryable'],
    ['of_later_times', 'no failure but other'],
  ] as const)
    t.is(classOf(await answerTo(t, answering(reason, textBlock(0, 'So.')))), outcome, reason)
  const calls = callBlock(0, { id: 'toolu_1', name: 'peek', input: '{}' })
  t.is(classOf(await answerTo(t, answering('of_later_times', calls))), 'invalid_output retryable')
  t.is(classOf(await answerTo(t, answering('max_tokens', calls))), 'no failure but length')
})

test('models-36: what the cache of the provider gave and took counts as input, and the last number that is told holds', async (t) => {
  const { done } = await answerTo(
    t,
    stream(
      messageStart({
        input_tokens: 3,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 100,
        output_tokens: 1,
      }),
      textBlock(0, 'So.'),
      messageEnd('end_turn', { input_tokens: 4, output_tokens: 50, output_tokens_details: { thinking_tokens: 30 } }),
    ),
  )
  t.deepEqual(done?.outcome === 'stop' ? done.usage : undefined, {
    input_tokens: 124,
    output_tokens: 50,
    cached_input_tokens: 100,
    reasoning_tokens: 30,
  })
})

test('models-16: an answer that is cut anywhere before the model ended is cut, and acts on nothing', async (t) => {
  const reply = callingAs({ id: 'toolu_1', name: 'write_file', input: '{"path":"a","content":"ü"}' })
  const whole = bytesOf(reply.chunks)
  const ended = whole.indexOf('"stop_reason":"tool_use"')
  const lineEnd = whole.indexOf('\n\n', ended) + 2
  for (let bytes = 1; bytes < lineEnd; bytes += 7) {
    const { parts, done } = await answerTo(t, { ...reply, cut: { bytes, how: 'end' } })
    t.deepEqual(parts, [], `${bytes} bytes`)
    t.like(done, { outcome: 'failed', failure: { class: 'truncated', retryable: true } }, `${bytes} bytes`)
  }
  t.is(classOf(await answerTo(t, { ...reply, cut: { bytes: lineEnd, how: 'destroy' } })), 'no failure but tool_calls')
})

test('a stream in drops of any size says the same', async (t) => {
  const reply = answering(
    'tool_use',
    textBlock(0, 'Grüße'),
    callBlock(1, { id: 'toolu_1', name: 'p', input: '{"ä":1}' }),
  )
  for (const drip_bytes of [1, 2, 7]) {
    const { parts } = await answerTo(t, { ...reply, drip_bytes })
    t.deepEqual(
      parts.map((part) => (part.type === 'tool_call' ? part.input : 'text' in part && part.text)),
      ['Grüße', { ä: 1 }],
    )
  }
})

test('models-16: what does not follow the protocol is no answer, what later versions may add is passed over', async (t) => {
  const delta = (index: number, more: object): string => event('content_block_delta', { index, delta: { ...more } })
  for (const [name, odd] of Object.entries({
    'no JSON': 'data: {oops\n\n',
    'a delta without its block': delta(7, { type: 'text_delta', text: 'x' }),
    'a delta of another kind':
      event('content_block_start', { index: 3, content_block: { type: 'text', text: '' } }) +
      delta(3, { type: 'input_json_delta', partial_json: '{}' }),
    'a delta behind the end of its block': delta(0, { type: 'text_delta', text: 'x' }),
    'a block that begins twice': textBlock(0, 'again'),
    'a block that is none': event('content_block_start', { index: 3, content_block: 7 }),
    'a call without a name': block(3, { type: 'tool_use', id: 'toolu_1', input: {} }),
    'a block without an end': event('content_block_start', { index: 3, content_block: { type: 'text', text: 'x' } }),
  }))
    t.is(classOf(await answerTo(t, answering('end_turn', textBlock(0, 'So.'), odd))), 'invalid_output retryable', name)
  const { parts } = await answerTo(
    t,
    answering(
      'end_turn',
      event('of_later_times', { at: 1 }),
      block(
        0,
        { type: 'server_tool_use', id: 's', name: 'search', input: {} },
        { type: 'input_json_delta', partial_json: '{}' },
      ),
      block(
        1,
        { type: 'text', text: 'So' },
        { type: 'citations_delta', citation: {} },
        { type: 'text_delta', text: '.' },
      ),
    ),
  )
  t.deepEqual(parts, [{ type: 'text', text: 'So.' }])
})

test('models-26: behind the end of the model nothing counts', async (t) => {
  const late = [textBlock(5, 'late'), 'data: {oops\n\n', callBlock(6, { id: 'toolu_9', name: 'p', input: '{}' })]
  const end = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } })
  const { parts, done } = await answerTo(
    t,
    stream(messageStart(), textBlock(0, 'So.'), end, ...late, event('message_stop')),
  )
  t.deepEqual(parts, [{ type: 'text', text: 'So.' }])
  t.is(done?.outcome, 'stop')
  const error = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } })
  const behind = (...events: string[]): Reply => stream(messageStart(), textBlock(0, 'So.'), end, ...events)
  t.is(classOf(await answerTo(t, behind(event('message_stop'), error))), 'no failure but stop')
  t.is(classOf(await answerTo(t, behind(error, event('message_stop')))), 'overloaded retryable')
})

test('models-19: an error in the stream ends the answer, and says what the server said', async (t) => {
  const error = (type: string, message: string): Reply =>
    stream(messageStart(), textBlock(0, 'half'), event('error', { error: { type, message } }))
  const answer = await answerTo(t, error('overloaded_error', 'Overloaded'))
  t.is(classOf(answer), 'overloaded retryable')
  t.regex(failureOf(answer)?.message ?? '', /It said: "Overloaded"/u)
  t.deepEqual(answer.parts, [])
  t.is(classOf(await answerTo(t, error('rate_limit_error', 'Slow down'))), 'rate_limited retryable')
  t.is(
    classOf(await answerTo(t, error('invalid_request_error', 'prompt is too long: 9 tokens'))),
    'context_length final',
  )
})

test('models-19: what a status says is told by what can be done about it', async (t) => {
  const refusal = (status: number, type: string, message: string): Reply => ({
    type: 'status',
    status,
    headers: { 'retry-after': '7' },
    body: JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' }),
  })
  for (const [status, type, message, expected] of [
    [529, 'overloaded_error', 'Overloaded', 'overloaded retryable'],
    [500, 'api_error', 'Internal', 'overloaded retryable'],
    [429, 'rate_limit_error', 'Too many', 'rate_limited retryable'],
    [401, 'authentication_error', 'invalid x-api-key', 'auth final'],
    [404, 'not_found_error', 'model: claude-nobody', 'bad_request final'],
    [413, 'request_too_large', 'Request exceeds the maximum size', 'context_length final'],
    [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', 'context_length final'],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the API.', 'rate_limited final'],
    [400, 'invalid_request_error', 'max_tokens: Field required', 'bad_request final'],
  ] as const) {
    const answer = await answerTo(t, refusal(status, type, message))
    t.is(classOf(answer), expected, `${status} ${message}`)
    t.is(failureOf(answer)?.retry_after_ms, expected.endsWith('retryable') ? 7_000 : undefined)
  }
})
