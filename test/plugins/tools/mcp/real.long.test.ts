/** Servers that others made, over both transports. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { eventually, serverIn, writeServers } from '../../../support/mcp.js'
import { openSession, submit, until } from '../../../support/runs.js'

const { resolve } = createRequire(import.meta.url)
const programOf = (name: string): string =>
  join(dirname(resolve(`@modelcontextprotocol/${name}/package.json`)), 'dist/index.js')
const flags = { 'permission-mode': 'bypassPermissions' }

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

const daemonWith = async (t: ExecutionContext, servers: (root: string) => Readonly<Record<string, object>>) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, servers(root))
  return startTestDaemon(t, { root, flags })
}

test('mcp-2: real servers over standard input: their tools work, their resources are read', async (t) => {
  const daemon = await daemonWith(t, (root) => ({
    everything: { command: process.execPath, args: [programOf('server-everything')] },
    files: { command: process.execPath, args: [programOf('server-filesystem'), join(root, 'config')] },
    memory: {
      command: process.execPath,
      args: [programOf('server-memory')],
      env: { MEMORY_FILE_PATH: join(root, 'config', 'memory.json') },
    },
  }))
  const { root } = daemon
  await mkdir(join(root, 'config'), { recursive: true })
  await writeFile(join(root, 'config', 'hello.txt'), 'Hello from a file.')
  await Promise.all(['everything', 'files', 'memory'].map((name) => serverIn(daemon, name)))
  const entity = { name: 'Ada', entityType: 'person', observations: ['counts'] }
  const session = await openSession(daemon)
  const lines = [
    `/tool mcp__everything__echo ${JSON.stringify({ message: 'hi' })}`,
    `/tool mcp__files__read_text_file ${JSON.stringify({ path: join(root, 'config', 'hello.txt') })}`,
    `/tool mcp__files__read_text_file ${JSON.stringify({ path: '/etc/passwd' })}`,
    `/tool mcp__memory__create_entities ${JSON.stringify({ entities: [entity] })}`,
    `/tool mcp__memory__search_nodes ${JSON.stringify({ query: 'Ada' })}`,
    '/tool list_mcp_resources {"server":"everything"}',
  ]
  const { run_id } = await submit(daemon, session, [...lines, '/say done'].join('\n'))
  await until(daemon, run_id, 'completed', 'failed')
  const { body } = await daemon.request('GET', `/v1/sessions/${session}/events`)
  const outcomes = body.session.journal
    .filter(({ type }: any) => type === 'outcome')
    .map(({ entry }: any) => entry)
    .toSorted((a: any, b: any) => a.tool_call_id.localeCompare(b.tool_call_id, 'en', { numeric: true }))
  t.deepEqual(
    outcomes.map(({ state }: any) => state),
    ['done', 'done', 'failed', 'done', 'done', 'done'],
  )
  t.regex(outcomes[0].output.text, /hi/u)
  t.regex(outcomes[1].output.text, /Hello from a file\./u)
  t.regex(outcomes[4].output.text, /counts/u)
  t.true(outcomes[5].output.resources.length > 0)
})

test('mcp-2, mcp-4: a real server over HTTP; it is connected again when it is back', async (t) => {
  const port = await freePort()
  const begin = () =>
    spawn(process.execPath, [programOf('server-everything'), 'streamableHttp'], {
      env: { ...process.env, PORT: String(port) },
      stdio: 'ignore',
    })
  let server = begin()
  t.teardown(() => server.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/mcp`
  const daemon = await daemonWith(t, () => ({
    web: { url, allow_private_network: true, headers: { 'x-one': '1' } },
    refused: { url: `http://localhost:${port}/mcp`, allow_cidrs: ['10.0.0.0/8'] },
  }))
  await serverIn(daemon, 'web')
  const echo = () =>
    daemon.request('POST', '/v1/runtime/mcp/tools/mcp__web__echo/call', { input: { message: 'over HTTP' } })
  t.regex((await echo()).body.output.output.text, /over HTTP/u)
  server.kill('SIGKILL')
  await once(server, 'exit')
  server = begin()
  const again = await eventually(async () => {
    const answer = await echo()
    return answer.status === 200 && !answer.body.output.is_error ? answer : undefined
  })
  t.regex(again.body.output.output.text, /over HTTP/u)
})

test('mcp-4, mcp-18: headers are sent with their secrets; an endless answer is cut', async (t) => {
  const seen: (string | undefined)[] = []
  const server = createServer((request, response) => {
    seen.push(request.headers['x-key'] as string | undefined, request.headers.authorization)
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = (): void => void response.write(Buffer.alloc(1024 * 1024, 0x20), (error) => error ?? more())
    more()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const daemon = await daemonWith(t, () => ({
    endless: {
      url: `http://127.0.0.1:${port}/`,
      allow_cidrs: ['127.0.0.0/8'],
      http_header_secret_refs: { 'x-key': 'mcp.key' },
      bearer_token_secret_ref: 'mcp.bearer',
    },
  }))
  for (const slot_id of ['mcp.key', 'mcp.bearer'])
    await daemon.request('POST', '/v1/runtime/secrets', { slot_id, state: { value: `value-of-${slot_id}-4711` } })
  await eventually(async () => (seen.length > 1 ? true : undefined))
  t.deepEqual(seen.slice(0, 2), ['value-of-mcp.key-4711', 'Bearer value-of-mcp.bearer-4711'])
  const cut = await eventually(async () => {
    const { body } = await daemon.request('GET', '/v1/runtime/mcp/servers')
    return body.servers.find(({ problem }: any) => /16 MiB/u.test(problem ?? ''))
  })
  t.is(cut.name, 'endless')
})
