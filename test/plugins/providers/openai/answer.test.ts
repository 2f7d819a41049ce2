import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { classOf, converseWith, failureOf, transport } from '../../../support/model-client.js'
import { bytesOf, stream, type Reply } from '../../../support/openai-server.js'
import {
  answeringIn,
  begun,
  callItem,
  callingIn,
  ended,
  event,
  item,
  piece,
  sayingIn,
  textItem,
  thoughtItem,
  usual,
} from '../../../support/responses-server.js'

test.after.always(() => transport.close())

const answerTo = async (t: ExecutionContext, reply: Reply) => (await converseWith(t, reply, { spoken: 'openai' })).ask()

test('a text comes as deltas and as one part, with what it used', async (t) => {
  const { text, parts, done } = await answerTo(t, sayingIn('Hel', 'lo ', 'there'))
  t.is(text, 'Hello there')
  t.deepEqual(parts, [{ type: 'text', text: 'Hello there', metadata: { openai: { id: 'msg_0' } } }])
  t.deepEqual(done, { type: 'done', outcome: 'stop', usage: { input_tokens: 12, output_tokens: 5 } })
})

test('models-40: thoughts keep their ids and what is encrypted of them, and of what part of the answer a text is', async (t) => {
  const { parts, events } = await answerTo(
    t,
    answeringIn(
      thoughtItem(0, 'Z0FB', 'I look.', 'I see.'),
      thoughtItem(1, 'Z0FC'),
      thoughtItem(2, '', 'Of a server that encrypts nothing.'),
      item(
        3,
        { id: 'msg_3', type: 'message', phase: 'commentary' },
        { content: [{ type: 'output_text', text: 'Yes.' }] },
      ),
    ),
  )
  t.deepEqual(parts, [
    {
      type: 'reasoning',
      text: 'I look.\n\nI see.',
      metadata: { openai: { id: 'rs_0', encrypted_content: 'Z0FB', summary: ['I look.', 'I see.'] } },
    },
    { type: 'reasoning', text: '', metadata: { openai: { id: 'rs_1', encrypted_content: 'Z0FC' } } },
    { type: 'reasoning', text: 'Of a server that encrypts nothing.' },
    { type: 'text', text: 'Yes.', metadata: { openai: { id: 'msg_3', phase: 'commentary' } } },
  ])
  t.is(
    events.map((one) => (one.type === 'reasoning_delta' ? one.text : '')).join(''),
    'I look.\n\nI see.Of a server that encrypts nothing.',
  )
})

test('calls are put together of their pieces, in the order in which they began', async (t) => {
  const { parts, done } = await answerTo(
    t,
    answeringIn(
      textItem(0, 'I look.'),
      callItem(1, { id: 'call_1', name: 'read_file', input: '{"path":"ä.txt"}' }),
      callItem(2, { id: 'call_2', name: 'list_files', input: '' }),
      item(
        3,
        { type: 'function_call', call_id: 'call_3', name: 'peek' },
        {},
        piece(3, 'function_call_arguments', '{}'),
      ),
    ),
  )
  t.deepEqual(parts.slice(1), [
    {
      type: 'tool_call',
      id: 'call_1',
      name: 'read_file',
      input: { path: 'ä.txt' },
      metadata: { openai: { id: 'fc_1' } },
    },
    { type: 'tool_call', id: 'call_2', name: 'list_files', input: {}, metadata: { openai: { id: 'fc_2' } } },
    { type: 'tool_call', id: 'call_3', name: 'peek', input: {} },
  ])
  t.is(done?.outcome, 'tool_calls')
})

test('a call whose id is blank gets one, and an input that is no JSON is kept as it came', async (t) => {
  const { parts } = await answerTo(t, callingIn({ id: '', name: 'peek', input: '{"at":' }))
  t.like(parts[0], { type: 'tool_call', name: 'peek', input: {}, unparsed: '{"at":' })
  t.regex(parts[0]?.type === 'tool_call' ? parts[0].id : '', /^call_/u)
})

test('models-40: what a model refuses with is what it says, and servers may tell an item at its end alone', async (t) => {
  const refusal = item(
    0,
    { id: 'msg_0', type: 'message', content: [] },
    { content: [{ type: 'refusal', refusal: 'I do not.' }] },
    piece(0, 'refusal', 'I do'),
    piece(0, 'refusal', ' not.'),
  )
  const late = event('response.output_item.done', {
    output_index: 1,
    item: { type: 'message', content: [{ type: 'output_text', text: ' Never.' }] },
  })
  const { text, parts, done } = await answerTo(t, answeringIn(refusal, late))
  t.is(text, 'I do not. Never.')
  t.is(parts.map((part) => (part.type === 'text' ? part.text : '')).join(''), 'I do not. Never.')
  t.is(done?.outcome, 'stop')
  const untold = item(0, { type: 'message' }, { content: [] }, piece(0, 'refusal', 'No.'))
  t.deepEqual((await answerTo(t, answeringIn(untold))).parts, [{ type: 'text', text: 'No.' }])
})

test('why the model stopped decides what an answer is', async (t) => {
  const incomplete = (details: JsonObject | null, ...items: string[]): Reply =>
    stream(begun(), ...items, ended('incomplete', { incomplete_details: details }))
  const half =
    event('response.output_item.added', {
      output_index: 0,
      item: { id: 'fc_0', type: 'function_call', call_id: 'call_1', name: 'peek', arguments: '' },
    }) + piece(0, 'function_call_arguments', '{"at":')
  t.is(classOf(await answerTo(t, incomplete({ reason: 'max_output_tokens' }, half))), 'no failure but length')
  t.is(classOf(await answerTo(t, incomplete({ reason: 'of_later_times' }, half))), 'no failure but length')
  t.is(classOf(await answerTo(t, incomplete(null, textItem(0, 'So')))), 'no failure but length')
  t.is(classOf(await answerTo(t, incomplete({ reason: 'content_filter' }, textItem(0, 'So')))), 'bad_request final')
  t.is(classOf(await answerTo(t, answeringIn(half))), 'invalid_output retryable')
  const cut = event('response.output_item.done', {
    output_index: 0,
    item: { type: 'function_call', call_id: 'call_1', name: 'peek', arguments: '{}', status: 'incomplete' },
  })
  t.is(classOf(await answerTo(t, answeringIn(half, cut))), 'invalid_output retryable')
  t.is(classOf(await answerTo(t, incomplete({ reason: 'max_output_tokens' }, half, cut))), 'no failure but length')
})

test('models-40: what the provider had kept of the question and what was thought are told, whatever its numbers are', async (t) => {
  const usageOf = async (usage: JsonObject | null) => {
    const { done } = await answerTo(t, stream(textItem(0, 'So.'), ended('completed', { usage })))
    return done?.outcome === 'stop' ? done.usage : undefined
  }
  t.deepEqual(
    await usageOf({
      ...usual,
      input_tokens: 124,
      input_tokens_details: { cached_tokens: 100 },
      output_tokens_details: { reasoning_tokens: 3 },
    }),
    { input_tokens: 124, output_tokens: 5, cached_input_tokens: 100, reasoning_tokens: 3 },
  )
  t.deepEqual(await usageOf({ input_tokens: -4, output_tokens: 1.5, input_tokens_details: 7 }), {
    input_tokens: 0,
    output_tokens: 1,
  })
  t.deepEqual(await usageOf({ input_tokens: 'many', output_tokens: 1e300 }), { input_tokens: 0, output_tokens: 0 })
  t.deepEqual(await usageOf(null), { input_tokens: 0, output_tokens: 0 })
})

test('models-16: an answer that is cut anywhere before its end is cut, and acts on nothing', async (t) => {
  const reply = callingIn({ id: 'call_1', name: 'write_file', input: '{"path":"a","content":"ü"}' })
  const whole = bytesOf(reply.chunks)
  const lineEnd = whole.indexOf('\n\n', whole.indexOf('"response.completed"')) + 2
  for (let bytes = 1; bytes < lineEnd; bytes += 11) {
    const { parts, done } = await answerTo(t, { ...reply, cut: { bytes, how: 'end' } })
    t.deepEqual(parts, [], `${bytes} bytes`)
    t.like(done, { outcome: 'failed', failure: { class: 'truncated', retryable: true } }, `${bytes} bytes`)
  }
  t.is(classOf(await answerTo(t, { ...reply, cut: { bytes: lineEnd, how: 'destroy' } })), 'no failure but tool_calls')
})

test('a stream in drops of any size says the same', async (t) => {
  const reply = answeringIn(textItem(0, 'Grüße'), callItem(1, { id: 'call_1', name: 'p', input: '{"ä":1}' }))
  for (const drip_bytes of [1, 2, 7]) {
    const { parts } = await answerTo(t, { ...reply, drip_bytes })
    t.deepEqual(
      parts.map((part) => (part.type === 'tool_call' ? part.input : 'text' in part && part.text)),
      ['Grüße', { ä: 1 }],
    )
  }
})

test('models-16: what does not follow the protocol is no answer', async (t) => {
  const added = (output_index: any, one: any): string =>
    event('response.output_item.added', { output_index, item: one })
  const message = { type: 'message', content: [] }
  for (const [name, odd] of Object.entries({
    'no JSON': 'data: {oops\n\n',
    'a piece without its item': piece(7, 'output_text', 'x'),
    'a piece of another kind': added(3, message) + piece(3, 'function_call_arguments', '{}'),
    'a piece that is no text': event('response.output_text.delta', { output_index: 3, delta: 7 }),
    'a piece behind the end of its item': piece(0, 'output_text', 'x'),
    'a paragraph of a text': event('response.reasoning_summary_part.added', { output_index: 0 }),
    'an item that begins twice': textItem(0, 'again'),
    'an item that ends twice': event('response.output_item.done', { output_index: 0, item: message }),
    'an item that ends as another': added(3, message) + item(3, { type: 'reasoning' }, {}).split('\n\n')[1] + '\n\n',
    'an item that is none': added(3, 7),
    'an item without a place': added('3', message),
    'an item without an end': added(3, message),
    'a call without a name': item(3, { type: 'function_call', call_id: 'call_1' }, { arguments: '{}' }),
  }))
    t.is(classOf(await answerTo(t, answeringIn(textItem(0, 'So.'), odd))), 'invalid_output retryable', name)
})

test('models-16: what later versions may add is passed over', async (t) => {
  const { parts } = await answerTo(
    t,
    answeringIn(
      event('response.of_later_times', { output_index: 9, delta: 'x' }),
      event('keepalive'),
      item(0, { type: 'file_search_call', id: 'fs_0' }, { queries: [] }, event('response.file_search_call.searching')),
      item(
        1,
        { type: 'message' },
        { content: [{ type: 'output_text', text: 'So.' }, { type: 'of_later_times' }, 7] },
        event('response.output_text.annotation.added', { output_index: 1 }),
      ),
    ),
  )
  t.deepEqual(parts, [{ type: 'text', text: 'So.' }])
})

test('models-26: behind the end of the answer no text and no garbage counts, and behind [DONE] nothing does', async (t) => {
  const error = event('error', { code: 'server_error', message: 'Late', param: null })
  const done = 'data: [DONE]\n\n'
  for (const late of [textItem(5, 'late'), 'data: {oops\n\n', done, done + error, done + ended('failed')]) {
    const { parts, done: last } = await answerTo(t, stream(begun(), textItem(0, 'So.'), ended('completed') + late))
    t.deepEqual(
      parts.map((part) => (part.type === 'text' ? part.text : part)),
      ['So.'],
    )
    t.is(last?.outcome, 'stop')
  }
})

test('models-71: an answer whose server calls it failed, cancelled or incomplete is that, whatever event tells it', async (t) => {
  const says = (type: string, more: JsonObject): Reply =>
    stream(begun(), callItem(0, { id: 'x', name: 'f', input: '{}' }), ended(type, more))
  const error = { code: 'rate_limit_exceeded', message: 'Slow down.' }
  for (const [reply, expected] of [
    [says('completed', { status: 'failed', error }), 'rate_limited retryable'],
    [says('completed', { status: 'failed' }), 'overloaded retryable'],
    [says('completed', { status: 'cancelled' }), 'overloaded retryable'],
    [says('cancelled', {}), 'overloaded retryable'],
    [says('incomplete', { status: 'failed', error }), 'rate_limited retryable'],
    [says('incomplete', { status: 'completed' }), 'no failure but length'],
    [says('completed', {}), 'no failure but tool_calls'],
  ] as const)
    t.is(classOf(await answerTo(t, reply)), expected, JSON.stringify(reply))
})

test('models-72: items that stand at the end alone are the answer, and those that came before are not taken twice', async (t) => {
  const message = {
    id: 'msg_0',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'So.', annotations: [] }],
  }
  const called = {
    id: 'fc_1',
    type: 'function_call',
    call_id: 'x',
    name: 'f',
    arguments: '{"a":1}',
    status: 'completed',
  }
  const whole = await answerTo(t, stream(begun(), ended('completed', { output: [message, called] })))
  t.deepEqual([whole.text, whole.done?.outcome], ['So.', 'tool_calls'])
  t.like(whole.parts[1], { type: 'tool_call', id: 'x', name: 'f', input: { a: 1 } })
  t.deepEqual(
    whole.events.flatMap((one) => (one.type === 'text_delta' ? [one.text] : [])),
    ['So.'],
  )
  const cut = { output: [{ ...message, status: 'incomplete' }], incomplete_details: { reason: 'max_output_tokens' } }
  t.like(await answerTo(t, stream(begun(), ended('incomplete', cut))), { text: 'So.', done: { outcome: 'length' } })
  const twice = await answerTo(
    t,
    stream(begun(), textItem(0, 'So.'), ended('completed', { output: [message, called] })),
  )
  t.deepEqual([twice.text, twice.done?.outcome], ['So.', 'stop'])
  const odd = await answerTo(t, stream(begun(), ended('completed', { output: [7] })))
  t.is(classOf(odd), 'invalid_output retryable')
})

test('models-19: an error in the stream ends the answer, and says what the server said', async (t) => {
  const flat = (code: string, message: string): Reply =>
    stream(begun(), textItem(0, 'half'), event('error', { code, message, param: null }))
  const within = (type: string, code: string, message: string): Reply =>
    stream(begun(), event('error', { error: { type, code, message, param: null } }))
  const failed = (code: string, message: string): Reply =>
    stream(begun(), textItem(0, 'half'), ended('failed', { error: { code, message } }))
  const answer = await answerTo(t, failed('server_error', 'The model failed.'))
  t.is(classOf(answer), 'overloaded retryable')
  t.regex(failureOf(answer)?.message ?? '', /It said: "The model failed\."/u)
  t.deepEqual(answer.parts, [])
  t.deepEqual(answer.done?.outcome === 'failed' ? answer.done.usage : undefined, { input_tokens: 12, output_tokens: 5 })
  for (const [reply, expected] of [
    [flat('server_error', 'Sorry.'), 'overloaded retryable'],
    [flat('rate_limit_exceeded', 'Slow down.'), 'rate_limited retryable'],
    [failed('rate_limit_exceeded', 'Rate limit reached for gpt-5.4 in organization org-1.'), 'rate_limited retryable'],
    [failed('insufficient_quota', 'You exceeded your current quota.'), 'rate_limited final'],
    [failed('invalid_prompt', 'Invalid prompt: it was flagged.'), 'bad_request final'],
    [failed('context_length_exceeded', 'Your input exceeds the context window.'), 'context_length final'],
    [within('invalid_request_error', 'invalid_value', 'Odd.'), 'bad_request final'],
    [within('insufficient_quota', 'insufficient_quota', 'You exceeded your current quota.'), 'rate_limited final'],
    [stream(begun(), ended('failed')), 'overloaded retryable'],
    [stream(begun(), event('error')), 'overloaded retryable'],
  ] as const)
    t.is(classOf(await answerTo(t, reply)), expected, JSON.stringify(reply))
})

test('models-19: what a status says is told by what can be done about it', async (t) => {
  const refusal = (status: number, type: string, code: string | null, message: string): Reply => ({
    type: 'status',
    status,
    headers: { 'retry-after-ms': '7000', 'x-request-id': 'req_1' },
    body: JSON.stringify({ error: { message, type, param: null, code } }),
  })
  const invalid = 'invalid_request_error'
  for (const [status, type, code, message, expected] of [
    [401, invalid, 'invalid_api_key', 'Incorrect API key provided: sk-no***nono.', 'auth final'],
    [403, 'request_forbidden', 'unsupported_country_region_territory', 'Country not supported', 'auth final'],
    [404, invalid, 'model_not_found', 'The model `gpt-nobody` does not exist.', 'bad_request final'],
    [400, invalid, 'model_not_found', 'The requested model does not exist.', 'bad_request final'],
    [400, invalid, 'context_length_exceeded', 'Your input exceeds the context window.', 'context_length final'],
    [400, invalid, null, "Unsupported parameter: 'temperature' is not supported.", 'bad_request final'],
    [400, invalid, 'invalid_encrypted_content', 'The encrypted content could not be verified.', 'bad_request final'],
    [
      429,
      'tokens',
      'rate_limit_exceeded',
      'Rate limit reached for gpt-5.4. Try again in 7s.',
      'rate_limited retryable',
    ],
    [429, 'insufficient_quota', 'insufficient_quota', 'You exceeded your current quota.', 'rate_limited final'],
    [500, 'server_error', null, 'The server had an error while processing your request.', 'overloaded retryable'],
    [503, 'service_unavailable_error', 'server_is_overloaded', 'Overloaded. Try later.', 'overloaded retryable'],
  ] as const) {
    const answer = await answerTo(t, refusal(status, type, code, message))
    t.is(classOf(answer), expected, `${status} ${message}`)
    t.is(failureOf(answer)?.retry_after_ms, expected.endsWith('retryable') ? 7_000 : undefined)
  }
})
