import test, { type ExecutionContext } from 'ava'
import type { AssistantPart, ModelMessage, ModelRequest } from '../../../../plugins/execution/models/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { callingGemini, content, ending, sayingGemini } from '../../../support/google-server.js'
import { connectTo, converseWith, transport } from '../../../support/model-client.js'
import { requestOf, resultsOf, userText } from '../../../support/models.js'
import { stream, type Reply } from '../../../support/openai-server.js'
import { codeOf, openSession } from '../../../support/runs.js'

test.after.always(() => transport.close())

const converse = (t: ExecutionContext, reply: Reply = sayingGemini('So.')) =>
  converseWith(t, reply, { spoken: 'google', api_key: 'k-1' })

/** What the server is sent for a request. */
const sent = async (t: ExecutionContext, request: ModelRequest): Promise<any> => {
  const { server, ask } = await converse(t)
  await ask(request)
  return { ...server.asked[0], body: server.asked[0]?.body }
}

const gemini = (model: string, more: Partial<ModelRequest> = {}): ModelRequest =>
  requestOf([userText('hi')], { model, ...more })

test('models-41: a question goes to its model with the key in a header', async (t) => {
  const { path, headers, body } = await sent(t, requestOf([userText('one'), userText('two')], { model: 'gemini-9' }))
  t.is(path, '/v1/models/gemini-9:streamGenerateContent?alt=sse')
  t.like(headers, { 'x-goog-api-key': 'k-1', authorization: undefined })
  t.deepEqual(body, {
    systemInstruction: { parts: [{ text: 'You are a test.' }] },
    generationConfig: {},
    contents: [
      { role: 'user', parts: [{ text: 'one' }] },
      { role: 'user', parts: [{ text: 'two' }] },
    ],
  })
  t.deepEqual((await sent(t, gemini('m', { system: '' }))).body, {
    generationConfig: {},
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  })
})

test('models-41: whatever a model is called, the question goes nowhere else', async (t) => {
  const { server, ask } = await converse(t)
  for (const [model, path] of [
    ['models/gemini-9', '/v1/models/gemini-9:'],
    ['tunedModels/mine-1', '/v1/tunedModels/mine-1:'],
    ['../../files?x=#', '/v1/models/..%2F..%2Ffiles%3Fx%3D%23:'],
    ['models/../files', '/v1/models/..%2Ffiles:'],
    ['ä\ud800 b', '/v1/models/%C3%A4%EF%BF%BD%20b:'],
  ] as const) {
    await ask(gemini(model))
    t.is(server.asked.at(-1)?.path, `${path}streamGenerateContent?alt=sse`)
  }
})

const assistant = (...parts: AssistantPart[]): ModelMessage => ({ role: 'assistant', content: parts })

test('models-41: a conversation goes back as it came: own thoughts and signatures, calls with their results', async (t) => {
  const messages: ModelMessage[] = [
    userText('Look.'),
    assistant(
      { type: 'reasoning', text: 'Hm.', metadata: { google: { thought: true } } },
      { type: 'reasoning', text: 'So?', metadata: { google: { thought: true, thoughtSignature: 'dGg=' } } },
      { type: 'reasoning', text: 'of another provider', metadata: { anthropic: { signature: 'c2ln' } } },
      { type: 'text', text: '' },
      { type: 'text', text: 'I look.', metadata: { other: { thoughtSignature: 'no' } } },
      {
        type: 'tool_call',
        id: 'a',
        name: 'peek',
        input: { at: 1 },
        metadata: { google: { thoughtSignature: 'c2ln' } },
      },
      { type: 'tool_call', id: 'b', name: 'peek', input: [1] },
    ),
    {
      role: 'tool',
      content: [
        { type: 'tool_result', tool_call_id: 'a', name: 'peek', output: { seen: true }, is_error: false },
        { type: 'tool_result', tool_call_id: 'b', name: 'peek', output: 'no', is_error: true },
      ],
    },
    assistant({ type: 'text', text: '' }),
    assistant({ type: 'text', text: '', metadata: { google: { thoughtSignature: 'ZW5k' } } }),
    { role: 'user', content: [{ type: 'text', text: '' }] },
    userText('And?'),
  ]
  const { body } = await sent(t, requestOf(messages))
  t.deepEqual(body.contents, [
    { role: 'user', parts: [{ text: 'Look.' }] },
    {
      role: 'model',
      parts: [
        { text: 'Hm.', thought: true },
        { text: 'So?', thought: true, thoughtSignature: 'dGg=' },
        { text: 'I look.' },
        { functionCall: { id: 'a', name: 'peek', args: { at: 1 } }, thoughtSignature: 'c2ln' },
        { functionCall: { id: 'b', name: 'peek', args: { value: [1] } } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'peek', response: { output: { seen: true } } } },
        { functionResponse: { id: 'b', name: 'peek', response: { error: 'no' } } },
      ],
    },
    { role: 'model', parts: [{ text: '', thoughtSignature: 'ZW5k' }] },
    { role: 'user', parts: [{ text: 'And?' }] },
  ])
})

test('models-41: models that want calls signed are told of those that others made, also in the midst of a conversation', async (t) => {
  const { server, ask } = await converse(t)
  const call = (id: string): AssistantPart => ({ type: 'tool_call', id, name: 'peek', input: {} })
  const signed = (id: string): AssistantPart => ({
    ...call(id),
    metadata: { google: { thoughtSignature: 'c2ln' } },
  })
  const steps = [
    [{ type: 'text', text: 'So.' } as const, call('a'), call('b')],
    [signed('c'), call('d')],
  ]
  const messages = [userText('Look.'), ...steps.flatMap((step) => [assistant(...step), resultsOf(step)])]
  const signaturesFor = async (model: string): Promise<unknown[]> => {
    await ask(requestOf(messages, { model }))
    const contents: any = server.asked.at(-1)?.body['contents']
    return contents.flatMap(({ parts }: any) =>
      parts.flatMap((part: any) => (part.functionCall === undefined ? [] : [part.thoughtSignature])),
    )
  }
  const none = [undefined, undefined, 'c2ln', undefined]
  const stood = ['skip_thought_signature_validator', undefined, 'c2ln', undefined]
  t.deepEqual(await signaturesFor('gemini-2.5-pro'), none)
  t.deepEqual(await signaturesFor('gemini-3.1-pro-preview'), stood)
  t.deepEqual(await signaturesFor('models/gemini-flash-latest'), stood)
  t.deepEqual(await signaturesFor('gemini-2.5-pro'), none)
  for (const model of ['gemini-2.0-flash', 'gemini-1.5-pro', 'gemini-pro', 'gemma-3-27b-it', 'test-model'])
    t.deepEqual(await signaturesFor(model), none, model)
})

test('models-41: what an answer leaves in the conversation is what the next question has of it', async (t) => {
  const parts = [
    [{ text: 'Let me ', thought: true }],
    [{ text: 'see.', thought: true }],
    [{ text: 'I ' }, { text: 'look.' }],
    [{ text: '', thoughtSignature: 'dHh0' }],
    [{ functionCall: { id: 'a', name: 'peek', args: { at: 1 } }, thoughtSignature: 'c2ln' }],
  ]
  const { server, ask } = await converse(t, stream(...parts.map((some) => content(...some)), ending('STOP')))
  const messages = [userText('Look.')]
  const answer = await ask(requestOf(messages))
  await ask(requestOf([...messages, assistant(...answer.parts), resultsOf(answer.parts)]))
  const contents: any = server.asked[1]?.body['contents']
  t.deepEqual(contents[1], {
    role: 'model',
    parts: [
      { text: 'Let me see.', thought: true },
      { text: 'I look.' },
      { text: '', thoughtSignature: 'dHh0' },
      { functionCall: { id: 'a', name: 'peek', args: { at: 1 } }, thoughtSignature: 'c2ln' },
    ],
  })
})

test('models-41: tools, and which of them must be called, are said in the words of the protocol', async (t) => {
  const tools = [{ name: 'peek', description: 'Looks.', parameters: { type: 'object' } }]
  const configOf = async (generation: ModelRequest['generation']) =>
    (await sent(t, gemini('m', { tools, generation }))).body.toolConfig?.functionCallingConfig
  const { body } = await sent(t, gemini('m', { tools }))
  t.deepEqual(body.tools, [
    { functionDeclarations: [{ name: 'peek', description: 'Looks.', parametersJsonSchema: { type: 'object' } }] },
  ])
  t.is(body.toolConfig, undefined)
  t.deepEqual(await configOf({ tool_choice: { type: 'auto' } }), { mode: 'AUTO' })
  t.deepEqual(await configOf({ tool_choice: { type: 'none' } }), { mode: 'NONE' })
  t.deepEqual(await configOf({ tool_choice: { type: 'required' } }), { mode: 'ANY' })
  t.deepEqual(await configOf({ tool_choice: { type: 'specific', name: 'peek' } }), {
    mode: 'ANY',
    allowedFunctionNames: ['peek'],
  })
})

test('models-41: where a turn may call one tool only, the first call of an answer counts', async (t) => {
  const { ask } = await converse(
    t,
    callingGemini({ id: 'a', name: 'peek', input: '{}' }, { id: 'b', name: 'poke', input: '{}' }),
  )
  const callsOf = async (generation: ModelRequest['generation']) =>
    (await ask(gemini('m', { generation }))).parts.flatMap((part) => (part.type === 'tool_call' ? [part.name] : []))
  t.deepEqual(await callsOf({ allow_parallel_tool_calls: false }), ['peek'])
  t.deepEqual(await callsOf({ allow_parallel_tool_calls: true }), ['peek', 'poke'])
  t.deepEqual(await callsOf({}), ['peek', 'poke'])
})

test('models-41: how much a model thinks is said as its generation of models takes it', async (t) => {
  const configOf = async (model: string, generation: ModelRequest['generation']) =>
    (await sent(t, gemini(model, { generation }))).body.generationConfig
  const high = { reasoning: { effort: 'high' } } as const
  t.deepEqual(await configOf('gemini-3-flash-preview', high), {
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'high' },
  })
  t.deepEqual(await configOf('gemini-2.5-flash', high), {
    thinkingConfig: { includeThoughts: true, thinkingBudget: 24_576 },
  })
  t.deepEqual(await configOf('gemini-3-flash-preview', { reasoning: { effort: 'minimal' } }), {
    thinkingConfig: { includeThoughts: true, thinkingLevel: 'minimal' },
  })
  for (const model of ['gemini-3-flash-preview', 'gemini-2.5-flash']) {
    t.deepEqual(await configOf(model, { reasoning: { effort: 'none' } }), { thinkingConfig: { thinkingBudget: 0 } })
    t.deepEqual(await configOf(model, { reasoning: { budget_tokens: 700, effort: 'low' } }), {
      thinkingConfig: { includeThoughts: true, thinkingBudget: 700 },
    })
  }
})

test('models-41: a limit is one of the answer beside its thoughts, and the form of it is a schema', async (t) => {
  const configOf = async (model: string, generation: ModelRequest['generation']) =>
    (await sent(t, gemini(model, { generation }))).body.generationConfig
  const limitOf = async (max_output_tokens: number, budget_tokens?: number) =>
    (await configOf('gemini-2.5-pro', { max_output_tokens, ...(budget_tokens && { reasoning: { budget_tokens } }) }))
      .maxOutputTokens
  t.is(await limitOf(1_000), 1_000)
  t.is(await limitOf(1_000, 8_192), 9_192)
  t.is(await limitOf(60_000, 8_192), 65_536)
  t.is(await limitOf(70_000, 8_192), 70_000)
  const schema = { type: 'object', properties: {} }
  t.deepEqual(await configOf('m', { response_format: { type: 'structured_json', schema }, temperature: 0 }), {
    temperature: 0,
    responseMimeType: 'application/json',
    responseJsonSchema: schema,
  })
  t.deepEqual(await configOf('m', { response_format: { type: 'text' } }), {})
})

test('models-41: a server of one’s own may need no key', (t) => {
  t.is(connectTo('http://127.0.0.1:9/v1', { spoken: 'google' }).readiness().state, 'ok')
})

test('models-41: without a key no run of the vendor’s own server begins', async (t) => {
  const daemon = await startTestDaemon(t, { flags: { provider: 'google' } })
  await openSession(daemon)
  const [route] = (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes
  t.like(route, { provider: 'google', model: 'gemini-2.5-flash', state: 'error', code: 'credential_missing' })
  t.is(route.message, 'The provider google needs a key, and none is given.')
  const refused = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hi' })
  t.deepEqual(codeOf(refused), [400, 'route_not_ready'])
})

test('models-41: how thoughts are summed up cannot be said, and is refused', async (t) => {
  const { server } = await converse(t)
  const flags = { provider: 'google', 'provider-base-url': server.url, model: 'm' }
  const daemon = await startTestDaemon(t, { flags })
  await openSession(daemon)
  const refused = await daemon.request('POST', '/v1/sessions/s1/runs', {
    content: 'hi',
    generation: { reasoning: { summary: 'auto' } },
  })
  t.deepEqual(codeOf(refused), [400, 'generation_unsupported'])
})

test('models-41: the vendor has models whose names begin with gemini', async (t) => {
  const stateOf = async (model: string): Promise<unknown> => {
    const daemon = await startTestDaemon(t, { flags: { provider: 'google', 'api-key': 'k', model } })
    return (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes[0].code
  }
  t.is(await stateOf('gpt-5.4'), 'model_family_mismatch')
  t.is(await stateOf('models/gemini-2.5-pro'), 'ready')
})
