import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { httpErrors } from '../../../../core/http/errors.js'
import { committed, defineRoute, jsonReply, textReply } from '../../../../core/http/routes/route.js'
import { json, object, optional, string } from '../../../../core/base/schema.js'
import { startServer } from '../../../support/http.js'
import { parseJson } from '../../../support/json.js'

const routes = [
  defineRoute({
    id: 'note.put',
    method: 'POST',
    path: '/v1/notes/:note_id',
    summary: 'Puts.',
    access: 'admin',
    params: object({ note_id: string() }),
    query: object({ tag: optional(string()) }),
    body: object({ note: json() }),
    bodyLimit: 4096,
    reply: jsonReply(object({ note: json() })),
    handler: ({ body }) => ({ note: body.note }),
  }),
  defineRoute({
    id: 'note.list',
    method: 'GET',
    path: '/v1/notes',
    summary: 'Lists.',
    access: 'read',
    reply: jsonReply(object({})),
    handler: () => ({}),
  }),
  defineRoute({
    id: 'note.touch',
    method: 'POST',
    path: '/v1/notes',
    summary: 'Touches.',
    access: 'admin',
    reply: jsonReply(object({})),
    handler: () => ({}),
  }),
  defineRoute({
    id: 'note.latest',
    method: 'GET',
    path: '/v1/notes/latest',
    summary: 'Latest.',
    access: 'read',
    reply: textReply(),
    handler: () => 'latest',
  }),
  defineRoute({
    id: 'note.read',
    method: 'GET',
    path: '/v1/notes/:note_id',
    summary: 'Reads.',
    access: 'read',
    params: object({ note_id: string() }),
    reply: textReply(),
    handler: ({ params }) => `note ${params.note_id}`,
  }),
]
const problemOf = (text: string): { status: number; code: string } => {
  const body = text.slice(text.indexOf('\r\n\r\n') + 4)
  return { status: Number(/^HTTP\/1\.1 (\d{3})/u.exec(text)?.[1]), code: body === '' ? '' : parseJson(body).code }
}

test('a request that breaks a rule of HTTP is refused with a problem, never served', async (t) => {
  const server = await startServer(t, { routes })
  const host = `Host: 127.0.0.1:${server.port}\r\n`
  const cases: [string, string, number, string][] = [
    ['bare GET', 'GET /v1/notes\r\n\r\n', 400, 'bad_request'],
    ['no host', 'GET /v1/notes HTTP/1.1\r\n\r\n', 400, 'bad_request'],
    ['no host, 1.0', 'GET /v1/notes HTTP/1.0\r\n\r\n', 400, 'bad_request'],
    ['two hosts', `GET /v1/notes HTTP/1.1\r\n${host}Host: evil.example\r\n\r\n`, 400, 'bad_request'],
    ['two equal hosts', `GET /v1/notes HTTP/1.1\r\n${host}${host}\r\n`, 400, 'bad_request'],
    ['foreign host', 'GET /v1/notes HTTP/1.1\r\nHost: evil.example\r\n\r\n', 403, 'host_not_allowed'],
    ['odd host', 'GET /v1/notes HTTP/1.1\r\nHost: 127.0.0.1@evil.example\r\n\r\n', 400, 'bad_request'],
    ['empty host', 'GET /v1/notes HTTP/1.1\r\nHost:\r\n\r\n', 400, 'bad_request'],
    ['absolute form', `GET http://127.0.0.1:${server.port}/v1/notes HTTP/1.1\r\n${host}\r\n`, 400, 'bad_request'],
    ['authority in path', `GET //evil.example/v1/notes HTTP/1.1\r\n${host}\r\n`, 404, 'route_not_found'],
    ['double slash', `GET /v1//notes HTTP/1.1\r\n${host}\r\n`, 404, 'route_not_found'],
    ['dot segments', `GET /v1/notes/../notes HTTP/1.1\r\n${host}\r\n`, 404, 'route_not_found'],
    ['dot segment as id', `GET /v1/notes/.. HTTP/1.1\r\n${host}\r\n`, 400, 'bad_request'],
    ['other case', `GET /V1/Notes HTTP/1.1\r\n${host}\r\n`, 404, 'route_not_found'],
    ['trailing slash', `GET /v1/notes/ HTTP/1.1\r\n${host}\r\n`, 404, 'route_not_found'],
    ['trace', `TRACE /v1/notes HTTP/1.1\r\n${host}\r\n`, 405, 'method_not_allowed'],
    ['unknown method', `BREW /v1/notes HTTP/1.1\r\n${host}\r\n`, 400, 'bad_request'],
    ['connect', `CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n`, 405, 'method_not_allowed'],
    ['fragment', `GET /v1/notes#x HTTP/1.1\r\n${host}\r\n`, 400, 'bad_request'],
    ['raw bytes in the target', `GET /v1/notes/\u00e9 HTTP/1.1\r\n${host}\r\n`, 400, 'bad_request'],
    [
      'two tokens',
      `GET /v1/notes HTTP/1.1\r\n${host}Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n`,
      400,
      'bad_request',
    ],
    [
      'two keys',
      `GET /v1/notes HTTP/1.1\r\n${host}Idempotency-Key: a\r\nIdempotency-Key: b\r\n\r\n`,
      400,
      'invalid_idempotency_key',
    ],
    [
      'two cursors',
      `GET /v1/notes HTTP/1.1\r\n${host}Last-Event-ID: 1\r\nLast-Event-ID: 2\r\n\r\n`,
      400,
      'bad_request',
    ],
    [
      'two lengths',
      `POST /v1/notes/a HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`,
      400,
      'bad_request',
    ],
    [
      'length and chunks',
      `POST /v1/notes/a HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'bad_request',
    ],
    ['odd coding', `POST /v1/notes/a HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n`, 400, 'bad_request'],
    ['signed length', `POST /v1/notes/a HTTP/1.1\r\n${host}Content-Length: +5\r\n\r\n{"a":`, 400, 'bad_request'],
    [
      'two types',
      `POST /v1/notes/a HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Type: ` +
        `text/plain\r\nContent-Length: 2\r\n\r\n{}`,
      400,
      'bad_request',
    ],
    [
      'bad chunk size',
      `POST /v1/notes/a HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: ` +
        `chunked\r\n\r\nzz\r\n{}\r\n`,
      400,
      'bad_request',
    ],
    [
      'unknown expectation',
      `POST /v1/notes/a HTTP/1.1\r\n${host}Expect: a-pony\r\nContent-Length: 2\r\n\r\n{}`,
      417,
      'expectation_failed',
    ],
    ['space before colon', `GET /v1/notes HTTP/1.1\r\n${host}X-A : b\r\n\r\n`, 400, 'bad_request'],
    ['line feeds only', 'GET /v1/notes HTTP/1.1\nHost: 127.0.0.1\n\n', 400, 'bad_request'],
    ['many headers', `GET /v1/notes HTTP/1.1\r\n${host}${'A: b\r\n'.repeat(150)}\r\n`, 431, 'headers_too_large'],
    ['huge headers', `GET /v1/notes HTTP/1.1\r\n${host}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
    ['version 2', `GET /v1/notes HTTP/2.0\r\n${host}\r\n`, 400, 'bad_request'],
    ['garbage', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'bad_request'],
  ]
  for (const [name, text, status, code] of cases) {
    const got = problemOf(await server.raw(Buffer.from(text, 'latin1'), 100))
    t.deepEqual(got, { status, code }, name)
  }
  t.deepEqual(server.faults, [])
  t.is((await server.ask('GET', '/v1/notes')).status, 200)
})

test('names for this machine and configured names are answered', async (t) => {
  const server = await startServer(t, { routes, server: { allowedHosts: ['Box.lan'] } })
  for (const host of ['localhost', 'localhost:99', '127.0.0.1', '127.8.8.8:1', '[::1]:4000', 'box.lan', 'BOX.LAN:80']) {
    t.is(
      problemOf(await server.raw(`GET /v1/notes HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status,
      200,
      host,
    )
  }
  for (const host of ['localhost.evil.example', '127.0.0.1.evil.example', 'xbox.lan', '169.254.169.254', '0.0.0.0']) {
    t.is(
      problemOf(await server.raw(`GET /v1/notes HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).code,
      'host_not_allowed',
      host,
    )
  }
})

test('a daemon on all interfaces answers for any address, but not for any name', async (t) => {
  const server = await startServer(t, { routes, server: { allowedHosts: ['0.0.0.0'] } })
  for (const host of ['192.168.1.5:4000', '[fe80::1]', '10.0.0.1'])
    t.is(
      problemOf(await server.raw(`GET /v1/notes HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status,
      200,
      host,
    )
  for (const host of ['evil.example', '10.0.0.1.evil.example', '999.1.1.1'])
    t.is(
      problemOf(await server.raw(`GET /v1/notes HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).code,
      'host_not_allowed',
      host,
    )
})

test('http-38: pipelined requests are answered in order, then the garbage behind them, and the connection is closed', async (t) => {
  const server = await startServer(t, { routes })
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const all = `${get('/v1/notes/1')}${get('/v1/notes/latest')}${get('/v1/notes/3')}`
  for (const [behind, code] of [
    ['nonsense\r\n\r\n', 'bad_request'],
    ['CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 'method_not_allowed'],
    ['POST /v1/notes/a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'bad_request'],
  ] as const) {
    const got = await server.raw(`${all}${behind}`, 5000)
    const answers = [...got.matchAll(/note \d|latest|"code":"\w+"/gu)].map(([answer]) => answer)
    t.deepEqual(answers, ['note 1', 'latest', 'note 3', `"code":"${code}"`])
  }
  t.is((await server.ask('GET', '/v1/notes')).status, 200)
})

test('http-38: bytes behind a body take its answer not away, however late that is', async (t) => {
  const slow = defineRoute({
    id: 'slow.put',
    method: 'POST',
    path: '/v1/slow',
    summary: 'Takes its time.',
    access: 'admin',
    body: object({ note: string() }),
    reply: jsonReply(object({ note: string() })),
    handler: async ({ body }) => {
      await setTimeout(100)
      return body
    },
  })
  const server = await startServer(t, { routes: [slow] })
  const post = (length: number, text: string): string =>
    `POST /v1/slow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${text}`
  const statuses = (text: string): string[] =>
    [...text.matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => status ?? '')
  const whole = '{"note":"here"}'
  const garbage = await server.raw(post(whole.length, `${whole}garbage garbage\r\n\r\n`), 5000)
  t.deepEqual(statuses(garbage), ['200', '400'])
  const short = await server.raw(post(whole.length - 4, whole), 5000)
  t.deepEqual(statuses(short), ['400', '400'])
})

test('slow headers and slow bodies are cut off', async (t) => {
  const server = await startServer(t, {
    routes,
    server: { limits: { headersTimeout: 150, requestTimeout: 300, checkInterval: 50 } },
  })
  const head = await server.raw('GET /v1/notes HTTP/1.1\r\nHost: localhost\r\n', 1500)
  t.deepEqual(problemOf(head), { status: 408, code: 'request_timeout' })
  const body = await server.raw(
    'POST /v1/notes/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ' +
      '100\r\n\r\n{"note"',
    1500,
  )
  t.deepEqual(problemOf(body), { status: 408, code: 'request_timeout' })
})

test('http-19: a body is limited by its route, whether it tells its length or not', async (t) => {
  const server = await startServer(t, { routes })
  const told = await server.ask('POST', '/v1/notes/a', { body: { note: 'x'.repeat(5000) } })
  t.like(told.body, { status: 413, code: 'payload_too_large', limit_bytes: 4096 })
  const unsent = await server.raw(
    'POST /v1/notes/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{',
    300,
  )
  t.deepEqual(problemOf(unsent), { status: 413, code: 'payload_too_large' }, 'refused by its length, before it is sent')
  const chunk = `400\r\n${'x'.repeat(1024)}\r\n`
  const untold = await server.raw(
    `POST /v1/notes/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: ` +
      `chunked\r\n\r\n${chunk.repeat(8)}0\r\n\r\n`,
  )
  t.deepEqual(problemOf(untold), { status: 413, code: 'payload_too_large' })
})

test('http-18: a body must be plain JSON', async (t) => {
  const server = await startServer(t, { routes })
  const send = (headers: Record<string, string>) => server.ask('POST', '/v1/notes/a', { body: '{"note":1}', headers })
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/jsonp',
    'multipart/form-data; boundary=x',
    '',
  ])
    t.is((await send({ 'content-type': type })).body.code, 'unsupported_media_type', type)
  for (const type of ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"'])
    t.is((await send({ 'content-type': type })).status, 200, type)
  t.is((await send({ 'content-type': 'application/json', 'content-encoding': 'gzip' })).status, 415)
  t.is(
    (await server.ask('POST', '/v1/notes/a', { body: Buffer.from([0x22, 0xff, 0x22]) })).body.errors[0].rule,
    'must be UTF-8',
  )
})

test('a route without a body takes none or an empty object', async (t) => {
  const server = await startServer(t, { routes })
  t.is((await server.ask('POST', '/v1/notes')).status, 200)
  t.is((await server.ask('POST', '/v1/notes', { body: {} })).status, 200)
  t.deepEqual((await server.ask('POST', '/v1/notes', { body: { force: true } })).body.errors, [
    { path: 'body.force', rule: 'is not a known field' },
  ])
  t.is((await server.ask('GET', '/v1/notes', { body: { force: true } })).status, 400)
})

test('http-21: a query names each of its fields once, and only fields that the route has', async (t) => {
  const server = await startServer(t, { routes })
  const send = async (query: string) =>
    (await server.ask('POST', `/v1/notes/a?${query}`, { body: { note: 1 } })).body.errors
  t.deepEqual(await send('tag=a&tag=b'), [{ path: 'query.tag', rule: 'is given twice' }])
  t.deepEqual(await send('tag=a&t%61g=a'), [{ path: 'query.tag', rule: 'is given twice' }])
  t.deepEqual(await send('tags=a'), [{ path: 'query.tags', rule: 'is not a known field; did you mean tag?' }])
  t.is(
    (await server.ask('POST', '/v1/notes/a?tags=a', { body: { note: 1 } })).body.detail,
    'The request is not valid: query.tags is not a known field; did you mean tag?',
  )
  t.deepEqual(await send('tag=%zz'), [{ path: 'query', rule: 'has a malformed percent-escape' }])
})

test('literal segments win over parameters, and HEAD is GET without its body', async (t) => {
  const server = await startServer(t, { routes: [...routes].reverse() })
  t.is((await server.ask('GET', '/v1/notes/latest')).text, 'latest')
  t.is((await server.ask('GET', '/v1/notes/late%73t')).text, 'note latest')
  const head = await server.ask('HEAD', '/v1/notes/latest')
  t.like(head, { status: 200, text: '' })
  t.is(head.headers['content-length'], '6')
})

test('http-9: a fault in a handler is a 500 that tells nothing, and is charged to its owner', async (t) => {
  const secret = 'postgres://user:hunter2@/etc/passwd'
  const broken = (id: string, handler: () => any) =>
    defineRoute({
      id: `broken.${id}`,
      method: 'GET',
      path: `/v1/broken/${id}`,
      summary: 'Breaks.',
      access: 'read',
      reply: jsonReply(json()),
      handler,
    })
  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  const server = await startServer(t, {
    routes: [
      broken('throws', () => {
        throw new TypeError(secret)
      }),
      broken('rejects', () => Promise.reject(new Error(secret))),
      broken('odd', () => Promise.reject(secret)),
      broken('nothing', () => undefined),
      broken('cyclic', () => cyclic),
      broken('big', () => ({ n: 1n })),
    ],
  })
  for (const id of ['throws', 'rejects', 'odd', 'nothing', 'cyclic', 'big']) {
    const reply = await server.ask('GET', `/v1/broken/${id}`)
    t.like(reply, { status: 500 }, id)
    t.is(reply.body.code, 'internal_error')
    t.false(/hunter2|passwd|TypeError|at |circular|BigInt/u.test(reply.text), reply.text)
  }
  t.deepEqual(
    server.faults.map(({ owner, route }) => `${owner} ${route}`),
    ['throws', 'rejects', 'odd', 'nothing', 'cyclic', 'big'].map((id) => `test broken.${id}`),
  )
})

test('http-4: no answer leaves before what it rests on is durable, also when it refuses', async (t) => {
  const clock = createClock()
  const order: string[] = []
  const made = defineRoute({
    id: 'made.get',
    method: 'GET',
    path: '/v1/made',
    summary: 'Made.',
    access: 'read',
    reply: textReply(),
    handler: () => {
      order.push('handled')
      return 'made'
    },
  })
  const refused = defineRoute({
    id: 'made.put',
    method: 'PUT',
    path: '/v1/made',
    summary: 'Refuses.',
    access: 'admin',
    reply: textReply(),
    handler: () => {
      order.push('handled')
      throw httpErrors.daemon_draining()
    },
  })
  const own = defineRoute({
    ...made,
    id: 'own.get',
    path: '/v1/own',
    handler: () => {
      order.push('handled')
      return committed('own')
    },
  })
  const watch = () => async (): Promise<void> => {
    await clock.sleep(40)
    order.push('durable')
  }
  const server = await startServer(t, { routes: [made, refused, own], server: { watch } })
  for (const [method, status] of [
    ['GET', 200],
    ['PUT', 503],
  ] as const) {
    t.is((await server.ask(method, '/v1/made')).status, status)
    order.push('answered')
  }
  t.deepEqual(order, ['handled', 'durable', 'answered', 'handled', 'durable', 'answered'])
  t.is((await server.ask('GET', '/v1/own')).text, 'own')
  t.deepEqual(order.slice(6), ['handled'], 'what shows only its own commit waits for no other')
})

test('a handler learns that its client went away', async (t) => {
  const clock = createClock()
  let aborted = false
  const wait = defineRoute({
    id: 'wait.get',
    method: 'GET',
    path: '/v1/wait',
    summary: 'Waits.',
    access: 'read',
    reply: textReply(),
    handler: async ({ signal }) => {
      aborted = !(await clock.sleep(5000, signal))
      return ''
    },
  })
  const server = await startServer(t, { routes: [wait] })
  await server.raw('GET /v1/wait HTTP/1.1\r\nHost: localhost\r\n\r\n', 60, 60)
  for (let tries = 0; !aborted && tries < 100; tries += 1) await clock.sleep(5)
  t.true(aborted)
})
