/** Clients that send the end of their stream behind their request, and read on. */
import { connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { object, string } from '../../../../core/base/schema.js'
import { defineRoute, jsonReply, streamReply, textReply } from '../../../../core/http/routes/route.js'
import { startServer, streamRoute } from '../../../support/http.js'

const clock = createClock()
const waitMs = 60_000

/** Answers after a moment, in which the end of the client's stream arrives. */
const echo = defineRoute({
  id: 'echo.make',
  method: 'POST',
  path: '/v1/echo',
  summary: 'Echoes.',
  access: 'admin',
  body: object({ text: string() }),
  reply: jsonReply(object({ text: string() })),
  handler: async ({ body }) => {
    await clock.sleep(30)
    return body
  },
})
const waiting = defineRoute({
  id: 'waiting.make',
  method: 'POST',
  path: '/v1/waiting',
  summary: 'Waits.',
  access: 'admin',
  body: object({ text: string() }),
  reply: textReply(),
  handler: async ({ body, signal }) =>
    `${body.text} ${(await clock.sleep(waitMs, signal)) ? 'in time' : 'as it stands'}`,
})
/** Asks for its signal when the end of the client's stream has long been read. */
const late = defineRoute({
  id: 'late.get',
  method: 'GET',
  path: '/v1/late',
  summary: 'Waits late.',
  access: 'read',
  reply: textReply(),
  handler: async (input) => {
    await clock.sleep(30)
    return (await clock.sleep(waitMs, input.signal)) ? 'in time' : 'as it stands'
  },
})

/** Begins when the end of the client's stream has long been read. */
const lateStream = defineRoute({
  id: 'late.stream',
  method: 'GET',
  path: '/v1/late-stream',
  summary: 'Begins late.',
  access: 'read',
  reply: streamReply(),
  handler: async () => {
    await clock.sleep(30)
    return {}
  },
})

const post = (path: string, text: string): string => {
  const body = JSON.stringify({ text })
  return [
    `POST ${path} HTTP/1.1`,
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n')
}
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

interface HalfClosed {
  readonly socket: Socket
  /** Everything that came until the server ended the connection. */
  readonly all: Promise<string>
}

const send = (t: ExecutionContext, port: number, text: string): HalfClosed => {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.teardown(() => socket.destroy())
  let got = ''
  socket.on('data', (piece: Buffer) => {
    got += piece.toString('utf8')
  })
  const all = new Promise<string>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('end', () => resolve(got))
  })
  socket.write(text)
  return { socket, all }
}
const sendAndEnd = (t: ExecutionContext, port: number, text: string): Promise<string> => {
  const { socket, all } = send(t, port, text)
  socket.end()
  return all
}

const routes = [echo, waiting, late, lateStream, streamRoute]

test('http-39: what is asked by a client that then ends its stream is answered', async (t) => {
  const { port } = await startServer(t, { routes })
  t.regex(await sendAndEnd(t, port, get('/healthz')), /^HTTP\/1\.1 200 [^]*\r\n\r\nok$/u)
  t.regex(await sendAndEnd(t, port, post('/v1/echo', 'one')), /^HTTP\/1\.1 200 [^]*\{"text":"one"\}$/u)
  const large = 'x'.repeat(600_000)
  t.true((await sendAndEnd(t, port, post('/v1/echo', large))).endsWith(`{"text":"${large}"}`))
})

test('http-39: so are the requests before it on the connection, in order', async (t) => {
  const { port } = await startServer(t, { routes })
  const asked = [post('/v1/echo', 'one'), get('/healthz'), post('/v1/echo', 'two')].join('')
  t.regex(await sendAndEnd(t, port, asked), /\{"text":"one"\}HTTP[^]*\r\n\r\nokHTTP[^]*\{"text":"two"\}$/u)
})

test('http-39: what only waits is answered as it stands', async (t) => {
  const { port } = await startServer(t, { routes })
  t.regex(await sendAndEnd(t, port, post('/v1/waiting', 'one')), /^HTTP\/1\.1 200 [^]*\r\n\r\none as it stands$/u)
  t.regex(await sendAndEnd(t, port, get('/v1/late')), /^HTTP\/1\.1 200 [^]*\r\n\r\nas it stands$/u)
})

test('http-39: an event stream ends cleanly, whenever its client does', async (t) => {
  const { port, server } = await startServer(t, { routes })
  const whole = /^HTTP\/1\.1 200 [^]*text\/event-stream[^]*: connected\n\n$/u
  t.regex(await sendAndEnd(t, port, get('/v1/events/stream')), whole)
  t.regex(await sendAndEnd(t, port, get('/v1/late-stream')), whole)
  const { socket, all } = send(t, port, get('/v1/events/stream'))
  await new Promise((resolve) => socket.once('data', resolve))
  socket.end()
  t.regex(await all, whole)
  while ((await server.connections()) > 0) await clock.sleep(5)
  await server.drain(waitMs)
  t.pass()
})

test('a request that its client breaks off is still refused', async (t) => {
  const { port } = await startServer(t, { routes })
  t.regex(await sendAndEnd(t, port, post('/v1/echo', 'one').slice(0, -3)), /^HTTP\/1\.1 400 [^]*bad_request/u)
})
