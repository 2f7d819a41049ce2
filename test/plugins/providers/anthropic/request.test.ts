import test, { type ExecutionContext } from 'ava'
import type { ModelMessage, ModelRequest } from '../../../../plugins/execution/models/contract.js'
import { sayingAs } from '../../../support/anthropic-server.js'
import { connectTo, converseWith, transport } from '../../../support/model-client.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { requestOf, userText } from '../../../support/models.js'
import { codeOf, openSession } from '../../../support/runs.js'

test.after.always(() => transport.close())

const cached = { type: 'ephemeral' }

/** What the server is sent for a request. */
const sent = async (t: ExecutionContext, request: ModelRequest, api_key = 'k-1'): Promise<any> => {
  const { server, ask } = await converseWith(t, sayingAs('So.'), { spoken: 'anthropic', api_key })
  await ask(request)
  return { ...server.asked[0], body: server.asked[0]?.body }
}

test('models-36: a question goes to /messages with the key and the version, and its beginning is kept by the provider', async (t) => {
  const { path, headers, body } = await sent(t, requestOf([userText('one'), userText('two')], { model: 'claude-x-9' }))
  t.is(path, '/v1/messages')
  t.like(headers, { 'x-api-key': 'k-1', 'anthropic-version': '2023-06-01', authorization: undefined })
  t.deepEqual(body, {
    model: 'claude-x-9',
    max_tokens: 64_000,
    system: [{ type: 'text', text: 'You are a test.', cache_control: cached }],
    stream: true,
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'one' }] },
      { role: 'user', content: [{ type: 'text', text: 'two', cache_control: cached }] },
    ],
  })
})

test('models-36: a conversation goes back as it came: thoughts with signatures, calls with their results', async (t) => {
  const messages: ModelMessage[] = [
    userText('Look.'),
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', metadata: { anthropic: { signature: 'c2ln' } } },
        { type: 'reasoning', text: '', metadata: { anthropic: { redacted: 'aGlk' } } },
        { type: 'reasoning', text: 'of another provider' },
        { type: 'text', text: ' \n' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_call', id: 'call:1/x', name: 'peek', input: { at: 1 } },
        { type: 'tool_call', id: 'b', name: 'peek', input: [1] },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool_result', tool_call_id: 'call:1/x', name: 'peek', output: { seen: true }, is_error: false },
        { type: 'tool_result', tool_call_id: 'b', name: 'peek', output: 'no', is_error: true },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: '' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'And?' },
        { type: 'text', text: ' ' },
      ],
    },
  ]
  const { body } = await sent(t, requestOf(messages))
  t.deepEqual(body.messages, [
    { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'aGlk' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'call_1_x', name: 'peek', input: { at: 1 } },
        { type: 'tool_use', id: 'b', name: 'peek', input: { value: [1] } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1_x', content: '{"seen":true}' },
        { type: 'tool_result', tool_use_id: 'b', content: 'no', is_error: true },
      ],
    },
    { role: 'user', content: [{ type: 'text', text: 'And?', cache_control: cached }] },
  ])
})

test('models-36: the last message may be results, and a longer conversation is sent whole again', async (t) => {
  const { server, ask } = await converseWith(t, sayingAs('So.'), { spoken: 'anthropic' })
  const messages: ModelMessage[] = [userText('Look.')]
  const request = requestOf(messages)
  await ask(request)
  messages.push(
    { role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'peek', input: {} }] },
    { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'a', name: 'peek', output: {}, is_error: false }] },
  )
  await ask(request)
  t.deepEqual(server.asked[1]?.body['messages'], [
    { role: 'user', content: [{ type: 'text', text: 'Look.' }] },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'peek', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '{}', cache_control: cached }] },
  ])
})

test('models-36: tools, and which of them must be called, are said in the words of the protocol', async (t) => {
  const tools = [{ name: 'peek', description: 'Looks.', parameters: { type: 'object' } }]
  const choiceOf = async (generation: ModelRequest['generation']) =>
    (await sent(t, requestOf([userText('hi')], { tools, generation }))).body.tool_choice
  const { body } = await sent(t, requestOf([userText('hi')], { tools }))
  t.deepEqual(body.tools, [{ name: 'peek', description: 'Looks.', input_schema: { type: 'object' } }])
  t.is(body.tool_choice, undefined)
  t.deepEqual(await choiceOf({ tool_choice: { type: 'required' } }), { type: 'any' })
  t.deepEqual(await choiceOf({ tool_choice: { type: 'none' }, allow_parallel_tool_calls: false }), { type: 'none' })
  t.deepEqual(await choiceOf({ tool_choice: { type: 'specific', name: 'peek' } }), { type: 'tool', name: 'peek' })
  t.deepEqual(await choiceOf({ allow_parallel_tool_calls: false }), { type: 'auto', disable_parallel_tool_use: true })
})

test('models-36: how much a model thinks is said as its generation of models takes it', async (t) => {
  const bodyOf = async (model: string, generation: ModelRequest['generation']) =>
    (await sent(t, requestOf([userText('hi')], { model, generation }))).body
  const newer = await bodyOf('claude-opus-4-6', { reasoning: { effort: 'xhigh' } })
  t.like(newer, { thinking: { type: 'adaptive' }, output_config: { effort: 'xhigh' }, max_tokens: 64_000 })
  const older = await bodyOf('claude-sonnet-4-5-20250929', { reasoning: { effort: 'high' }, max_output_tokens: 1_000 })
  t.like(older, { thinking: { type: 'enabled', budget_tokens: 16_384 }, max_tokens: 17_384, output_config: undefined })
  t.like(await bodyOf('claude-opus-4-6', { reasoning: { effort: 'none' } }), { thinking: { type: 'disabled' } })
  t.like(await bodyOf('claude-opus-4-6', { reasoning: { budget_tokens: 2_000 } }), {
    thinking: { type: 'enabled', budget_tokens: 2_000 },
  })
  const schema = { type: 'object', properties: {} }
  t.like(await bodyOf('claude-opus-4-6', { response_format: { type: 'structured_json', schema }, temperature: 0.5 }), {
    output_config: { format: { type: 'json_schema', schema } },
    temperature: 0.5,
  })
  t.is((await bodyOf('claude-opus-4-1', {})).max_tokens, 32_000)
  t.is((await bodyOf('claude-3-5-haiku-latest', {})).max_tokens, 4_096)
  t.is((await bodyOf('of-somebody-else', {})).max_tokens, 4_096)
})

test('models-36: a server of one’s own may need no key', (t) => {
  const own = connectTo('http://127.0.0.1:9/v1', { spoken: 'anthropic' })
  t.is(own.readiness().state, 'ok')
})

test('models-36: without a key no run of the vendor’s own server begins, and the status says what is missing', async (t) => {
  const daemon = await startTestDaemon(t, { flags: { provider: 'anthropic' } })
  await openSession(daemon)
  const [route] = (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes
  t.like(route, { provider: 'anthropic', model: 'claude-opus-4-6', state: 'error', code: 'credential_missing' })
  t.is(route.message, 'The provider anthropic needs a key, and none is given.')
  const refused = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hi' })
  t.deepEqual(codeOf(refused), [400, 'route_not_ready'])
})
