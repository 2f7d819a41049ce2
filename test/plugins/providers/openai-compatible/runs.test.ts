import test, { type ExecutionContext } from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import {
  chunk,
  doneEvent,
  inTurn,
  saying,
  startOpenAiServer,
  stream,
  type Asked,
  type OpenAiServer,
  type Reply,
} from '../../../support/openai-server.js'
import { openSession, submit, until } from '../../../support/runs.js'

const serve = async (t: ExecutionContext, respond: (asked: Asked) => Reply): Promise<OpenAiServer> => {
  const server = await startOpenAiServer(respond)
  t.teardown(() => server.close())
  return server
}

const start = async (t: ExecutionContext, respond: (asked: Asked) => Reply) => {
  const server = await serve(t, respond)
  const flags = {
    provider: 'openai_compatible',
    'provider-base-url': server.url,
    model: 'test-model',
    'api-key': 'sk-secret',
  }
  const daemon = await startTestDaemon(t, { flags, config: { runs: { model_retry_base_ms: 1 } } })
  await openSession(daemon)
  return { server, daemon }
}

const messagesOf = (asked: Asked | undefined): any[] =>
  Array.isArray(asked?.body['messages']) ? asked.body['messages'] : []

test('a run over real sockets: the model is told the tools in a form that every server takes', async (t) => {
  const { server, daemon } = await start(t, () => saying('Hello ', 'there'))
  const run = await until(daemon, (await submit(daemon, 's1', 'Hi')).run_id, 'completed')
  t.like(run, {
    outputs: [{ content: 'Hello there' }],
    request: { provider: 'openai_compatible', model: 'test-model' },
  })
  const tools: any = server.asked[0]?.body['tools']
  t.true(tools.length > 0)
  for (const {
    type,
    function: { name, parameters },
  } of tools) {
    t.is(type, 'function')
    t.is(parameters.type, 'object', name)
    t.notRegex(JSON.stringify(parameters), /\$ref/u, name)
    t.deepEqual(
      ['oneOf', 'anyOf', 'allOf'].filter((word) => word in parameters),
      [],
      name,
    )
  }
})

test('failures that are worth it are asked again, and only so often', async (t) => {
  const limited: Reply = { type: 'status', status: 429, headers: { 'retry-after-ms': '5' } }
  const cut: Reply = { ...saying('half'), cut: { bytes: 150, how: 'end' } }
  const { server, daemon } = await start(t, inTurn(limited, cut, saying('whole')))
  const run = await until(daemon, (await submit(daemon, 's1', 'Hi')).run_id, 'completed')
  t.deepEqual(
    run.outputs.map(({ content }: { content: string }) => content),
    ['whole'],
  )
  t.is(server.asked.length, 3)
  server.answer(() => ({ type: 'status', status: 401, body: '{"error":{"message":"bad key sk-secret"}}' }))
  const refused = await until(daemon, (await submit(daemon, 's1', 'Hi')).run_id, 'failed')
  t.is(server.asked.length, 4)
  t.is(
    refused.error,
    'model_auth: The provider refused the key (status 401). ' +
      `It said: "bad key [redacted]" Asked: ${server.url}, model test-model.`,
  )
})

test('runs-37, tools-16: calls that were cut or whose input is not JSON are not made, and the model is told so', async (t) => {
  const call = (id: string, input: string, reason: string): Reply =>
    stream(
      chunk({ tool_calls: [{ index: 0, id, function: { name: 'list_files', arguments: input } }] }),
      chunk({}, reason),
      doneEvent,
    )
  const { server, daemon } = await start(
    t,
    inTurn(
      call('whole', '{"path":"."}', 'length'),
      call('cut', '{"path":"', 'length'),
      call('odd', '{path', 'tool_calls'),
      saying('Understood.'),
    ),
  )
  const run = await until(daemon, (await submit(daemon, 's1', 'Hi')).run_id, 'completed')
  t.is(run.outputs[0].content, 'Understood.')
  const told = messagesOf(server.asked[3])
  t.deepEqual(
    told.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(content).error.code),
    ['call_cut', 'call_cut', 'call_input_invalid'],
  )
  for (const { tool_calls } of told.filter(({ role }) => role === 'assistant'))
    t.is(typeof JSON.parse(tool_calls[0].function.arguments), 'object')
})

test('cancelling a run closes the socket to the provider', async (t) => {
  const { server, daemon } = await start(t, () => ({ type: 'silence', headers: true }))
  const { run_id } = await submit(daemon, 's1', 'Hi')
  await until(daemon, run_id, 'running')
  while (server.asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  await until(daemon, run_id, 'cancelled')
  t.true(await server.asked[0]?.gone)
})
