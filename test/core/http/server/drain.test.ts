import test, { type ExecutionContext } from 'ava'
import { Agent, request as nodeRequest } from 'node:http'
import { connect } from 'node:net'
import { createClock } from '../../../../core/base/clock.js'
import { defineRoute, streamReply, textReply } from '../../../../core/http/routes/route.js'
import { startServer, type TestServer } from '../../../support/http.js'

/** A server with a route that answers when it is told to. */
const start = async (t: ExecutionContext) => {
  let answer = (): void => {}
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  const hold = async (): Promise<void> => {
    begin()
    await held
  }
  const heard: string[] = []
  const base = { method: 'GET', access: 'read', summary: 'Waits.' } as const
  const routes = [
    defineRoute({
      ...base,
      id: 'held.get',
      path: '/v1/held',
      reply: textReply(),
      handler: async () => {
        await hold()
        return 'held'
      },
    }),
    defineRoute({
      ...base,
      id: 'held.stream',
      path: '/v1/stream',
      reply: streamReply(),
      handler: async () => {
        await hold()
        return {}
      },
    }),
    defineRoute({
      ...base,
      id: 'waiting.get',
      path: '/v1/waiting',
      reply: textReply(),
      handler: async ({ signal }) => {
        heard.push('waits')
        await new Promise((resolve) => {
          signal.addEventListener('abort', resolve)
        })
        heard.push('ended')
        return 'x'.repeat(1000)
      },
    }),
    defineRoute({ ...base, id: 'stream.at_once', path: '/v1/at-once', reply: streamReply(), handler: () => ({}) }),
  ]
  return { server: await startServer(t, { routes }), begun, heard, answer: () => answer() }
}

interface Kept {
  readonly status: number | undefined
  readonly connection: string | undefined
  readonly text: string
}
const askKept = ({ port }: TestServer, agent: Agent, path: string): Promise<Kept> =>
  new Promise((resolve, reject) => {
    nodeRequest({ port, path, agent }, (incoming) => {
      let text = ''
      incoming.on('data', (chunk) => {
        text += String(chunk)
      })
      incoming.on('end', () => resolve({ status: incoming.statusCode, connection: incoming.headers.connection, text }))
    })
      .on('error', reject)
      .end()
  })

test('a client that keeps its connection does not hold the drain once its request is answered', async (t) => {
  const { server, begun, answer } = await start(t)
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  t.like(await askKept(server, agent, '/healthz'), { status: 200, connection: 'keep-alive' })
  const asked = askKept(server, agent, '/v1/held')
  await begun
  const before = createClock().elapsed()
  const drained = server.server.drain(60_000)
  answer()
  t.like(await asked, { status: 200, connection: 'close', text: 'held' })
  await drained
  t.true(createClock().elapsed() - before < 30_000)
})

test('http-32: while it drains, probes are answered, and whatever else is asked is refused and its connection closed', async (t) => {
  const { server, begun, answer } = await start(t)
  const asked = server.ask('GET', '/v1/held')
  await begun
  const drained = server.server.drain(60_000)
  const closing = { connection: 'close', 'retry-after': '5' }
  const ready = await server.ask('GET', '/readyz?verbose')
  t.like(ready, { status: 400 }, 'a probe takes no query')
  for (const [path, status] of [
    ['/readyz', 503],
    ['/v1/held', 503],
    ['/v1/nothing', 503],
  ] as const) {
    const reply = await server.ask('GET', path)
    t.is(reply.status, status, path)
    t.like(reply.headers, closing)
    t.like(reply.body, { code: 'daemon_draining', domain: 'readiness' })
  }
  t.is((await server.ask('GET', '/healthz')).text, 'ok')
  answer()
  t.is((await asked).text, 'held')
  await drained
  t.is((await server.ask('GET', '/readyz')).status, 503)
  await server.server.close()
  await t.throwsAsync(server.ask('GET', '/readyz'))
})

test('a connection that breaks, also with requests in line behind another, does not hold the drain', async (t) => {
  const { server, begun } = await start(t)
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /v1/held HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(3))
  await begun
  await createClock().sleep(50)
  const before = createClock().elapsed()
  const drained = server.server.drain(60_000)
  socket.resetAndDestroy()
  await drained
  t.true(createClock().elapsed() - before < 30_000)
})

test('events-22: a stream that would begin while the daemon stops is refused', async (t) => {
  const { server, begun, answer } = await start(t)
  const asked = server.ask('GET', '/v1/stream')
  await begun
  const drained = server.server.drain(60_000)
  answer()
  t.is((await asked).body.code, 'daemon_draining')
  await drained
})

test('a stream whose client has gone before it begins follows nothing', async (t) => {
  const { server, begun, answer } = await start(t)
  const ask = (text: string) => {
    const socket = connect(server.port, '127.0.0.1')
    socket.write(text)
    return socket
  }
  const stream = 'GET /v1/stream HTTP/1.1\r\nhost: localhost\r\n\r\n'
  const sockets = [ask(stream), ask(stream.replace('stream', 'held') + stream)]
  await begun
  await createClock().sleep(100)
  for (const socket of sockets) socket.resetAndDestroy()
  for (let tries = 0; (await server.server.connections()) > 0 && tries < 400; tries += 1) await createClock().sleep(5)
  answer()
  await server.ask('GET', '/v1/held')
  await createClock().sleep(50)
  t.is(server.bus.statistics().subscriber_count, 0)
})

test('a stream in line behind another answer follows nothing once its connection has gone', async (t) => {
  const { server, begun } = await start(t)
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /v1/held HTTP/1.1\r\nhost: localhost\r\n\r\nGET /v1/at-once HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await begun
  const until = async (subscribers: number): Promise<void> => {
    for (let tries = 0; server.bus.statistics().subscriber_count !== subscribers && tries < 400; tries += 1)
      await createClock().sleep(5)
    t.is(server.bus.statistics().subscriber_count, subscribers)
  }
  await until(1)
  socket.destroy()
  await until(0)
})

test('a client that holds a connection after CONNECT, or after what cannot be read, does not hold the close', async (t) => {
  for (const text of ['CONNECT a.example:443 HTTP/1.1\r\nhost: localhost\r\n\r\n', 'nonsense\r\n\r\n']) {
    const { server } = await start(t)
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    t.teardown(() => socket.destroy())
    socket.write(text)
    await new Promise((resolve) => {
      socket.once('data', resolve)
    })
    const closed = server.server.close().then(() => 'closed')
    t.is(
      await Promise.race([
        closed,
        createClock()
          .sleep(5000)
          .then(() => 'held'),
      ]),
      'closed',
      text,
    )
  }
})

test('a handler that waits in line behind another answer is told when its connection has gone', async (t) => {
  const { server, begun, heard } = await start(t)
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /v1/held HTTP/1.1\r\nhost: localhost\r\n\r\nGET /v1/waiting HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await begun
  const until = async (words: readonly string[]): Promise<void> => {
    for (let tries = 0; heard.length < words.length && tries < 400; tries += 1) await createClock().sleep(5)
    t.deepEqual(heard, words)
  }
  await until(['waits'])
  socket.resetAndDestroy()
  await until(['waits', 'ended'])
  t.is(server.server.unsentBytes, 0)
})

test('an answer in line behind another is unsent no longer once its connection has gone', async (t) => {
  const { server, begun } = await start(t)
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /v1/held HTTP/1.1\r\nhost: localhost\r\n\r\nGET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await begun
  const until = async (unsent: boolean): Promise<void> => {
    for (let tries = 0; server.server.unsentBytes > 0 !== unsent && tries < 400; tries += 1)
      await createClock().sleep(5)
    t.is(server.server.unsentBytes > 0, unsent)
  }
  await until(true)
  socket.resetAndDestroy()
  await until(false)
})
