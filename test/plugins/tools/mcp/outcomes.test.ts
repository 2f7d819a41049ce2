/** What is told of calls that nobody can tell the end of, and of what servers say back. */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { eventually, planned, serverIn, writeServers } from '../../../support/mcp.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { openStream } from '../../../support/sse.js'
import { makeFolder } from '../../../support/tools.js'

const inputSchema = { type: 'object' }
const flags = { 'permission-mode': 'bypassPermissions' }

const daemonWith = async (t: ExecutionContext, servers: Readonly<Record<string, object>>): Promise<TestDaemon> => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, servers)
  return startTestDaemon(t, { root, flags })
}

/** Outcomes of the calls of one run, and all that its session says of them. */
const call = async (daemon: TestDaemon, ...lines: string[]) => {
  const session = await openSession(daemon, `s${Math.random()}`.replace('.', ''))
  const { run_id } = await submit(daemon, session, [...lines, '/say done'].join('\n'))
  await until(daemon, run_id, 'completed', 'failed')
  const { body, text } = await daemon.request('GET', `/v1/sessions/${session}/events`)
  const outcomes: any[] = body.session.journal
    .filter(({ type }: any) => type === 'outcome')
    .map(({ entry }: any) => entry)
    .toSorted((a: any, b: any) => a.tool_call_id.localeCompare(b.tool_call_id, 'en', { numeric: true }))
  return { outcomes, text }
}

const bodyOf = async (request: IncomingMessage): Promise<any> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

/** A server over HTTP: a call of the tool `s307` is answered with that status, `hangs` never, `echo` with its header. */
const statusServer = async (t: ExecutionContext, statuses: readonly number[]): Promise<string> => {
  const names = [...statuses.map((status) => `s${status}`), 'hangs', 'echo']
  const results: Readonly<Record<string, (params: any, headers: IncomingMessage['headers']) => object>> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'fixture', version: '1' },
    }),
    'tools/list': () => ({ tools: names.map((name) => ({ name, inputSchema })) }),
    'tools/call': (_, headers) => ({ content: [{ type: 'text', text: `got ${headers['x-key']}` }] }),
    ping: () => ({}),
  }
  const server = createServer((request, response) => {
    void bodyOf(request).then(({ id, method, params }) => {
      if (request.method !== 'POST') return response.writeHead(405).end()
      const name: string = params?.name ?? ''
      if (name === 'hangs') return undefined
      const status = Number(/^s(\d+)$/u.exec(name)?.[1] ?? (id === undefined ? 202 : 200))
      const result = results[method]?.(params, request.headers)
      response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' })
      return response.end(status === 200 ? JSON.stringify({ jsonrpc: '2.0', id, result }) : '')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test('mcp-11: what an earlier attempt may have done stays unknown when the server does not come back', async (t) => {
  const notes = join(await makeFolder(t), 'notes')
  const tools = [{ name: 'idem', inputSchema, annotations: { idempotentHint: true } }]
  const daemon = await daemonWith(t, {
    one: planned({ notes, tools, dies: 'tools/call', staysAway: true }, { startup_timeout_sec: 2 }),
  })
  await serverIn(daemon, 'one')
  const [outcome] = (await call(daemon, '/tool mcp__one__idem {}')).outcomes
  t.like(outcome, { state: 'unknown', output: { error: { code: 'mcp_outcome_unknown' } } })
  const line = createCommandLine(daemon)
  const { out, err } = await line('mcp', 'call', 'mcp__one__idem')
  t.is(out, '')
  t.regex(err, /could not be asked, so the call was not made/u, 'of one that was never made the tool says nothing')
})

test('mcp-15: what a tool answers is 200, an error of its own too, and what the daemon says instead is a problem', async (t) => {
  const tools = ['plain', 'wrong', 'refuses', 'hangs'].map((name) => ({ name, inputSchema }))
  const notes = join(await makeFolder(t), 'notes')
  const daemon = await daemonWith(t, {
    one: planned({ tools }, { tool_timeout_sec: 1, effects: { hangs: 'read' } }),
    away: planned({ notes, tools, dies: 'tools/call', staysAway: true }, { startup_timeout_sec: 1 }),
  })
  await Promise.all(['one', 'away'].map((name) => serverIn(daemon, name)))
  const called = async (name: string) => {
    const { status, body } = await daemon.request('POST', `/v1/runtime/mcp/tools/mcp__${name}/call`, {})
    return [name, status, body.code ?? body.output.is_error]
  }
  t.deepEqual(await Promise.all(['one__plain', 'one__wrong', 'one__refuses', 'one__hangs'].map(called)), [
    ['one__plain', 200, false],
    ['one__wrong', 200, true],
    ['one__refuses', 502, 'mcp_call_refused'],
    ['one__hangs', 502, 'mcp_outcome_unknown'],
  ])
  t.deepEqual(await called('away__plain'), ['away__plain', 502, 'mcp_outcome_unknown'])
  t.deepEqual(await called('away__plain'), ['away__plain', 503, 'mcp_server_unavailable'])
})

test('mcp-11: a status that does not say that the call was not read leaves a call of once unknown, and a time-out tells its time', async (t) => {
  const [unread, unclear] = [
    [401, 404, 405, 413],
    [302, 307, 408, 409, 500],
  ]
  const url = await statusServer(t, [...unread, ...unclear])
  const daemon = await daemonWith(t, { one: { url, allow_cidrs: ['127.0.0.0/8'], tool_timeout_sec: 2 } })
  await serverIn(daemon, 'one')
  const { outcomes } = await call(
    daemon,
    ...[...unread, ...unclear].map((status) => `/tool mcp__one__s${status} {}`),
    '/tool mcp__one__hangs {}',
  )
  t.deepEqual(
    outcomes.map(({ state, output }) => [state, output.error.code]),
    [
      ...unread.map(() => ['failed', 'mcp_server_unavailable']),
      ...[...unclear, 'hangs'].map(() => ['unknown', 'mcp_outcome_unknown']),
    ],
  )
  t.regex(outcomes.at(-1)?.output.error.message, /longer than 2 s|timed out/iu)
  t.notRegex(JSON.stringify(outcomes), /AbortError|not connected/u)
})

test.serial(
  'mcp-4: values of the environment are redacted where a server says them, and where they cannot be sent',
  async (t) => {
    const url = await statusServer(t, [])
    const reach = { allow_cidrs: ['127.0.0.0/8'] }
    const values = {
      HOLDFAST_TEST_KEY: 'canary-of-the-environment-1',
      HOLDFAST_TEST_BROKEN: 'canary-of\nthe-environment-2',
    }
    Object.assign(process.env, values)
    t.teardown(() => Object.keys(values).forEach((name) => delete process.env[name]))
    const daemon = await daemonWith(t, {
      good: { url, ...reach, env_http_headers: { 'x-key': 'HOLDFAST_TEST_KEY' } },
      broken: { url, ...reach, bearer_token_env_var: 'HOLDFAST_TEST_BROKEN' },
    })
    await serverIn(daemon, 'good')
    const { outcomes, text } = await call(daemon, '/tool mcp__good__echo {}')
    t.regex(outcomes[0]?.output.text, /^got /u)
    t.false(text.includes('canary'))
    const { problem } = await serverIn(daemon, 'broken', 'waiting')
    t.regex(problem, /The header authorization cannot be sent/u)
    for (const path of ['/v1/runtime/mcp/servers', '/v1/status'])
      t.notRegex((await daemon.request('GET', path)).text, /canary|environment-2/u)
  },
)

test('mcp-4, mcp-5: secrets that a server says back stand nowhere, and what is hidden in a schema is shown', async (t) => {
  const secret = 'canary-said-back-4711'
  const property = (of: object) => ({ type: 'object', properties: { a: of } })
  const daemon = await daemonWith(t, {})
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'mcp.key', state: { value: secret } })
  await writeServers(daemon.root, {
    one: planned({
      says: secret,
      resources: [{ uri: `x:${secret}`, name: secret, description: secret, mimeType: secret }],
      tools: [
        { name: 'slow', inputSchema },
        { name: `tool_${secret}`, inputSchema },
        {
          name: 'worded',
          description: `A ${'x'.repeat(3_990)}${secret}`,
          inputSchema: property({ type: 'string', description: `\u001b[2J ${secret} \u202e`, default: secret }),
        },
        { name: 'enumerated', inputSchema: property({ enum: [secret] }) },
        { name: 'named', inputSchema: { type: 'object', properties: { 'a\u202eb': {}, [secret]: {} } } },
      ],
    }),
  })
  await serverIn(daemon, 'one')
  const { body, text } = await daemon.request('GET', '/v1/runtime/mcp/tools')
  t.deepEqual(
    body.tools.map(({ tool }: any) => tool),
    ['slow', 'worded'],
  )
  t.false(text.includes('canary'), 'also where a description is cut')
  const shown = await daemon.request('GET', '/v1/runtime/mcp/tools/mcp__one__worded')
  t.false(shown.text.includes('canary'))
  t.regex(shown.body.input_schema.properties.a.description, /^\\u001b\[2J .* \\u202e$/u)
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream' })
  t.teardown(stream.close)
  await eventually(async () => (stream.head() === '' ? undefined : true))
  const asked = await call(daemon, '/tool list_mcp_resources {}', '/tool mcp__one__slow {}')
  t.is(asked.outcomes[0]?.output.resources.length, 1)
  t.false(asked.text.includes('canary'))
  const told = await eventually(async () => {
    const texts = stream.frames.map(({ data }) => JSON.stringify(data))
    return texts.some((one) => one.includes('tool_progress')) ? texts.join('') : undefined
  })
  t.false(told.includes('canary'))
})
