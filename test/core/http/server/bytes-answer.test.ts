/** Answers that are files: docs/rules/http.md. */
import test, { type ExecutionContext } from 'ava'
import { request } from 'node:http'
import { connect } from 'node:net'
import { bytesReply, defineRoute, type BytesReply } from '../../../../core/http/routes/route.js'
import { defineErrors } from '../../../../core/base/errors.js'
import { startServer } from '../../../support/http.js'

const errors = defineErrors({ it_is_damaged: { status: 409, detail: 'It is damaged.' } })
const piece = 1000
const content = Buffer.from(Array.from({ length: 2500 }, (_, at) => at % 251))

const start = async (t: ExecutionContext, more: Partial<BytesReply> = {}) => {
  const counts = { opened: 0, closed: 0, pieces: 0 }
  const file = (): BytesReply => ({
    type: 'image/png',
    name: 'Bericht "März".png',
    length: content.length,
    tag: 'abc',
    open: async () => {
      counts.opened += 1
      return {
        *pieces(from, to) {
          for (let at = from; at < to; at += piece) {
            counts.pieces += 1
            yield content.subarray(at, Math.min(to, at + piece))
          }
        },
        close: async () => void (counts.closed += 1),
      }
    },
    ...more,
  })
  const route = defineRoute({
    id: 'files.raw',
    method: 'GET',
    path: '/v1/files/raw',
    summary: 'A file.',
    access: 'admin',
    reply: bytesReply(),
    handler: file,
  })
  return { server: await startServer(t, { routes: [route] }), counts }
}

const ask = (port: number, method = 'GET', headers: Record<string, string> = {}): Promise<any> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, path: '/v1/files/raw', headers, agent: false }, (incoming) => {
      const chunks: Buffer[] = []
      incoming
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () =>
          resolve({ status: incoming.statusCode, headers: incoming.headers, bytes: Buffer.concat(chunks) }),
        )
        .on('error', reject)
    })
      .on('error', reject)
      .end()
  })

test('http-42: a file comes byte for byte, to be saved by its name, and no browser runs it', async (t) => {
  const { server, counts } = await start(t)
  const { status, headers, bytes } = await ask(server.port)
  t.is(status, 200)
  t.deepEqual(bytes, content)
  t.like(headers, {
    'content-type': 'image/png',
    'content-length': '2500',
    'content-disposition': `attachment; filename="Bericht _M_rz_.png"; filename*=UTF-8''Bericht%20%22M%C3%A4rz%22.png`,
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'accept-ranges': 'bytes',
    etag: '"abc"',
  })
  while (counts.closed === 0) await new Promise(setImmediate)
  t.deepEqual(counts, { opened: 1, closed: 1, pieces: 3 })
})

test('http-42: HEAD looks at the file as GET does, and sends none of it', async (t) => {
  const { server, counts } = await start(t)
  const { status, headers, bytes } = await ask(server.port, 'HEAD', { range: 'bytes=0-0' })
  t.is(status, 200)
  t.is(headers['content-length'], '2500')
  t.is(bytes.length, 0)
  while (counts.closed === 0) await new Promise(setImmediate)
  t.deepEqual(counts, { opened: 1, closed: 1, pieces: 0 })
})

test('http-43: one range is 206 with that part, if the bytes are those that the client has a part of', async (t) => {
  const { server } = await start(t)
  const parts: [string, number, number][] = [
    ['bytes=0-0', 0, 1],
    ['bytes=10-1999', 10, 2000],
    ['bytes=2400-', 2400, 2500],
    ['bytes=2400-9999', 2400, 2500],
    [`bytes=2400-${'9'.repeat(400)}`, 2400, 2500],
    ['bytes=-1', 2499, 2500],
    ['bytes=-9999', 0, 2500],
  ]
  for (const [range, from, to] of parts) {
    const { status, headers, bytes } = await ask(server.port, 'GET', { range })
    t.is(status, 206, range)
    t.is(headers['content-range'], `bytes ${from}-${to - 1}/2500`)
    t.is(headers['content-length'], String(to - from))
    t.deepEqual(bytes, content.subarray(from, to), range)
  }
  t.is((await ask(server.port, 'GET', { range: 'bytes=0-0', 'if-range': '"abc"' })).status, 206)
  for (const whole of ['bytes=0-0,5-6', 'bytes=5-4', 'bytes=-', 'lines=1-2', 'bytes=a-b', ''])
    t.is((await ask(server.port, 'GET', { range: whole })).status, 200, whole)
  for (const tag of ['"abd"', 'W/"abc"', 'abc'])
    t.is((await ask(server.port, 'GET', { range: 'bytes=0-0', 'if-range': tag })).status, 200, tag)
  for (const behind of [`bytes=${'9'.repeat(400)}-`, 'bytes=2500-', 'bytes=9999-10000', 'bytes=-0']) {
    const { status, headers, bytes } = await ask(server.port, 'GET', { range: behind })
    t.is(status, 416, behind)
    t.is(headers['content-range'], 'bytes */2500')
    t.is(JSON.parse(String(bytes)).code, 'range_not_satisfiable')
  }
})

test('http-47: who names the tag of what is there is told that it is the same, and sent none of it', async (t) => {
  const { server, counts } = await start(t)
  const had = ['"abc"', 'W/"abc"', '*', '"x", "abc"', '"x" ,W/"abc"']
  for (const tag of had)
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, bytes } = await ask(server.port, method, { 'if-none-match': tag, range: 'bytes=0-1' })
      t.is(status, 304, tag)
      t.like(headers, { etag: '"abc"', 'cache-control': 'no-store' })
      t.is(bytes.length, 0)
    }
  for (const tag of ['"abd"', 'abc', '"ab', ''])
    t.is((await ask(server.port, 'GET', { 'if-none-match': tag })).status, 200, tag)
  while (counts.closed < counts.opened) await new Promise(setImmediate)
  t.is(counts.pieces, 4 * 3)
  const damaged = await start(t, { open: () => Promise.reject(errors.it_is_damaged()) })
  t.is((await ask(damaged.server.port, 'GET', { 'if-none-match': '"abc"' })).status, 409)
})

test('http-42: what is not as it was stored is a problem, or a connection that is cut, and is always closed', async (t) => {
  const refusing = await start(t, { open: () => Promise.reject(errors.it_is_damaged()) })
  t.is((await ask(refusing.server.port)).status, 409)
  t.is((await ask(refusing.server.port, 'HEAD')).status, 409)
  let closed = 0
  const changing = await start(t, {
    open: async () => ({
      *pieces() {
        yield content.subarray(0, piece)
        throw errors.it_is_damaged()
      },
      close: async () => void (closed += 1),
    }),
  })
  await t.throwsAsync(ask(changing.server.port), { code: 'ECONNRESET' })
  while (closed === 0) await new Promise(setImmediate)
  t.is(closed, 1)
})

test('http-42: no more of a file is in memory than its client takes, and one who goes away lets it go', async (t) => {
  const size = 256 * 1024
  let [given, closed] = [0, 0]
  const { server } = await start(t, {
    length: 400 * size,
    open: async () => ({
      *pieces() {
        for (; given < 400; given += 1) yield Buffer.alloc(size)
      },
      close: async () => void (closed += 1),
    }),
  })
  const socket = connect(server.port, '127.0.0.1')
  socket.write('GET /v1/files/raw HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await new Promise((resolve) => socket.once('readable', resolve))
  for (let [before, still] = [-1, 0]; still < 20; still = given === before ? still + 1 : 0) {
    before = given
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  t.true(given < 100, `${given} pieces were made`)
  t.true(server.server.unsentBytes <= 2 * size)
  socket.destroy()
  while (closed === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  t.is(server.server.unsentBytes, 0)
})

test('http-42: of many files that leave, one piece is read in each turn of the event loop', async (t) => {
  let [turns, most] = [0, 0]
  const read = new Map<number, number>()
  const count = (): void => void ((turns += 1), (turn = setImmediate(count)))
  let turn = setImmediate(count)
  t.teardown(() => clearImmediate(turn))
  const { server } = await start(t, {
    open: async () => ({
      *pieces() {
        for (let at = 0; at < content.length; at += piece) {
          read.set(turns, (read.get(turns) ?? 0) + 1)
          most = Math.max(most, read.get(turns) ?? 0)
          yield content.subarray(at, at + piece)
        }
      },
      close: async () => {},
    }),
  })
  await Promise.all(Array.from({ length: 20 }, () => ask(server.port)))
  t.is(most, 1)
})
