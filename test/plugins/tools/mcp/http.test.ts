/** Servers over HTTP that answer in every wrong way. */
import { rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { serverIn, writeServers } from '../../../support/mcp.js'

type Answer = (response: ServerResponse, id: number) => void

const json = (response: ServerResponse, message: object): void =>
  void response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', ...message }))
const stream = (response: ServerResponse): ServerResponse => response.setHeader('content-type', 'text/event-stream')
const text = (value: string) => ({ content: [{ type: 'text', text: value }] })

const capabilities = { tools: {} }
const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, annotations: { idempotentHint: false } })

/** What a stream of events brings, once or again and again; where it is to end, `asked` has when it was asked for. */
interface Events {
  readonly text: string
  readonly isEndless: boolean
  readonly asked?: number[]
}

/** A server with a tool for each answer. */
const startServer = async (t: ExecutionContext, tools: Readonly<Record<string, Answer>>, events?: Events) => {
  const answer = (response: ServerResponse, { id, method, params }: any): void => {
    if (method === 'initialize') {
      const serverInfo = { name: 'odd', version: '1' }
      json(response, { id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } })
    } else if (method === 'tools/list') json(response, { id, result: { tools: Object.keys(tools).map(tool) } })
    else if (method === 'tools/call') tools[params.name]?.(response, id)
    else if (id === undefined) response.writeHead(202).end()
    else json(response, { id, result: {} })
  }
  const flood = (response: ServerResponse, { text: brought, isEndless, asked }: Events): void => {
    stream(response)
    if (asked !== undefined) {
      asked.push(performance.now())
      return void response.end(brought)
    }
    const more = (): void => {
      while (!response.destroyed && response.write(brought) && isEndless);
      if (isEndless) response.once('drain', more)
    }
    more()
  }
  const server = createServer((request, response) => {
    if (request.method !== 'POST')
      return request.method === 'GET' && events !== undefined
        ? flood(response, events)
        : void response.writeHead(405).end()
    return void textOf(request).then((body) => answer(response, JSON.parse(body)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close() && server.closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

const daemonWith = async (t: ExecutionContext, url: string) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, { odd: { url, allow_private_network: true, tool_timeout_sec: 600 } })
  return startTestDaemon(t, { root })
}

test('mcp-25: a request fails when its answer is over, and not when its time is', async (t) => {
  const tools: Readonly<Record<string, Answer>> = {
    ends: (response) => void stream(response).end('data: {"jsonrpc":"2.0","method":"notifications/x"}\n\n'),
    empty: (response) => void stream(response).end(),
    accepts: (response) => void response.writeHead(202).end(),
    nothing: (response) => void response.writeHead(200).end(),
    another: (response, id) => json(response, { id: String(id), result: text('not this one') }),
    nowhere: (response) => json(response, { method: 'notifications/x' }),
    works: (response, id) => json(response, { id, result: text('It works.') }),
    streams: (response, id) =>
      void stream(response).end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: text('It streams.') })}\n\n`),
  }
  const daemon = await daemonWith(t, await startServer(t, tools))
  await serverIn(daemon, 'odd')
  const call = (name: string) => daemon.request('POST', `/v1/runtime/mcp/tools/mcp__odd__${name}/call`, {})
  for (const name of Object.keys(tools).slice(0, -2)) t.is((await call(name)).body.code, 'mcp_outcome_unknown', name)
  t.is((await call('works')).body.output.output.text, 'It works.')
  t.is((await call('streams')).body.output.output.text, 'It streams.')
})

test('mcp-2: a server that answers with a failure is told with its status', async (t) => {
  const server = createServer((_, response) => void response.writeHead(404).end('{}'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close() && server.closeAllConnections())
  const daemon = await daemonWith(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
  t.regex((await serverIn(daemon, 'odd', 'waiting')).problem, /^it answered with status 404/u)
})

test('mcp-24: an answer that is nested a hundred thousand levels deep is cut, and it is an answer', async (t) => {
  const deep = (response: ServerResponse, id: number): void => {
    const value = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
    response.setHeader('content-type', 'application/json')
    response.end(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":{"deep":${value}}}}`)
  }
  const daemon = await daemonWith(t, await startServer(t, { deep }))
  await serverIn(daemon, 'odd')
  const { body } = await daemon.request('POST', '/v1/runtime/mcp/tools/mcp__odd__deep/call', {})
  t.regex(body.output.output.text, /nested too deeply/u)
  t.false(body.output.is_error)
})

test('mcp-26: a server whose stream of events ends at once is asked after a second, then after two', async (t) => {
  const asked: number[] = []
  const url = await startServer(t, { works: () => {} }, { text: ': nothing\n\n', isEndless: false, asked })
  await serverIn(await daemonWith(t, url), 'odd')
  while (asked.length < 3) await new Promise((go) => setTimeout(go, 20))
  const [first = 0, second = 0, third = 0] = asked
  t.true(second - first > 900, `${second - first}`)
  t.true(third - second > 1_900, `${third - second}`)
})

test('mcp-23: a stream of events that are no messages ends its connection, and the reason is told', async (t) => {
  const url = await startServer(t, { works: () => {} }, { text: 'data: {\n\n'.repeat(1_001), isEndless: false })
  const daemon = await daemonWith(t, url)
  t.regex((await serverIn(daemon, 'odd', 'waiting')).problem, /more than 1000 lines that are no messages/u)
})

test('mcp-23: a stream that brings more than can be read ends its connection, and the reason is told', async (t) => {
  const event = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })}\n\n`
  const daemon = await daemonWith(
    t,
    await startServer(t, { works: () => {} }, { text: event.repeat(100), isEndless: true }),
  )
  t.regex((await serverIn(daemon, 'odd', 'waiting')).problem, /more than can be read/u)
})
