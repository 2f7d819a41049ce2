import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { callingGemini, callPart, content, ending, sayingGemini } from '../../../support/google-server.js'
import { classOf, converseWith, failureOf, transport } from '../../../support/model-client.js'
import { bytesOf, stream, type Chunk, type Reply } from '../../../support/openai-server.js'

test.after.always(() => transport.close())

const answerTo = async (t: ExecutionContext, reply: Reply) => (await converseWith(t, reply, { spoken: 'google' })).ask()

/** An answer of these events, whose model then ended. */
const answering = (...events: Chunk[]): Reply => stream(...events, ending('STOP'))
const peek = callPart({ id: 'a', name: 'peek', input: '{}' })

test('a text comes as deltas and as one part, with what it used', async (t) => {
  const { text, parts, done, events } = await answerTo(t, sayingGemini('Hel', 'lo ', 'there'))
  t.is(text, 'Hello there')
  t.deepEqual(parts, [{ type: 'text', text: 'Hello there' }])
  t.deepEqual(done, { type: 'done', outcome: 'stop', usage: { input_tokens: 12, output_tokens: 5 } })
  const deltas = events.flatMap((one) => (one.type === 'text_delta' ? [one.text] : []))
  t.is(deltas.join(''), 'Hello there')
})

test('models-41: thoughts are known as such, and each signature stays with its own part', async (t) => {
  const { parts, events } = await answerTo(
    t,
    answering(
      content({ text: 'Let me ', thought: true }, { text: 'see.', thought: true }),
      content({ text: 'Signed.', thought: true, thoughtSignature: 'dGg=' }),
      content({ text: 'More.', thought: true }),
      content({ text: 'Y' }, { text: 'es.' }, { text: '', thoughtSignature: 'dHh0' }),
      content({ text: 'An' }),
      content({ text: 'd.', thoughtSignature: 'ZW5k' }),
      content({ thoughtSignature: 'YWxvbmU=' }),
    ),
  )
  const signed = (thoughtSignature: string) => ({ metadata: { google: { thoughtSignature } } })
  t.deepEqual(parts, [
    { type: 'reasoning', text: 'Let me see.', metadata: { google: { thought: true } } },
    { type: 'reasoning', text: 'Signed.', metadata: { google: { thought: true, thoughtSignature: 'dGg=' } } },
    { type: 'reasoning', text: 'More.', metadata: { google: { thought: true } } },
    { type: 'text', text: 'Yes.' },
    { type: 'text', text: '', ...signed('dHh0') },
    { type: 'text', text: 'An' },
    { type: 'text', text: 'd.', ...signed('ZW5k') },
    { type: 'text', text: '', ...signed('YWxvbmU=') },
  ])
  const thoughts = events.flatMap((one) => (one.type === 'reasoning_delta' ? [one.text] : []))
  t.is(thoughts.join(''), 'Let me see.Signed.More.')
})

test('models-41: calls come whole and signed; one without an id is given one', async (t) => {
  const { parts, done } = await answerTo(
    t,
    stream(
      content(
        { text: 'I look.' },
        { ...callPart({ id: 'c1', name: 'read_file', input: '{"path":"ä.txt"}' }), thoughtSignature: 'c2ln' },
        callPart({ id: '', name: 'list_files', input: '{}' }),
      ),
      ending('STOP', [{ functionCall: { name: ' peek ' } }, { functionCall: { id: 'c4', name: 'peek', args: [1] } }]),
    ),
  )
  const ids = parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []))
  t.is(new Set(ids).size, 4)
  t.true(ids.every((id) => id !== ''))
  t.deepEqual(
    parts.map((part) => (part.type === 'tool_call' ? { ...part, id: '' } : part)),
    [
      { type: 'text', text: 'I look.' },
      {
        type: 'tool_call',
        id: '',
        name: 'read_file',
        input: { path: 'ä.txt' },
        metadata: { google: { thoughtSignature: 'c2ln' } },
      },
      { type: 'tool_call', id: '', name: 'list_files', input: {} },
      { type: 'tool_call', id: '', name: 'peek', input: {} },
      { type: 'tool_call', id: '', name: 'peek', input: [1] },
    ],
  )
  t.deepEqual([ids[0], ids[3]], ['c1', 'c4'])
  t.is(done?.outcome, 'tool_calls')
})

test('models-27: an input that is too deep is kept as it came, and the call is not made of it', async (t) => {
  const deep = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`
  const { parts } = await answerTo(t, answering(content(callPart({ id: 'a', name: 'peek', input: deep }))))
  t.deepEqual(parts, [{ type: 'tool_call', id: 'a', name: 'peek', input: {}, unparsed: deep }])
})

test('models-41: why the model stopped decides what an answer is', async (t) => {
  const outcomeOf = async (reason: string, ...parts: JsonObject[]) =>
    classOf(await answerTo(t, stream(content(...parts), ending(reason))))
  for (const [outcome, ...reasons] of [
    ['no failure but stop', 'STOP'],
    ['no failure but other', 'OTHER', 'NO_IMAGE', 'OF_LATER_TIMES'],
    ['no failure but length', 'MAX_TOKENS', 'CONTINUATION'],
    ['bad_request final', 'SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
    ['bad_request final', 'IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'],
    ['invalid_output retryable', 'MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL'],
    ['invalid_output retryable', 'TOO_MANY_TOOL_CALLS', 'MISSING_THOUGHT_SIGNATURE'],
    ['truncated retryable', 'FINISH_REASON_UNSPECIFIED', ''],
  ] as const)
    for (const reason of reasons) t.is(await outcomeOf(reason, { text: 'So.' }), outcome, reason)
  t.is(await outcomeOf('STOP', peek), 'no failure but tool_calls')
  t.is(await outcomeOf('MAX_TOKENS', peek), 'no failure but length')
  t.is(await outcomeOf('OTHER', peek), 'invalid_output retryable')
  t.is(await outcomeOf('OF_LATER_TIMES', peek), 'invalid_output retryable')
  const malformed = await answerTo(t, stream(content(peek), ending('MALFORMED_FUNCTION_CALL')))
  t.deepEqual(malformed.parts, [])
  t.regex(failureOf(malformed)?.message ?? '', /ended with MALFORMED_FUNCTION_CALL\./u)
  t.like(malformed.done, { usage: { input_tokens: 12 } })
})

test('models-41: a question that the vendor blocks has no answer', async (t) => {
  const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 9 } }
  const answer = await answerTo(t, stream(blocked))
  t.is(classOf(answer), 'bad_request final')
  t.regex(failureOf(answer)?.message ?? '', /content filter of the provider/u)
  t.like(answer.done, { usage: { input_tokens: 9, output_tokens: 0 } })
  t.is(classOf(await answerTo(t, answering({ ...content(peek), ...blocked }))), 'bad_request final')
  const passed = { promptFeedback: { safetyRatings: [] } }
  t.is(classOf(await answerTo(t, answering(passed, content({ text: 'So.' })))), 'no failure but stop')
})

test('models-41: thoughts count as output, and the last number that is told holds', async (t) => {
  const usageOf = async (...told: JsonObject[]) => {
    const events = told.map((usageMetadata) => ({ usageMetadata }))
    const { done } = await answerTo(t, stream(...events, ending('STOP', [{ text: 'So.' }], {})))
    return done?.outcome === 'stop' ? done.usage : undefined
  }
  t.deepEqual(
    await usageOf(
      { promptTokenCount: 100, thoughtsTokenCount: 10, totalTokenCount: 110 },
      { promptTokenCount: 120, cachedContentTokenCount: 80, toolUsePromptTokenCount: 4 },
      { candidatesTokenCount: 7, thoughtsTokenCount: 30 },
    ),
    { input_tokens: 124, output_tokens: 37, cached_input_tokens: 80, reasoning_tokens: 30 },
  )
  t.deepEqual(
    await usageOf({ promptTokenCount: '9', candidatesTokenCount: -4, thoughtsTokenCount: null, other: { a: 1 } }),
    { input_tokens: 0, output_tokens: 0 },
  )
  t.deepEqual(await usageOf({ promptTokenCount: 1e300, candidatesTokenCount: 2.9 }), {
    input_tokens: 0,
    output_tokens: 2,
  })
})

test('models-16: an answer that is cut anywhere before the model ended is cut, and acts on nothing', async (t) => {
  const reply = callingGemini({ id: 'c1', name: 'write_file', input: '{"path":"a","content":"ü"}' })
  const whole = bytesOf(reply.chunks)
  const lineEnd = whole.indexOf('\n\n', whole.indexOf('"finishReason":"STOP"')) + 2
  for (let bytes = 1; bytes < lineEnd; bytes += 7) {
    const { parts, done } = await answerTo(t, { ...reply, cut: { bytes, how: 'end' } })
    t.deepEqual(parts, [], `${bytes} bytes`)
    t.like(done, { outcome: 'failed', failure: { class: 'truncated', retryable: true } }, `${bytes} bytes`)
  }
  t.is(classOf(await answerTo(t, { ...reply, cut: { bytes: lineEnd - 1, how: 'destroy' } })), 'truncated retryable')
  t.is(classOf(await answerTo(t, { ...reply, cut: { bytes: lineEnd, how: 'destroy' } })), 'no failure but tool_calls')
})

test('a stream in drops of any size says the same', async (t) => {
  const reply = stream(
    content({ text: 'Grü' }),
    content({ text: 'ße' }, callPart({ id: 'c1', name: 'p', input: '{"ä":1}' })),
    ending('STOP'),
  )
  for (const drip_bytes of [1, 2, 7]) {
    const { parts } = await answerTo(t, { ...reply, drip_bytes })
    t.deepEqual(
      parts.map((part) => (part.type === 'tool_call' ? part.input : 'text' in part && part.text)),
      ['Grüße', { ä: 1 }],
    )
  }
})

const odd: Record<string, Chunk> = {
  'no JSON': 'data: {oops\n\n',
  'no object': 'data: [1]\n\n',
  'candidates that are none': { candidates: 7 },
  'a candidate that is none': { candidates: ['x'] },
  'content that is none': { candidates: [{ content: 'x' }] },
  'parts that are none': { candidates: [{ content: { parts: 'x' } }] },
  'a part that is none': { candidates: [{ content: { parts: [7] } }] },
  'a text that is none': content({ text: 7 }),
  'a call that is none': content({ functionCall: 'peek' }),
  'a call without a name': content({ functionCall: { id: 'a', args: {} } }),
  'a call in pieces': content({ functionCall: { id: 'a', name: 'peek', willContinue: true } }),
  'a piece of a call': content({
    functionCall: { id: 'a', name: 'peek', partialArgs: [{ jsonPath: '$.at', numberValue: 1 }] },
  }),
}

test('models-16: what does not follow the protocol is no answer', async (t) => {
  for (const [name, event] of Object.entries(odd)) {
    const answer = await answerTo(t, answering(content({ text: 'So.' }), event))
    t.is(classOf(answer), 'invalid_output retryable', name)
    t.deepEqual(answer.parts, [])
  }
})

test('models-41: what later versions may add is passed over', async (t) => {
  const { parts } = await answerTo(
    t,
    answering(
      { of_later_times: { at: 1 } },
      ': a comment\n\n',
      content({ inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 'aW1n' }),
      content({ executableCode: { code: '1' } }, { functionCall: null, text: 'So' }, {}),
      { candidates: [{ content: { parts: [{ text: 'of another answer' }] }, finishReason: 'SAFETY', index: 1 }] },
      { candidates: [], usageMetadata: 7, error: null },
      { candidates: [{ content: { role: 'model' }, safetyRatings: [], index: 0 }] },
      { candidates: null, promptFeedback: null },
      { candidates: [{ content: null }] },
      content({ text: '.', later: true }),
    ),
  )
  t.deepEqual(parts, [{ type: 'text', text: 'So.' }])
})

test('models-26: behind the end of the model no text, thought or call counts, but an error does', async (t) => {
  const late = [content({ text: 'late' }), 'data: {oops\n\n', content(peek), ending('OTHER')]
  const behind = (...events: Chunk[]): Reply => stream(content({ text: 'So.' }), ending('STOP'), ...events)
  const { parts, done } = await answerTo(t, behind(...late, { usageMetadata: { candidatesTokenCount: 8 } }))
  t.deepEqual(parts, [{ type: 'text', text: 'So.' }])
  t.like(done, { outcome: 'stop', usage: { output_tokens: 8 } })
  const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
  t.is(classOf(await answerTo(t, behind(error))), 'overloaded retryable')
})

test('models-19: an error in the stream ends the answer, and says what the server said', async (t) => {
  const broken = (error: JsonObject | string): Reply => stream(content({ text: 'half' }), { error })
  const answer = await answerTo(t, broken({ code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' }))
  t.is(classOf(answer), 'overloaded retryable')
  t.regex(failureOf(answer)?.message ?? '', /It said: "The model is overloaded\."/u)
  t.deepEqual(answer.parts, [])
  for (const [error, expected] of [
    [{ code: 500, message: 'An internal error has occurred.', status: 'INTERNAL' }, 'overloaded retryable'],
    [
      { message: 'Resource has been exhausted (e.g. check quota).', status: 'RESOURCE_EXHAUSTED' },
      'rate_limited retryable',
    ],
    [{ code: 14, message: 'later', status: 'UNAVAILABLE' }, 'overloaded retryable'],
    [{ message: 'no', status: 'INVALID_ARGUMENT' }, 'bad_request final'],
    [{ message: 'no', status: 'PERMISSION_DENIED' }, 'auth final'],
    [{ message: 'no', status: 'OF_LATER_TIMES' }, 'overloaded retryable'],
    ['no', 'overloaded retryable'],
  ] as const)
    t.is(classOf(await answerTo(t, broken(error))), expected, JSON.stringify(error))
})

type Refused = readonly [code: number, status: string, message: string, ...details: JsonObject[]]

/** What Google answers, shortened in what is the same in each. */
const refusal = (...[code, status, message, ...details]: Refused): Reply => ({
  type: 'status',
  status: code,
  body: JSON.stringify({ error: { code, message, status, details } }, undefined, 2),
})
const info = (reason: string): JsonObject => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason,
  domain: 'googleapis.com',
  metadata: { service: 'generativelanguage.googleapis.com' },
})
const exceeded = (quotaId: string): JsonObject => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [{ quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests', quotaId }],
})
const retry = (retryDelay: string): JsonObject => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
})
const quota = 'You exceeded your current quota, please check your plan and billing details. Please retry in 26.07s.'

test('models-19: what a status says is told by what can be done about it', async (t) => {
  const rows: readonly (readonly [expected: string, ...refused: Refused])[] = [
    ['auth final', 400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', info('API_KEY_INVALID')],
    ['auth final', 400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.', info('API_KEY_INVALID')],
    ['auth final', 403, 'PERMISSION_DENIED', 'Method doesn’t allow unregistered callers.'],
    [
      'context_length final',
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
    ],
    ['bad_request final', 400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.'],
    ['bad_request final', 404, 'NOT_FOUND', 'models/test-model is not found for API version v1beta.'],
    ['rate_limited retryable', 429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'],
    ['rate_limited final', 429, 'RESOURCE_EXHAUSTED', quota],
    ['overloaded retryable', 500, 'INTERNAL', 'An internal error has occurred.'],
    ['overloaded retryable', 503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'],
    ['overloaded retryable', 504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'],
  ]
  for (const [expected, ...refused] of rows) t.is(classOf(await answerTo(t, refusal(...refused))), expected, refused[2])
})

test('models-41: a limit of a minute is waited for as long as the vendor says, one of a day is not', async (t) => {
  const limit = (quotaId: string, delay: string) =>
    refusal(429, 'RESOURCE_EXHAUSTED', quota, exceeded(quotaId), retry(delay))
  const minute = await answerTo(t, limit('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', '26.074824224s'))
  t.is(classOf(minute), 'rate_limited retryable')
  t.is(failureOf(minute)?.retry_after_ms, 26_075)
  const day = await answerTo(t, limit('GenerateRequestsPerDayPerProjectPerModel-FreeTier', '26s'))
  t.is(classOf(day), 'rate_limited final')
  t.is(failureOf(day)?.retry_after_ms, undefined)
  const streamed = { code: 429, message: quota, status: 'RESOURCE_EXHAUSTED', details: [retry('3s')] }
  t.is(failureOf(await answerTo(t, stream({ error: streamed })))?.retry_after_ms, 3_000)
})
