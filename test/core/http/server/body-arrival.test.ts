import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { PassThrough } from 'node:stream'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { integer, object, unsafeCast } from '../../../../core/base/schema.js'
import { defineRoute, jsonReply } from '../../../../core/http/routes/route.js'
import { dropRest, restOf } from '../../../../core/http/server/body-arrival.js'
import { startServer } from '../../../support/http.js'

const mebibyte = 1024 * 1024
const put = defineRoute({
  id: 'notes.put',
  method: 'POST',
  path: '/v1/notes',
  summary: 'Keeps a note.',
  access: 'admin',
  body: object({ note: integer() }),
  bodyLimit: 4096,
  reply: jsonReply(object({ note: integer() })),
  handler: ({ body }) => body,
})
const head = (more: string): string =>
  `POST /v1/notes HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}\r\n\r\n`
const refusal = /^HTTP\/1\.1 413 [^]*"code":"payload_too_large"/u

const pieces = 16
const piece = Buffer.alloc(mebibyte, 'x')
const chunk = Buffer.concat([Buffer.from('100000\r\n'), piece, Buffer.from('\r\n')])
const forms: readonly (readonly [name: string, headers: string, piece: Buffer, last: string])[] = [
  ['of a length', `Content-Length: ${pieces * mebibyte}`, piece, ''],
  ['of a length, the last of its connection', `Connection: close\r\nContent-Length: ${pieces * mebibyte}`, piece, ''],
  ['in chunks', 'Transfer-Encoding: chunked', chunk, '0\r\n\r\n'],
]
for (const [name, headers, bytes, last] of forms)
  test(`http-19: who reads nothing before all of its body is sent finds the answer: ${name}`, async (t) => {
    const server = await startServer(t, { routes: [put] })
    for (let round = 0; round < 5; round += 1) {
      const socket = connect(server.port, '127.0.0.1')
      t.teardown(() => socket.destroy())
      const broken = new Promise<Error>((resolve) => socket.once('error', resolve))
      socket.write(head(headers))
      for (let n = 0; n < pieces; n += 1)
        if (!socket.write(bytes)) t.false((await Promise.race([once(socket, 'drain'), broken])) instanceof Error)
      socket.write(last)
      let got = ''
      for await (const text of socket) got += String(text)
      t.regex(got, refusal)
    }
  })

test('http-19: the rest of a refused body is waited for as long as it comes, then its connection is closed', async (t) => {
  const server = await startServer(t, { routes: [put], server: { limits: { bodyStall: 200 } } })
  const socket = connect(server.port, '127.0.0.1')
  let got = ''
  socket.on('data', (text) => (got += String(text))).write(`${head('Content-Length: 5000')}{`)
  await once(socket, 'end')
  t.regex(got, refusal)
})

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('http-19: of a refused body no more than 128 MiB are read', async (t) => {
  const body = new PassThrough()
  const request = unsafeCast<IncomingMessage>(body)
  t.is(restOf(request), undefined)
  dropRest(request, { clock: createClock(), stall: 60_000 })
  let isOver = false
  void restOf(request)?.then(() => (isOver = true))
  for (let n = 0; n < 128; n += 1) {
    body.write(piece)
    await turn()
  }
  t.false(isOver)
  body.write(piece)
  await turn()
  t.true(isOver)
})
