/** What becomes of calls in flight when the list or a secret of it changes. */
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { freshRoot, startTestDaemon, type TestDaemon } from '../../../../support/daemon.js'
import { askedOf, eventually, planned, serverIn, writeServers } from '../../../../support/mcp.js'
import { makeFolder } from '../../../../support/tools.js'

const inputSchema = { type: 'object' }
const tools = ['slow', 'plain', 'hangs'].map((name) => ({ name, inputSchema }))
const call = ({ request }: TestDaemon, name: string) =>
  request('POST', `/v1/runtime/mcp/tools/mcp__one__${name}/call`, {})
const store = async ({ request }: TestDaemon, value: string): Promise<void> => {
  await request('POST', '/v1/runtime/secrets', { slot_id: 'mcp.key', state: { value: `sesame-${value}` } })
}

/** A daemon whose server is in a call. */
const inCall = async (t: ExecutionContext, more: object = {}) => {
  const notes = join(await makeFolder(t), 'notes')
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const daemon = await startTestDaemon(t, { root })
  await store(daemon, 'first')
  const save = (other: object, plan: object = {}) =>
    writeServers(root, { one: planned({ notes, tools, ...plan }, { ...more, ...other }) })
  await save({})
  await serverIn(daemon, 'one')
  const slow = call(daemon, 'slow')
  await askedOf(notes, 'tools/call slow')
  const begun = async () => (await askedOf(notes)).filter((line) => line.startsWith('pid ')).length
  return { daemon, root, notes, save, slow, begun }
}

const toolsOf = async ({ request }: TestDaemon): Promise<string[]> =>
  (await request('GET', '/v1/runtime/mcp/tools')).body.tools.map(({ tool, effect }: any) => `${tool} ${effect}`)

test('mcp-39: what a save changes of filters, effects and time-outs holds at once, and calls in flight go on', async (t) => {
  const { daemon, save, slow, begun } = await inCall(t)
  await save({ disabled_tools: ['plain'], effects: { slow: 'read' }, tool_timeout_sec: 1, required: true })
  await eventually(async () => ((await toolsOf(daemon)).join() === 'slow read,hangs once' ? true : undefined))
  t.is((await slow).body.output?.output.text, 'slow {}', 'with the time-out that it began with')
  t.is((await serverIn(daemon, 'one')).required, true)
  t.is((await call(daemon, 'slow')).body.code, 'mcp_outcome_unknown', 'a later one has the new time-out')
  await save({ enabled_tools: ['plain'] })
  await eventually(async () => ((await toolsOf(daemon)).join() === 'plain once' ? true : undefined))
  t.is(await begun(), 1, 'it was connected once')
})

test('mcp-39: a tool that was left out is there when a save lets it count', async (t) => {
  const { daemon, save, slow, begun } = await inCall(t, { enabled_tools: ['slow'] })
  await save({ enabled_tools: ['*'] })
  await eventually(async () =>
    (await toolsOf(daemon)).join() === 'slow once,plain once,hangs once' ? true : undefined,
  )
  t.is((await slow).status, 200)
  t.is(await begun(), 1)
})

test('mcp-40: a program with a new secret is started when calls in flight have ended, and later calls wait for it', async (t) => {
  const { daemon, notes, slow, begun } = await inCall(t, { env_secret_refs: { KEY: 'mcp.key' } })
  await store(daemon, 'second')
  t.regex((await serverIn(daemon, 'one', 'connecting')).problem, /is to end first/u)
  const later = call(daemon, 'plain')
  t.is((await slow).body.output?.output.text, 'slow {}')
  t.is((await later).body.output?.output.text, 'plain {}')
  t.is(await begun(), 2)
  const lines = await askedOf(notes)
  t.true(lines.lastIndexOf('initialize') < lines.indexOf('tools/call plain'), 'by the program with the new secret')
  t.is(
    (await daemon.request('GET', '/v1/status')).body.health.warnings?.some((one: any) => one.related_id === 'one'),
    false,
  )
})

test('mcp-40: so is one whose arguments were changed, and what a save left out takes no call meanwhile', async (t) => {
  const { daemon, save, slow, begun } = await inCall(t)
  await save({ disabled_tools: ['slow'] }, { instructions: 'Another one.' })
  await serverIn(daemon, 'one', 'connecting')
  t.deepEqual(await toolsOf(daemon), ['plain once', 'hangs once'])
  t.is((await call(daemon, 'plain')).status, 200)
  t.is((await slow).status, 200)
  t.is(await begun(), 2)
})

test('mcp-40: a server that was removed takes no call any more, and ends with those in flight', async (t) => {
  const { daemon, root, notes, slow } = await inCall(t)
  await writeServers(root, {})
  await eventually(async () => ((await toolsOf(daemon)).length === 0 ? true : undefined))
  t.is((await call(daemon, 'plain')).body.code, 'mcp_tool_not_found')
  t.is((await slow).status, 200)
  const pid = Number((await askedOf(notes))[0]?.slice(4))
  await eventually(async () => {
    try {
      process.kill(pid, 0)
      return undefined
    } catch {
      return true
    }
  })
})

test('mcp-40: a server that comes back while its program is at work begins when that has ended', async (t) => {
  const { daemon, root, save, slow, begun } = await inCall(t)
  await writeServers(root, {})
  await eventually(async () => ((await toolsOf(daemon)).length === 0 ? true : undefined))
  await save({})
  await serverIn(daemon, 'one', 'connecting')
  const isOver = slow.then(() => true)
  const begunMeanwhile = await begun()
  t.true(begunMeanwhile === 1 || (await Promise.race([isOver, false])), 'it begins behind the call')
  t.is((await slow).status, 200)
  await serverIn(daemon, 'one')
  t.is(await begun(), 2)
})

test('mcp-40: with a secret that was revoked nothing goes on', async (t) => {
  const { daemon, slow } = await inCall(t, { env_secret_refs: { KEY: 'mcp.key' } })
  await daemon.request('POST', '/v1/runtime/auth/slots/mcp.key/revoke', {})
  t.is((await slow).body.code, 'mcp_outcome_unknown')
})

test('mcp-40: a stop waits for no call, also of a server that was removed', async (t) => {
  const { daemon, root, notes, slow } = await inCall(t, { tool_timeout_sec: 600 })
  const hanging = call(daemon, 'hangs').catch(() => {})
  await askedOf(notes, 'tools/call hangs')
  await writeServers(root, {})
  await eventually(async () => ((await toolsOf(daemon)).length === 0 ? true : undefined))
  t.is((await slow).status, 200)
  const began = performance.now()
  await daemon.stop()
  t.true(performance.now() - began < 30_000, 'as long as it waits for requests')
  await hanging
})

test('mcp-40: a server over HTTP is asked with the new secret at once, beside the calls in flight', async (t) => {
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let isAsked: () => void = () => {}
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const results: Readonly<Record<string, (params: any, key: unknown) => object | Promise<object>>> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      serverInfo: { name: 'held', version: '1' },
      capabilities: { tools: {} },
    }),
    'tools/list': () => ({ tools }),
    'tools/call': async ({ name }, key) => {
      if (name === 'slow') {
        isAsked()
        await released
      }
      return { content: [{ type: 'text', text: key === 'Bearer sesame-second' ? `${name} new` : `${name} old` }] }
    },
  }
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    return void textOf(request).then(async (body) => {
      const { id, method, params } = JSON.parse(body)
      if (id === undefined) return void response.writeHead(202).end()
      const result = (await results[method]?.(params, request.headers.authorization)) ?? {}
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close() && server.closeAllConnections())
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const daemon = await startTestDaemon(t, { root })
  await store(daemon, 'first')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  await writeServers(root, { one: { url, allow_cidrs: ['127.0.0.0/8'], bearer_token_secret_ref: 'mcp.key' } })
  await serverIn(daemon, 'one')
  const slow = call(daemon, 'slow')
  await asked
  await store(daemon, 'second')
  t.is((await call(daemon, 'plain')).body.output?.output.text, 'plain new')
  release()
  t.is((await slow).body.output?.output.text, 'slow old')
})
