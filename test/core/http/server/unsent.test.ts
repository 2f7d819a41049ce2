import test, { type ExecutionContext } from 'ava'
import { connect, type Socket } from 'node:net'
import { createClock } from '../../../../core/base/clock.js'
import { defineEvent } from '../../../../core/events/contract.js'
import { defineRoute, textReply } from '../../../../core/http/routes/route.js'
import { open } from '../../../../core/base/schema.js'
import { startServer, streamRoute, type TestServer } from '../../../support/http.js'

const size = 8_000_000
const large = defineRoute({
  id: 'large.get',
  method: 'GET',
  path: '/v1/large',
  summary: 'Large.',
  access: 'read',
  reply: textReply(),
  handler: () => 'x'.repeat(size),
})
const slow = defineRoute({
  id: 'slow.get',
  method: 'GET',
  path: '/v1/slow',
  summary: 'Slow.',
  access: 'read',
  reply: textReply(),
  handler: async () => {
    await createClock().sleep(1500)
    return 'slow'
  },
})
const changed = defineEvent({ name: 'changed', summary: 'Changed.', data: open({}) })

interface Lazy {
  readonly socket: Socket
  readonly got: () => number
  readonly text: () => string
  /** Resolves when the other side has closed or cut the connection. */
  readonly gone: Promise<void>
}
/** A client that asks and reads nothing until it is resumed. */
const lazy = (t: ExecutionContext, { port }: TestServer, path: string): Lazy => {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => void socket.destroy())
  let text = ''
  const gone = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`)
  return { socket, got: () => text.length, text: () => text, gone }
}
const until = async (holds: () => Promise<boolean> | boolean): Promise<void> => {
  const clock = createClock()
  for (let tries = 0; tries < 2000 && !(await holds()); tries += 1) await clock.sleep(10)
}
const connections = (server: TestServer): Promise<number> => server.server.connections()

test('http-33: a client that takes nothing of its answer is cut after the write limit, and one that reads slowly is not', async (t) => {
  const server = await startServer(t, {
    routes: [large],
    server: { limits: { writeTimeout: 3000, keepAliveTimeout: 60_000 } },
  })
  const idle = lazy(t, server, '/v1/large')
  const reader = lazy(t, server, '/v1/large')
  const clock = createClock()
  while (reader.got() < size && !reader.socket.destroyed) {
    reader.socket.resume()
    await clock.sleep(20)
    reader.socket.pause()
    await clock.sleep(30)
  }
  t.true(reader.got() > size)
  await until(async () => (await connections(server)) <= 1)
  t.is(await connections(server), 1, 'the reader keeps its connection')
  idle.socket.resume()
  await idle.gone
  t.true(idle.got() < size)
})

test('answers that nobody reads are bounded in bytes: the one that waits for the longest is cut', async (t) => {
  const server = await startServer(t, { routes: [large], server: { limits: { unsentBytes: 3.5 * size } } })
  const clients: Lazy[] = []
  for (let n = 1; n <= 8; n += 1) {
    clients.push(lazy(t, server, '/v1/large'))
    const wanted = Math.min(n, 3)
    await until(async () => server.server.unsentBytes > (wanted - 1) * size && (await connections(server)) <= wanted)
    t.true(server.server.unsentBytes <= 3.5 * size)
  }
  t.is((await server.ask('GET', '/v1/large')).text.length, size, 'who reads is answered')
  for (const { socket } of clients) socket.resume()
  await Promise.all(clients.slice(0, 5).map(({ gone }) => gone))
  t.true(clients.slice(0, 5).every(({ got }) => got() < size))
  await until(() => clients.slice(6).every(({ got }) => got() > size))
  t.true(clients.slice(6).every(({ got }) => got() > size))
  t.is(server.server.unsentBytes, 0)
})

test('the write limit ends with the answer: a request behind it may take its time', async (t) => {
  const server = await startServer(t, { routes: [large, slow], server: { limits: { writeTimeout: 1000 } } })
  const client = lazy(t, server, '/v1/large')
  client.socket.write(`GET /v1/slow HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\n\r\n`)
  await until(() => server.server.unsentBytes > 0)
  client.socket.resume()
  await until(() => client.text().endsWith('slow'))
  t.true(client.text().endsWith('slow'))
})

test('events-18: a stream whose reader has stopped is cut after the write limit, and its frames leave the account', async (t) => {
  const server = await startServer(t, { routes: [streamRoute], server: { limits: { writeTimeout: 1000 } } })
  const client = lazy(t, server, '/v1/events/stream')
  await until(() => server.bus.statistics().subscriber_count === 1)
  const pad = 'x'.repeat(200_000)
  for (let n = 0; n < 60; n += 1) {
    server.bus.publish(changed, {}, () => ({ n, pad }))
    await createClock().sleep(1)
  }
  t.true(server.server.unsentBytes > 0)
  await until(() => server.bus.statistics().subscriber_count === 0)
  t.is(server.bus.statistics().subscriber_count, 0)
  t.is(server.server.unsentBytes, 0)
  client.socket.resume()
  await client.gone
})
