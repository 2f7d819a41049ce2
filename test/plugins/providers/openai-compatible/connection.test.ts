import test from 'ava'
import { createServer, type AddressInfo } from 'node:net'
import fc from 'fast-check'
import { Problem } from '../../../../core/plugin.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import type { ModelMessage } from '../../../../plugins/execution/models/contract.js'
import { flagWords } from '../../../../plugins/execution/models/file/route-words.js'
import { watchedRoute } from '../../../../plugins/execution/models/route-health.js'
import { createRoutePace } from '../../../../plugins/execution/models/route-pace.js'
import { createConnection } from '../../../../plugins/providers/streamed/connection.js'
import { conformProvider } from '../../../conform/provider.js'
import { ask, requestOf, resultsOf, unwatched, userText } from '../../../support/models.js'
import {
  classOf,
  clock,
  connectTo,
  converseWith,
  linkParts,
  protocol,
  transport,
} from '../../../support/model-client.js'
import {
  bytesOf,
  calling,
  chunk,
  inTurn,
  saying,
  startOpenAiServer,
  stream,
  type Asked,
  type Reply,
} from '../../../support/openai-server.js'

test.after.always(() => transport.close())

test('a text is streamed as it comes and is one part at the end', async (t) => {
  const { ask: go, server } = await converseWith(t, { ...saying('Hel', 'lo ', 'wörld'), pace_ms: 50 })
  const answer = await go()
  t.deepEqual(answer.events, [
    { type: 'text_delta', text: 'Hel' },
    { type: 'text_delta', text: 'lo ' },
    { type: 'text_delta', text: 'wörld' },
    { type: 'part', part: { type: 'text', text: 'Hello wörld' } },
    { type: 'done', outcome: 'stop', usage: { input_tokens: 12, output_tokens: 5 } },
  ])
  t.like(server.asked[0], { path: '/v1/chat/completions', number: 1 })
})

test('parallel tool calls arrive whole, with their ids, after a real finish', async (t) => {
  const { ask: go } = await converseWith(
    t,
    calling(
      { id: 'a', name: 'read_file', input: '{"path":"x y"}' },
      { id: 'b', name: 'bash', input: '{"command":"ls","n":[1,2]}' },
    ),
  )
  const answer = await go()
  t.deepEqual(answer.parts, [
    { type: 'tool_call', id: 'a', name: 'read_file', input: { path: 'x y' } },
    { type: 'tool_call', id: 'b', name: 'bash', input: { command: 'ls', n: [1, 2] } },
  ])
  t.is(answer.done?.outcome, 'tool_calls')
})

test('the request carries messages, tools, settings and the key in their wire form', async (t) => {
  const { ask: go, server } = await converseWith(t, saying('ok'), { api_key: 'sk-test-key' })
  const messages: ModelMessage[] = [
    userText('one'),
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm' },
        { type: 'text', text: 'look' },
        { type: 'tool_call', id: 'c1', name: 'bash', input: { command: 'ls' } },
      ],
    },
    {
      role: 'tool',
      content: [{ type: 'tool_result', tool_call_id: 'c1', name: 'bash', output: { out: 'a' }, is_error: false }],
    },
    { role: 'assistant', content: [] },
    userText('two'),
  ]
  const tools = [{ name: 'bash', description: 'Runs.', parameters: { type: 'object', properties: {} } }]
  await go(
    requestOf(messages, {
      tools,
      generation: {
        tool_choice: { type: 'specific', name: 'bash' },
        allow_parallel_tool_calls: false,
        max_output_tokens: 9,
        temperature: 0.5,
        reasoning: { effort: 'low' },
        response_format: { type: 'structured_json', schema: { type: 'object', properties: {} } },
      },
    }),
  )
  const [{ body, headers } = { body: {}, headers: {} }] = server.asked
  t.deepEqual(body, {
    model: 'test-model',
    max_tokens: 9,
    temperature: 0.5,
    parallel_tool_calls: false,
    reasoning_effort: 'low',
    response_format: {
      type: 'json_schema',
      json_schema: { schema: { type: 'object', properties: {} }, strict: false, name: 'response' },
    },
    messages: [
      { role: 'system', content: 'You are a test.' },
      { role: 'user', content: 'one' },
      {
        role: 'assistant',
        content: 'look',
        reasoning_content: 'hm',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"out":"a"}' },
      { role: 'user', content: 'two' },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'bash', description: 'Runs.', parameters: { type: 'object', properties: {} } },
      },
    ],
    tool_choice: { type: 'function', function: { name: 'bash' } },
    stream: true,
    stream_options: { include_usage: true },
  })
  t.is(headers['authorization'], 'Bearer sk-test-key')
})

test.serial(
  'models-16: a stream cut at any byte before its finish is truncated and may be retried, never a success',
  async (t) => {
    const server = await startOpenAiServer(() => ({ type: 'broken' }))
    t.teardown(() => server.close())
    const connection = connectTo(server.url)
    const reply = calling(
      { id: 'a', name: 'bash', input: '{"command":"rm -rf /tmp/x"}' },
      { id: 'b', name: 'bash', input: '{}' },
    )
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
  },
)

test.serial(
  'a cut at every event boundary, cleanly closed or broken, is truncated until the finish is there',
  async (t) => {
    const server = await startOpenAiServer(() => ({ type: 'broken' }))
    t.teardown(() => server.close())
    const connection = connectTo(server.url)
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
  },
)

test.serial(
  'whatever bytes are damaged, a call ends in exactly one done and acts on nothing that was not sent',
  async (t) => {
    const server = await startOpenAiServer(() => ({ type: 'broken' }))
    t.teardown(() => server.close())
    const connection = connectTo(server.url)
    const whole = bytesOf(calling({ id: 'a', name: 'bash', input: '{"command":"ls"}' }).chunks).toString()
    const junk = [
      'null',
      '[]',
      '{}',
      '"',
      '}',
      ',',
      ':',
      '\n',
      '\n\n',
      'data:',
      '\\',
      'é',
      '{"error":{}}',
      '{"choices":null}',
      '1e999',
      '',
    ]
    const damage = fc.record({ at: fc.nat(whole.length - 1), cut: fc.nat(12), put: fc.constantFrom(...junk) })
    const property = fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (damages) => {
      const text = damages.reduce((so, { at, cut, put }) => so.slice(0, at) + put + so.slice(at + cut), whole)
      server.answer(() => stream(text))
      const { events, parts, done } = await ask(connection, requestOf([userText('hi')]))
      const ends = events.filter(({ type }) => type === 'done').length
      return (
        ends === 1 &&
        (done?.outcome !== 'failed' || parts.length === 0) &&
        classOf({ events, parts, text: '', done }) !== 'unknown final'
      )
    })
    await t.notThrowsAsync(fc.assert(property, { numRuns: 200 }))
  },
)

test('an answer in single bytes, and one in a single huge event, are read like any other', async (t) => {
  const { ask: go, server } = await converseWith(t, {
    ...calling({ id: 'ä', name: 'bash', input: '{"command":"ü€😀"}' }),
    drip_bytes: 1,
  })
  t.deepEqual((await go()).parts, [{ type: 'tool_call', id: 'ä', name: 'bash', input: { command: 'ü€😀' } }])
  const huge = 'x'.repeat(3_000_000)
  server.answer(() => saying(huge))
  t.is((await go()).text.length, huge.length)
})

test('models-17: an answer beyond the size limit ends, and its socket is closed', async (t) => {
  const piece = chunk({ content: 'x'.repeat(1_000_000) })
  const { ask: go, server } = await converseWith(t, stream(...Array.from({ length: 60 }, () => piece)))
  t.is(classOf(await go()), 'bad_request final')
  t.true(await server.asked[0]?.gone)
})

test('a server that is not there is a network failure', async (t) => {
  const server = await startOpenAiServer(() => saying('x'))
  await server.close()
  t.is(classOf(await ask(connectTo(server.url), requestOf([userText('hi')]))), 'network retryable')
  t.is(classOf(await ask(connectTo('https://host.invalid/v1'), requestOf([userText('hi')]))), 'network retryable')
})

test('TLS to a server that speaks none is a network failure that is not repeated', async (t) => {
  const { server } = await converseWith(t, saying('x'))
  t.is(
    classOf(await ask(connectTo(server.url.replace('http:', 'https:')), requestOf([userText('hi')]))),
    'network final',
  )
})

test.serial(
  'models-15: silence ends at the idle limit, before and after the headers, and closes the socket',
  async (t) => {
    for (const headers of [false, true]) {
      const { ask: go, server } = await converseWith(t, { type: 'silence', headers }, { idle_timeout_ms: 500 })
      t.is(classOf(await go()), 'timeout retryable')
      t.true(await server.asked[0]?.gone)
    }
  },
)

test.serial(
  'models-15: a slow provider is not a silent one: pieces and comments count as life, and a slow reader does not',
  async (t) => {
    const slow = [': wait\n\n', ': wait\n\n', ': wait\n\n', ...saying('a', 'b').chunks]
    const { ask: go, connection } = await converseWith(
      t,
      { ...stream(...slow), pace_ms: 200 },
      { idle_timeout_ms: 700 },
    )
    t.is((await go()).text, 'ab')
    let text = ''
    for await (const event of connection.stream(requestOf([userText('hi')]), new AbortController().signal)) {
      if (event.type !== 'text_delta') continue
      await clock.sleep(1000)
      text += event.text
    }
    t.is(text, 'ab')
  },
)

test.serial(
  'models-15: a route is not silent whose server writes a long call of a tool, of which nothing is shown',
  async (t) => {
    const input = JSON.stringify({ text: 'a long one'.repeat(5) })
    const { connection } = await converseWith(
      t,
      { ...calling({ id: 'c1', name: 'write', input }), pace_ms: 100 },
      { idle_timeout_ms: 500 },
    )
    const watch = {
      ...unwatched,
      clock,
      idle_timeout_ms: 500,
      words: flagWords,
      pace: createRoutePace(clock, () => {}),
    }
    const answer = await ask(watchedRoute(connection, { ...watch, provider: 'test' }), requestOf([userText('hi')]))
    t.is(answer.done?.outcome, 'tool_calls')
    t.is(answer.text, '')
  },
)

test.serial(
  'models-15: a provider that sends comments alone has failed after ten idle limits without an event',
  async (t) => {
    const pings = (count: number) => Array.from({ length: count }, () => ': ping\n\n')
    const slow = [...pings(17), chunk({ content: 'a' }), ...pings(17), ...saying('b').chunks]
    const { ask: go } = await converseWith(t, { ...stream(...slow), pace_ms: 100 }, { idle_timeout_ms: 300 })
    t.is((await go()).text, 'ab', 'each event begins the time anew')
    const { ask: goOn, server } = await converseWith(
      t,
      { ...stream(...pings(200)), pace_ms: 20 },
      { idle_timeout_ms: 100 },
    )
    const begun = clock.elapsed()
    const answer = await goOn()
    t.is(classOf(answer), 'timeout retryable')
    t.regex(JSON.stringify(answer.done), /kept the connection alive/u)
    t.true(clock.elapsed() - begun >= 1000)
    t.true(await server.asked[0]?.gone)
  },
)

test('what speaks no HTTP, and headers that are too large, are told as that and not asked again', async (t) => {
  for (const [said, told] of [
    ['SSH-2.0-OpenSSH_9.6\r\n', /speaks no HTTP that can be read: the port/u],
    ['HTTP/1.1 5xx Boom\r\n\r\n', /speaks no HTTP that can be read/u],
    [`HTTP/1.1 200 OK\r\nx: ${'h'.repeat(200_000)}\r\n\r\n`, /headers of the answer are larger/u],
  ] as const) {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(said))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = unsafeCast<AddressInfo>(server.address())
    const answer = await ask(connectTo(`http://127.0.0.1:${port}/v1`), requestOf([userText('hi')]))
    t.is(classOf(answer), 'network final')
    t.regex(JSON.stringify(answer.done), told)
  }
})

test.serial('models-18: an abort ends the call at once and closes the socket, wherever the call is', async (t) => {
  const replies: Reply[] = [
    { type: 'silence', headers: false },
    { type: 'silence', headers: true },
    { ...saying('a', 'b', 'c'), keep_open: true, pace_ms: 30 },
  ]
  for (const reply of replies) {
    const { ask: go, server } = await converseWith(t, reply)
    const abort = new AbortController()
    const asking = go(undefined, abort.signal)
    for (let look = 0; look < 1000 && server.asked.length === 0; look += 1) await clock.sleep(10)
    await clock.sleep(50)
    const begun = clock.elapsed()
    abort.abort()
    t.is(classOf(await asking), 'aborted final')
    t.true(clock.elapsed() - begun < 20_000)
    t.true(await server.asked[0]?.gone)
  }
})

test('a call that is aborted before it starts asks nobody', async (t) => {
  const { ask: go, server } = await converseWith(t, saying('x'))
  t.is(classOf(await go(undefined, AbortSignal.abort())), 'aborted final')
  t.is(server.asked.length, 0)
})

test.serial('a reader that leaves early closes the socket', async (t) => {
  const { connection, server } = await converseWith(t, { ...saying('a', 'b'), keep_open: true })
  for await (const _ of connection.stream(requestOf([userText('hi')]), new AbortController().signal)) break
  t.true(await server.asked[0]?.gone)
})

test.serial('an answer that nothing can mend ends at once, and its socket is closed', async (t) => {
  const { ask: go, server } = await converseWith(t, { ...stream('data: {oops\n\n'), keep_open: true })
  t.is(classOf(await go()), 'invalid_output retryable')
  t.true(await server.asked[0]?.gone)
})

test.serial('a server that says [DONE] and keeps the socket open is not waited for', async (t) => {
  const { ask: go, server } = await converseWith(t, { ...saying('a'), keep_open: true })
  const begun = clock.elapsed()
  t.is((await go()).done?.outcome, 'stop')
  t.true(clock.elapsed() - begun < 20_000)
  t.true(await server.asked[0]?.gone)
})

test.serial('calls after each other use one socket', async (t) => {
  const { ask: go, server } = await converseWith(t, saying('a'))
  for (let n = 0; n < 3; n += 1) {
    await go()
    await clock.sleep(20)
  }
  t.is(await server.sockets(), 1)
})

test('recorded parts go back with what the provider gave beside them', async (t) => {
  const signed = chunk({
    tool_calls: [
      {
        index: 0,
        id: 'a',
        function: { name: 'f', arguments: '{}' },
        extra_content: { google: { thought_signature: 'SIG' } },
      },
    ],
  })
  const server = await startOpenAiServer(inTurn(stream(signed, chunk({}, 'tool_calls')), saying('done')))
  t.teardown(() => server.close())
  const connection = connectTo(server.url)
  const first = await ask(connection, requestOf([userText('hi')]))
  const recorded: typeof first.parts = JSON.parse(JSON.stringify(first.parts))
  const second = await ask(
    connection,
    requestOf([userText('hi'), { role: 'assistant', content: recorded }, resultsOf(recorded)]),
  )
  t.is(second.text, 'done')
  const sent: any = server.asked[1]?.body
  t.deepEqual(sent.messages[2].tool_calls, [
    {
      id: 'a',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
      extra_content: { google: { thought_signature: 'SIG' } },
    },
  ])
})

test('models-12: a key that was wanted or refused is what a route says as long as it is the last thing that a call learned', async (t) => {
  const server = await startOpenAiServer(
    inTurn({ type: 'status', status: 401 }, { type: 'status', status: 500 }, saying('x')),
  )
  t.teardown(() => server.close())
  const connection = connectTo(server.url)
  const codes: string[] = [connection.readiness().code]
  for (let n = 0; n < 3; n += 1) {
    await ask(connection, requestOf([userText('hi')]))
    codes.push(connection.readiness().code)
  }
  t.deepEqual(codes, ['ready', 'credential_missing', 'ready', 'ready'])
  t.is(connection.readiness().message, 'The provider answered the last call.')
})

test('options that cannot work are refused with a reason that shows nothing of them', (t) => {
  const codeOf = (base_url: string | undefined, api_key = 'k'): string | undefined => {
    const make = () =>
      createConnection(
        { idle_timeout_ms: 1, api_key, ...(base_url !== undefined && { base_url }) },
        protocol,
        linkParts,
      )
    const problem = t.throws(make, { instanceOf: Problem })
    t.notRegex(problem.message, /secret/u)
    return problem.code
  }
  t.is(codeOf(undefined), 'base_url_missing')
  t.is(codeOf(' '), 'base_url_missing')
  for (const url of [
    'secret',
    'ftp://secret/v1',
    'http://secret:x@host/v1',
    'http://secret@host',
    'http://host/v1?secret',
    'http://host/v1#secret',
    'http://host/?',
    'http://',
    'file:///secret',
    '//secret/v1',
  ])
    t.is(codeOf(url), 'base_url_invalid')
  for (const key of ['a b secret', 'secret\nx', 'sécret']) t.is(codeOf('http://host/v1', key), 'api_key_invalid')
})

test('a trailing slash of the base URL does not matter', async (t) => {
  const { server } = await converseWith(t, saying('x'))
  t.is((await ask(connectTo(`${server.url}//`), requestOf([userText('hi')]))).text, 'x')
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

conformProvider(test, 'openai_compatible', async (t) => {
  const server = await startOpenAiServer(obedient)
  t.teardown(() => server.close())
  return {
    connection: connectTo(server.url, { api_key: 'sk-1' }),
    texts: { text: 'text', calls: 'calls', fails: 'fails', endless: 'endless' },
    traffic: () => ({ asked: server.asked.length, open: server.open() }),
  }
})
