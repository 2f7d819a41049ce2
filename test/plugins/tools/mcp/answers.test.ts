/** What is told of servers that answer with what is no result, or list what is no tool. */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { planned, serverIn, writeServers } from '../../../support/mcp.js'

const inputSchema = { type: 'object' }
const tools = [{ name: 'tool', inputSchema, annotations: { readOnlyHint: true } }]

const daemonWith = async (t: ExecutionContext, servers: Readonly<Record<string, object>>) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, servers)
  return startTestDaemon(t, { root })
}

/** A text in place of an object, and a text in place of the list in it. */
const wrong = { whole: 'just text', list: { content: 'x', messages: 'no', tools: 'many', contents: 'x' } }

test('mcp-43: a call that is answered with what is no result is told at once, and says so', async (t) => {
  const answering = (result: unknown) =>
    planned({ tools, results: { 'tools/call': result } }, { tool_timeout_sec: 600 })
  const daemon = await daemonWith(t, {
    whole: answering(wrong.whole),
    list: answering(wrong.list),
    none: answering(null),
    empty: answering({ content: null }),
  })
  for (const name of ['whole', 'list', 'none']) {
    await serverIn(daemon, name)
    const { status, body } = await daemon.request('POST', `/v1/runtime/mcp/tools/mcp__${name}__tool/call`, {})
    t.deepEqual([status, body.code], [502, 'mcp_outcome_unknown'], name)
    t.regex(body.detail, /it answered tools\/call with something that is no result/u)
  }
  await serverIn(daemon, 'empty')
  t.is((await daemon.request('POST', '/v1/runtime/mcp/tools/mcp__empty__tool/call', {})).body.output.output.text, '')
})

test('mcp-43: a prompt that is no result is told, and not shown as an empty one', async (t) => {
  const prompts = { prompts: [{ name: 'good' }] }
  const daemon = await daemonWith(t, { one: planned({ tools, prompts, results: { 'prompts/get': wrong.list } }) })
  await serverIn(daemon, 'one')
  const { code, err } = await createCommandLine(daemon)('mcp', 'prompt', 'one', 'good')
  t.is(code, 1)
  t.regex(err, /it answered prompts\/get with something that is no result/u)
})

test('mcp-7: a server whose list of tools is none is not connected, and one whose list has no end is told', async (t) => {
  const daemon = await daemonWith(t, {
    garbage: planned({ results: { 'tools/list': wrong.list } }),
    none: planned({ results: { 'tools/list': { tools: null } } }),
    endless: planned({ results: { 'tools/list': { tools, nextCursor: 'again' } } }),
  })
  const { problem } = await serverIn(daemon, 'garbage', 'waiting')
  t.is(problem, 'it answered tools/list with something that is no result')
  await serverIn(daemon, 'none')
  await serverIn(daemon, 'endless')
  const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
  t.deepEqual(
    warnings
      .filter(({ code }: any) => code === 'mcp_tools_not_read')
      .map(({ related_id, message }: any) => [related_id, message]),
    [['endless', 'The list of tools of the MCP server endless has no end: what came before counts.']],
  )
})

test('mcp-5: each odd tool is named in the log with what is wrong, and the warning says what helps', async (t) => {
  const odd = [{ name: '' }, { name: 7 }, null, { name: 'tool' }, { name: `l${'o'.repeat(300)}ng` }]
  const daemon = await daemonWith(t, { one: planned({ results: { 'tools/list': { tools: [...tools, ...odd] } } }) })
  await serverIn(daemon, 'one')
  const lines = daemon.log.filter(({ fact }) => fact === 'a tool of an MCP server is left out')
  t.deepEqual(
    lines.map(({ details }) => [String(details['tool']).slice(0, 4), details['reason']]),
    [
      ['', 'it has no name'],
      ['', 'it has no name'],
      ['', 'it has no name'],
      ['tool', 'it is listed twice: the first one counts'],
      ['looo', 'its name has more than 200 characters'],
    ],
  )
  const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
  const { message, action } = warnings.find(({ code }: any) => code === 'mcp_tools_left_out')
  t.is(message, '5 tools of the MCP server one are left out.')
  t.regex(action, /^The log names those that are odd and says why/u)
})

test('mcp-2: a server that does not answer the handshake with a result is told so', async (t) => {
  const daemon = await daemonWith(t, {
    text: planned({ results: { initialize: 'x' } }),
    wrong: planned({ results: { initialize: { protocolVersion: 7, capabilities: 'x' } } }),
  })
  for (const name of ['text', 'wrong']) {
    const { problem } = await serverIn(daemon, name, 'waiting')
    t.is(problem, 'it answered initialize with something that is no result')
  }
})

/** Answers every request as its path says: a status, and where to. */
const statusServer = async (t: ExecutionContext): Promise<string> => {
  const server = createServer(({ url = '' }, response) => {
    const [, status, location = ''] = /^\/(\d+)(?:\/(.*))?$/u.exec(url) ?? []
    const headers = location === '' ? {} : { location: decodeURIComponent(location) }
    response.writeHead(Number(status), { 'content-type': 'text/html', ...headers }).end(status === '500' ? 'boom' : '')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('mcp-2: a server over HTTP that lets nobody in is told with what helps, in the words of its table', async (t) => {
  const base = await statusServer(t)
  const at = (path: string, more: object = {}) => ({ url: `${base}/${path}`, allow_private_network: true, ...more })
  const isOut = 'and so does not let the daemon in'
  process.env['MCP_ANSWERS_TOKEN'] = 'sesame-answers'
  const elsewhere = encodeURIComponent('https://u:p@elsewhere.example/mcp?key=1#x')
  const told: Readonly<Record<string, readonly [entry: object, problem: string]>> = {
    nobody: [
      at('401'),
      `it answered with status 401, ${isOut}: name a secret in bearer_token_secret_ref of its table, or an account in oauth_slot_ref`,
    ],
    bearer: [
      at('403', { bearer_token_env_var: 'MCP_ANSWERS_TOKEN' }),
      `it answered with status 403, ${isOut}: set the variable MCP_ANSWERS_TOKEN to what it takes where the daemon is started (bearer_token_env_var of its table)`,
    ],
    header: [
      at('401', { http_header_secret_refs: { 'x-key': 'mcp.key' } }),
      `it answered with status 401, ${isOut}: store what it takes with holdfast mcp auth set --stdin mcp.key (http_header_secret_refs of its table)`,
    ],
    moved: [
      at(`302/${elsewhere}`),
      'it answered with status 302, a redirect to https://elsewhere.example/mcp that is not followed: put that into url of its table if it is the right server',
    ],
    page: [at('200'), 'it answered with text/html, as no MCP server does: see url of its table'],
    broken: [at('500'), 'it answered with status 500: boom'],
    gone: [at('404'), 'it answered with status 404'],
  }
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const daemon = await startTestDaemon(t, { root })
  const slot = { slot_id: 'mcp.key', state: { value: 'sesame-of-answers' } }
  t.true((await daemon.request('POST', '/v1/runtime/secrets', slot)).status < 300)
  await writeServers(root, Object.fromEntries(Object.entries(told).map(([name, [entry]]) => [name, entry])))
  for (const [name, [, problem]] of Object.entries(told))
    t.is((await serverIn(daemon, name, 'waiting')).problem, problem)
})
