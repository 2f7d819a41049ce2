/** How servers come and are connected again. */
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { assert } from '../../../../../core/base/assert.js'
import { createClock } from '../../../../../core/base/clock.js'
import { parse } from '../../../../../core/plugin.js'
import { ServerEntry } from '../../../../../plugins/tools/mcp/config/entry.js'
import { createServer } from '../../../../../plugins/tools/mcp/servers/server.js'
import { freshRoot, startTestDaemon } from '../../../../support/daemon.js'
import { eventually, planned, serverIn, writeServers } from '../../../../support/mcp.js'

const tools = [{ name: 'tool', inputSchema: { type: 'object' } }]

const daemonWith = async (t: ExecutionContext, servers: Readonly<Record<string, object>>) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await writeServers(root, servers)
  return startTestDaemon(t, { root })
}

test('mcp-2, mcp-16: servers that never answer hold up no other, and no required one', async (t) => {
  const hangs = planned({ hangs: 'initialize' }, { startup_timeout_sec: 600 })
  const hanging = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`hangs${at}`, hangs]))
  const daemon = await daemonWith(t, {
    ...hanging,
    good: planned({ tools }),
    required: planned({ tools }, { required: true, startup_timeout_sec: 600 }),
  })
  await Promise.all(['good', 'required'].map((name) => serverIn(daemon, name)))
  t.is((await daemon.request('GET', '/readyz')).status, 200)
})

test('mcp-3: a server that ends while it waits for its turn to be connected begins nothing any more', async (t) => {
  const parsed = parse(ServerEntry, { command: 'x' })
  assert(parsed.ok, 'it is an entry')
  const begun: PropertyKey[] = []
  let give: () => void = () => {}
  const turn = new Promise<void>((resolve) => {
    give = resolve
  })
  let isWaiting: () => void = () => {}
  const waiting = new Promise<void>((resolve) => {
    isWaiting = resolve
  })
  const quiet = { info: () => {}, warn: () => {} }
  const parts = {
    clock: createClock(),
    log: quiet,
    redact: (text: string) => text,
    untilReady: () => Promise.resolve(),
    inTurn: async (_turn: unknown, work: () => Promise<unknown>) => {
      isWaiting()
      await turn
      return work()
    },
    onTools: () => Promise.resolve(),
  }
  // All else is what connections are made of.
  const watched = new Proxy(parts, {
    get: (target, name) => (name in target ? Reflect.get(target, name) : void begun.push(name)),
  })
  const server = createServer(watched as never, 'late', parsed.value)
  await waiting
  const ended = server.end()
  give()
  await ended
  t.deepEqual(begun, [])
})

test('mcp-4: a secret that changes while its server is being connected is taken', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'config'), { recursive: true })
  const daemon = await startTestDaemon(t, { root })
  const store = async (value: string) => {
    const { status, text } = await daemon.request('POST', '/v1/runtime/secrets', {
      slot_id: 'mcp.key',
      state: { value: `sesame-${value}` },
    })
    t.true(status < 300, text)
  }
  await store('wrong')
  const notes = join(root, 'config', 'notes')
  const more = { env_secret_refs: { KEY: 'mcp.key' }, startup_timeout_sec: 600 }
  await writeServers(root, { keyed: planned({ notes, answersWith: 'KEY=sesame-right', tools }, more) })
  await eventually(async () => {
    return (await readFile(notes, 'utf8').catch(() => '')).includes('initialize') ? true : undefined
  })
  await store('right')
  t.is((await serverIn(daemon, 'keyed')).tool_count, 1)
})

test('mcp-7: tools that change while they are listed for the first time are seen', async (t) => {
  const daemon = await daemonWith(t, { changes: planned({ changes: true, tools }) })
  await eventually(async () => {
    const { body } = await daemon.request('GET', '/v1/runtime/mcp/tools')
    return body.tools.some(({ name }: any) => name === 'mcp__changes__later') ? true : undefined
  })
  t.pass()
})

test('mcp-18: a server that answers the handshake and never lists its tools is told as that', async (t) => {
  const daemon = await daemonWith(t, { silent: planned({ hangs: 'tools/list' }, { startup_timeout_sec: 8 }) })
  t.is((await serverIn(daemon, 'silent', 'waiting')).problem, 'it did not answer within 8 s, its startup_timeout_sec')
})

test('mcp-18: a server that writes what is no message is told with the line, in the log and where its start failed', async (t) => {
  const script = "console.log('Listening on stdio, ghp_abcdefghijklmnop1234'); setInterval(() => {}, 1000)"
  const talker = { command: process.execPath, args: ['-e', script], startup_timeout_sec: 8 }
  const daemon = await daemonWith(t, { talker })
  const line = 'Listening on stdio, <redacted>'
  const { problem } = await serverIn(daemon, 'talker', 'waiting')
  t.is(problem, `it did not answer within 8 s, its startup_timeout_sec; it wrote a line that is no message: ${line}`)
  const logged = daemon.log.find(({ fact }) => fact === 'an MCP server wrote a line that is no message')
  t.deepEqual(logged?.details, { plugin: 'mcp', server: 'talker', line })
})

test('mcp-24: a tool with a deeply nested schema is left out, and the others of its server count', async (t) => {
  const nested = (levels: number): object =>
    levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } }
  const deep = { name: 'deep', inputSchema: nested(70) }
  const deeper = { name: 'deeper', inputSchema: nested(1_000) }
  const daemon = await daemonWith(t, { deep: planned({ tools: [deep, deeper, ...tools] }) })
  const { tool_count, left_out_count } = await serverIn(daemon, 'deep')
  t.deepEqual([tool_count, left_out_count], [1, 2])
})
