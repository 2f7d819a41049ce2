import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { integer, object, optional, string } from '../../../../core/base/schema.js'
import { defineRoute, jsonReply } from '../../../../core/http/routes/route.js'
import type { ServerLimits } from '../../../../core/http/server/server.js'
import { startServer } from '../../../support/http.js'

const mebibyte = 1_048_576
/** On a machine that others keep busy. */
const patienceMs = 120_000

/** A route that takes files and waits at a gate, before or after it has let go of the body. */
const setUp = async (t: ExecutionContext, limits: Partial<ServerLimits> = {}) => {
  const seen: string[] = []
  const gates = new Map<string, () => void>()
  const files = defineRoute({
    id: 'files.put',
    method: 'POST',
    path: '/v1/files',
    summary: 'Keeps a file.',
    access: 'admin',
    body: object({
      name: string(),
      gate: optional(string()),
      note: optional(string()),
      file: optional(string()),
    }),
    bodyLimit: 24 * mebibyte,
    fileBytes: ({ file = '' }) => file.length,
    reply: jsonReply(object({ bytes: integer(), hashes: integer() })),
    handler: async ({ body: { name, gate, file = '' }, hashes, release }) => {
      seen.push(name)
      if (gate === 'released') release()
      if (gate !== undefined) await new Promise<void>((resolve) => gates.set(name, resolve))
      return { bytes: file.length, hashes: hashes.size }
    },
  })
  const server = await startServer(t, { routes: [files], server: { limits: { bodyStall: patienceMs, ...limits } } })
  const put = (name: string, size: number, more: object = {}) =>
    server.ask('POST', '/v1/files', { body: { name, file: 'x'.repeat(size), ...more } })
  const until = async (holds: () => boolean): Promise<void> => {
    const end = performance.now() + patienceMs
    while (!holds()) {
      if (performance.now() > end) throw new Error(`it does not come about, with ${server.server.bodyBytes} bytes`)
      await setTimeout(5)
    }
  }
  const opened = async (name: string): Promise<void> => {
    await until(() => gates.has(name))
    gates.get(name)?.()
  }
  /** A request whose body comes, or not, as the test says. */
  const begin = async (headers: string): Promise<{ socket: Socket; text: () => string }> => {
    const socket = connect(server.port, '127.0.0.1')
    let text = ''
    socket.on('error', () => {}).on('data', (chunk) => (text += String(chunk)))
    socket.write(
      `POST /v1/files HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Type: application/json\r\n${headers}\r\n\r\n`,
    )
    t.teardown(() => socket.destroy())
    return { socket, text: () => text }
  }
  const bytes = (): number => server.server.bodyBytes
  return { ...server, seen, put, opened, until, begin, bytes }
}

test('http-37: a body may be large with files in it, and what is no file is within 1 MiB', async (t) => {
  const { put, seen, bytes, begin, until } = await setUp(t)
  const { status, body } = await put('large', 23 * mebibyte)
  t.deepEqual([status, body], [200, { bytes: 23 * mebibyte, hashes: 1 }])
  for (const refused of [
    await put('text', 1000, { note: 'x'.repeat(mebibyte) }),
    await put('both', 5 * mebibyte, { note: 'x'.repeat(mebibyte) }),
  ]) {
    t.deepEqual([refused.status, refused.body.code, refused.body.limit_bytes], [413, 'payload_too_large', mebibyte])
  }
  const beyond = await begin(`Content-Length: ${24 * mebibyte + 1}`)
  await until(() => beyond.text() !== '')
  t.regex(beyond.text(), /^HTTP\/1\.1 413 [^]*"limit_bytes":25165824/u)
  t.deepEqual([seen, bytes()], [['large'], 0])
})

test('http-35: a body that finds no room in time is 503 with Retry-After, small ones go on, and room is given back', async (t) => {
  const { put, seen, opened, until, bytes } = await setUp(t, { bodyBytes: 8 * mebibyte, bodyWait: 200 })
  const first = put('first', 4 * mebibyte, { gate: 'held' })
  await until(() => seen.includes('first'))
  t.true(bytes() > 4 * mebibyte)
  const second = await put('second', 4 * mebibyte)
  t.deepEqual([second.status, second.body.code, second.headers['retry-after']], [503, 'too_many_bodies', '5'])
  t.is((await put('small', 1000)).status, 200)
  await opened('first')
  t.is((await first).status, 200)
  t.is((await put('third', 4 * mebibyte)).status, 200)
  t.deepEqual([seen, bytes()], [['first', 'small', 'third'], 0])
})

test('http-35: a body that is whole counts once more for what is made of it', async (t) => {
  const { put, seen, opened, until, bytes } = await setUp(t, { bodyBytes: 64 * mebibyte })
  const [large, small] = [put('large', 4 * mebibyte, { gate: 'held' }), put('small', 900_000, { gate: 'held' })]
  await until(() => seen.length === 2)
  t.true(bytes() > 2 * 4 * mebibyte + 900_000 && bytes() < 2 * 4 * mebibyte + 1_000_000)
  for (const name of ['large', 'small']) await opened(name)
  for (const { status } of await Promise.all([large, small])) t.is(status, 200)
  t.is(bytes(), 0)
})

test('http-35: a body waits for room in order, and a handler that goes on without its body gives it back', async (t) => {
  const { put, seen, opened, until, bytes } = await setUp(t, { bodyBytes: 8 * mebibyte, bodyWait: 60_000 })
  const all = [put('a', 4 * mebibyte, { gate: 'held' })]
  await until(() => seen.includes('a'))
  all.push(put('b', 4 * mebibyte, { gate: 'released' }))
  // Three quarters are for bodies as large as these: it waits where the next chunk would not fit.
  await until(() => bytes() > 5.75 * mebibyte)
  all.push(put('c', 4 * mebibyte, { gate: 'released' }))
  await setTimeout(50)
  t.deepEqual(seen, ['a'])
  await opened('a')
  await until(() => seen.length === 3)
  t.deepEqual([seen, bytes()], [['a', 'b', 'c'], 0])
  for (const name of ['b', 'c']) await opened(name)
  for (const { status } of await Promise.all(all)) t.is(status, 200)
})

test('http-35: a client that goes away gives its place back, while it waits and while it sends', async (t) => {
  const { put, begin, until, bytes } = await setUp(t, { bodyBytes: 8 * mebibyte, bodyWait: 60_000 })
  const sends = await begin(`Content-Length: ${8 * mebibyte}`)
  sends.socket.write('x'.repeat(6 * mebibyte))
  await until(() => bytes() === 6 * mebibyte)
  const waits = await begin(`Content-Length: ${5 * mebibyte}`)
  waits.socket.write('x'.repeat(mebibyte))
  const behind = put('behind', 4 * mebibyte)
  await setTimeout(50)
  waits.socket.destroy()
  sends.socket.destroy()
  t.is((await behind).status, 200)
  await until(() => bytes() === 0)
})

test('http-35: a body that does not tell its length counts as it comes', async (t) => {
  const { begin, until, bytes } = await setUp(t, { bodyBytes: 8 * mebibyte, bodyWait: 100 })
  const chunk = `${mebibyte.toString(16)}\r\n${'x'.repeat(mebibyte)}\r\n`
  const [first, second] = [await begin('Transfer-Encoding: chunked'), await begin('Transfer-Encoding: chunked')]
  for (let n = 0; n < 4; n += 1) first.socket.write(chunk)
  await until(() => bytes() === 4 * mebibyte)
  for (let n = 0; n < 4; n += 1) second.socket.write(chunk)
  await until(() => second.text() !== '')
  t.regex(second.text(), /^HTTP\/1\.1 503 [^]*too_many_bodies/u)
  await until(() => bytes() === 4 * mebibyte)
  first.socket.destroy()
  await until(() => bytes() === 0)
  t.pass()
})

test('http-35: a body that does not come along is 408, whatever its length, and gives its room and its connection back', async (t) => {
  const { begin, until, bytes, server } = await setUp(t, { bodyStall: 200 })
  for (const length of [16, 500 * 1024, 4 * mebibyte]) {
    const slow = await begin(`Content-Length: ${length}`)
    slow.socket.write('{"name":"')
    await until(() => bytes() === 9)
    await until(() => slow.text() !== '')
    t.regex(slow.text(), /^HTTP\/1\.1 408 [^]*request_timeout/u)
    await until(() => bytes() === 0)
  }
  const silent = await begin('Transfer-Encoding: chunked')
  await until(() => silent.text() !== '')
  t.regex(silent.text(), /^HTTP\/1\.1 408 [^]*request_timeout/u)
  while ((await server.connections()) > 0) await setTimeout(5)
})

test('http-35: a body is not late for the time in which it waits for room', async (t) => {
  const { begin, until, bytes, put, opened, seen } = await setUp(t, { bodyBytes: 8 * mebibyte, bodyStall: 400 })
  const first = put('first', 5 * mebibyte, { gate: 'held' })
  await until(() => seen.includes('first'))
  const waits = await begin(`Content-Length: ${2 * mebibyte}`)
  waits.socket.write('x'.repeat(mebibyte + 65_536))
  await until(() => bytes() > 6 * mebibyte - 65_536)
  await setTimeout(600)
  t.is(waits.text(), '')
  await opened('first')
  t.is((await first).status, 200)
  waits.socket.write('x'.repeat(mebibyte - 65_536))
  await until(() => waits.text() !== '')
  t.regex(waits.text(), /^HTTP\/1\.1 400 /u)
})

test('http-35: only bytes that came are held, so that lengths that are told keep nobody out', async (t) => {
  const { begin, until, bytes, put } = await setUp(t, { bodyBytes: 8 * mebibyte, bodyWait: 100 })
  for (let n = 0; n < 32; n += 1) {
    const told = await begin(`Content-Length: ${n % 2 === 0 ? mebibyte : 20 * mebibyte}`)
    told.socket.write('{')
  }
  await until(() => bytes() === 32)
  t.is((await put('tiny', 1000)).status, 200)
  t.is((await put('small', 900_000)).status, 200)
  t.is((await put('large', 2 * mebibyte)).status, 200)
})

test('http-35: tiny bodies have room of their own that no longer ones take', async (t) => {
  const { begin, until, bytes, put } = await setUp(t, { bodyBytes: 8 * mebibyte, bodyWait: 60_000 })
  for (let n = 0; n < 12; n += 1) {
    const sent = await begin(`Content-Length: ${n % 2 === 0 ? mebibyte : 20 * mebibyte}`)
    sent.socket.write('x'.repeat(900_000))
  }
  await until(() => bytes() > 6.5 * mebibyte)
  t.is((await put('tiny', 1000)).status, 200)
})

/** What goes over a connection in one piece. */
const whole = (name: string, size: number): string => {
  const body = JSON.stringify({ name, file: 'x'.repeat(size) })
  return `Content-Length: ${body.length}\r\n\r\n${body}`
}

test('http-35: a body that comes with its headers waits for its turn too', async (t) => {
  const { put, begin, seen, opened, until, bytes } = await setUp(t, { bodyBytes: 4096, bodyWait: 100 })
  const held = put('held', 3000, { gate: 'held' })
  await until(() => bytes() > 3000)
  const late = await begin(whole('late', 2000))
  await until(() => late.text() !== '')
  t.regex(late.text(), /^HTTP\/1\.1 503 .*retry-after: 5/isu)
  await opened('held')
  t.is((await held).status, 200)
  const next = await begin(whole('next', 2000))
  await until(() => next.text() !== '')
  t.regex(next.text(), /^HTTP\/1\.1 200 /u)
  t.deepEqual(seen, ['held', 'next'])
  t.is(bytes(), 0)
})

test('http-35: nothing is done for a client that went away while its body waited', async (t) => {
  const { server, put, begin, seen, opened, until, bytes } = await setUp(t, { bodyBytes: 4096, bodyWait: 60_000 })
  const held = put('held', 3000, { gate: 'held' })
  await until(() => bytes() > 3000)
  const others = await server.connections()
  const gone = await begin(whole('gone', 2000))
  while ((await server.connections()) === others) await setTimeout(5)
  await setTimeout(50)
  gone.socket.resetAndDestroy()
  while ((await server.connections()) > others) await setTimeout(5)
  await opened('held')
  t.is((await held).status, 200)
  t.is((await put('next', 2000)).status, 200)
  t.deepEqual(seen, ['held', 'next'])
  t.is(bytes(), 0)
})

test('a body that is refused holds nothing, whatever is wrong with it', async (t) => {
  const { ask, bytes } = await setUp(t)
  for (const body of ['{', '{"a":1,"a":2}', '{"name":7}', `{"name":"${'x'.repeat(2 * mebibyte)}`, '{"none":1}'])
    t.true((await ask('POST', '/v1/files', { body })).status >= 400)
  t.is((await ask('POST', '/v1/files', { body: '{}', headers: { 'content-type': 'text/plain' } })).status, 415)
  t.is(bytes(), 0)
})
