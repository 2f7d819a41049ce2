import test, { type ExecutionContext } from 'ava'
import type { ModelMessage, ModelRequest } from '../../../../plugins/execution/models/contract.js'
import { isOwn } from '../../../../plugins/providers/openai/models.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { connectTo, converseWith, transport } from '../../../support/model-client.js'
import { requestOf, userText } from '../../../support/models.js'
import { sayingIn } from '../../../support/responses-server.js'
import { codeOf, openSession } from '../../../support/runs.js'

test.after.always(() => transport.close())

/** What the server is sent for a request. */
const sent = async (t: ExecutionContext, request: ModelRequest): Promise<any> => {
  const { server, ask } = await converseWith(t, sayingIn('So.'), { spoken: 'openai', api_key: 'k-1' })
  await ask(request)
  return { ...server.asked[0], body: server.asked[0]?.body }
}

const input = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })

test('models-40: a question goes to /responses with the key and the account, and the provider stores nothing', async (t) => {
  const { path, headers, body } = await sent(t, requestOf([userText('one'), userText('two')], { model: 'gpt-9' }))
  t.is(path, '/v1/responses')
  t.like(headers, { authorization: 'Bearer k-1', 'openai-organization': 'org-1', 'openai-project': 'proj_1' })
  t.deepEqual(body, {
    model: 'gpt-9',
    instructions: 'You are a test.',
    include: ['reasoning.encrypted_content'],
    store: false,
    stream: true,
    input: [input('one'), input('two')],
  })
})

const conversation: ModelMessage[] = [
  userText('Look.'),
  {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'of another provider', metadata: { anthropic: { signature: 'c2ln' } } },
      { type: 'tool_call', id: 'toolu:1/x', name: 'peek', input: { at: 1 }, metadata: { openai: { id: 'fc_1' } } },
      {
        type: 'reasoning',
        text: 'Hm.\n\nSo.',
        metadata: { openai: { id: 'rs_1', encrypted_content: 'Z0FB', summary: ['Hm.', 'So.'] } },
      },
      { type: 'reasoning', text: '', metadata: { openai: { id: 'rs_2', encrypted_content: 'Z0FC' } } },
      { type: 'text', text: 'I look.', metadata: { openai: { id: 'msg_2', phase: 'commentary' } } },
      { type: 'text', text: '' },
      {
        type: 'tool_call',
        id: 'call_2',
        name: 'peek',
        input: {},
        metadata: { openai: { id: 'fc_2' }, google: { a: 1 } },
      },
      { type: 'reasoning', text: 'cut', metadata: { openai: { id: 'rs_3', encrypted_content: 'Z0FD' } } },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool_result', tool_call_id: 'toolu:1/x', name: 'peek', output: { seen: true }, is_error: false },
      { type: 'tool_result', tool_call_id: 'call_2', name: 'peek', output: 'no', is_error: true },
    ],
  },
  {
    role: 'assistant',
    content: [{ type: 'reasoning', text: '', metadata: { openai: { id: 'rs_4', encrypted_content: 'Z0FE' } } }],
  },
  { role: 'user', content: [] },
  userText('And?'),
]

test('models-40: a conversation goes back as it came: thoughts under their ids before what they led to', async (t) => {
  const { body } = await sent(t, requestOf(conversation))
  t.deepEqual(body.input, [
    input('Look.'),
    { type: 'function_call', call_id: 'toolu_1_x', name: 'peek', arguments: '{"at":1}' },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'Hm.' },
        { type: 'summary_text', text: 'So.' },
      ],
      encrypted_content: 'Z0FB',
    },
    { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'Z0FC' },
    {
      type: 'message',
      id: 'msg_2',
      role: 'assistant',
      phase: 'commentary',
      content: [{ type: 'output_text', text: 'I look.' }],
    },
    { type: 'function_call', id: 'fc_2', call_id: 'call_2', name: 'peek', arguments: '{}' },
    { type: 'function_call_output', call_id: 'toolu_1_x', output: '{"seen":true}' },
    { type: 'function_call_output', call_id: 'call_2', output: 'no' },
    input('And?'),
  ])
})

test('models-40: a model that takes no thoughts is not shown any, also in a conversation that one began which thinks', async (t) => {
  const { server, ask } = await converseWith(t, sayingIn('So.'), { spoken: 'openai' })
  const bodyOf = async (model: string): Promise<any> => {
    await ask(requestOf(conversation, { model }))
    return server.asked.at(-1)?.body
  }
  const thoughts = ({ input: items }: any): number => items.filter(({ type }: any) => type === 'reasoning').length
  t.is(thoughts(await bodyOf('gpt-5.4')), 2)
  for (const model of ['gpt-4.1', 'ft:gpt-4o-mini:of:us', 'gpt-5-chat-latest', 'openai/chatgpt-4o-latest']) {
    const body = await bodyOf(model)
    t.is(thoughts(body), 0, model)
    t.is(body.include, undefined, model)
    t.false(JSON.stringify(body).includes('msg_2'))
  }
  for (const model of ['o4-mini', 'gpt-5.1', 'of-somebody-else', 'gpt-oss:20b'])
    t.is(thoughts(await bodyOf(model)), 2, model)
})

test('models-40: ids of calls that are too long are shortened, each to one of its own', async (t) => {
  const ids = ['a', 'b'].map((end) => `${'x'.repeat(80)}${end}`)
  const { body } = await sent(
    t,
    requestOf([
      userText('Look.'),
      { role: 'assistant', content: ids.map((id) => ({ type: 'tool_call', id, name: 'peek', input: {} })) },
      {
        role: 'tool',
        content: ids.map((tool_call_id) => ({
          type: 'tool_result',
          tool_call_id,
          name: 'peek',
          output: 1,
          is_error: false,
        })),
      },
    ]),
  )
  const called: string[] = body.input.slice(1).map(({ call_id }: any) => call_id)
  t.true(called.every((id) => /^[\w-]{1,64}$/u.test(id)))
  t.is(new Set(called).size, 2)
  t.deepEqual(called.slice(0, 2), called.slice(2))
})

test('models-40: tools, and which of them must be called, are said in the words of the protocol', async (t) => {
  const tools = [{ name: 'peek', description: 'Looks.', parameters: { type: 'object' } }]
  const bodyOf = async (generation: ModelRequest['generation'], given = tools) =>
    (await sent(t, requestOf([userText('hi')], { tools: given, generation }))).body
  const body = await bodyOf({})
  t.deepEqual(body.tools, [
    { type: 'function', name: 'peek', description: 'Looks.', parameters: { type: 'object' }, strict: false },
  ])
  t.is(body.tool_choice, undefined)
  t.is(body.parallel_tool_calls, undefined)
  t.is((await bodyOf({ tool_choice: { type: 'required' } })).tool_choice, 'required')
  t.deepEqual((await bodyOf({ tool_choice: { type: 'specific', name: 'peek' } })).tool_choice, {
    type: 'function',
    name: 'peek',
  })
  t.is((await bodyOf({ allow_parallel_tool_calls: false })).parallel_tool_calls, false)
  const none = await bodyOf({ tool_choice: { type: 'none' }, allow_parallel_tool_calls: false }, [])
  t.like(none, { tools: undefined, tool_choice: undefined, parallel_tool_calls: undefined })
})

test('models-40: how a model thinks and answers is said in the words of the protocol', async (t) => {
  const bodyOf = async (generation: ModelRequest['generation']) =>
    (await sent(t, requestOf([userText('hi')], { generation }))).body
  const body = await bodyOf({
    reasoning: { effort: 'xhigh', summary: 'detailed' },
    max_output_tokens: 9,
    temperature: 0,
  })
  t.like(body, { reasoning: { effort: 'xhigh', summary: 'detailed' }, max_output_tokens: 9, temperature: 0 })
  t.deepEqual((await bodyOf({ reasoning: { effort: 'none' } })).reasoning, { effort: 'none' })
  t.is((await bodyOf({ reasoning: { summary: 'none' } })).reasoning, undefined)
  const schema = { type: 'object', properties: {}, additionalProperties: false }
  t.deepEqual((await bodyOf({ response_format: { type: 'structured_json', schema } })).text, {
    format: { type: 'json_schema', name: 'response', schema, strict: true },
  })
  t.is((await bodyOf({ response_format: { type: 'text' } })).text, undefined)
})

test('models-40: a server of one’s own may need no key, and the vendor’s is in error without one', async (t) => {
  t.is(connectTo('http://127.0.0.1:9/v1', { spoken: 'openai' }).readiness().state, 'ok')
  const daemon = await startTestDaemon(t, { flags: { provider: 'openai' } })
  await openSession(daemon)
  const [route] = (await daemon.request('GET', '/v1/status')).body.provider_readiness.routes
  t.like(route, { provider: 'openai', model: 'gpt-5.4', state: 'error', code: 'credential_missing' })
  const refused = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hi' })
  t.deepEqual(codeOf(refused), [400, 'route_not_ready'])
})

test('models-38: names of other vendors’ models are refused, those of OpenAI’s families are not', async (t) => {
  const daemon = await startTestDaemon(t, { flags: { provider: 'openai', 'api-key': 'k' } })
  await openSession(daemon)
  const codes = async (model: string) =>
    codeOf(await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hi', generation: { model } }))
  for (const model of ['claude-opus-4-6', 'openai/gpt-5.4', 'grok-4', 'olmo'])
    t.deepEqual(await codes(model), [400, 'model_family_mismatch'], model)
  for (const model of ['gpt-5.4', 'o3', 'chatgpt-4o-latest', 'codex-mini-latest', 'ft:gpt-4.1:of:us'])
    t.true(isOwn(model), model)
})

test('models-40: a setting that the protocol has no place for is refused', async (t) => {
  const daemon = await startTestDaemon(t, {
    flags: { provider: 'openai', 'provider-base-url': 'http://127.0.0.1:9/v1' },
  })
  await openSession(daemon)
  for (const reasoning of [{ budget_tokens: 1_000 }, { interleaved: true }]) {
    const refused = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hi', generation: { reasoning } })
    t.deepEqual(codeOf(refused), [400, 'generation_unsupported'])
  }
})
