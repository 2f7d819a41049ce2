import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createSocketServer, type AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { startLateEndServer } from '../../../support/late-end-server.js'
import { outboundFailure, type OutboundCode } from '../../../../core/http/outbound/outbound-failure.js'
import {
  createOutbound,
  outboundTarget,
  refusedUrl,
  type Outbound,
  type OutboundAnswer,
  type OutboundRequest,
  type Resolve,
} from '../../../../core/http/outbound/outbound.js'
import { specialAddresses } from '../../../support/special-addresses.js'

const clock = createClock()

const reachableHosts = [
  '1.1.1.1',
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '192.167.0.1',
  '198.17.0.1',
  '198.20.0.1',
  '223.255.255.255',
  '[2606:4700::1111]',
  '[2a00:1450:4001::1]',
  '[::ffff:8.8.8.8]',
  'example.com',
  'localhost.example.com',
  'notlocalhost',
]

test('deliveries-26: hosts that are private, local or special are refused in every spelling', (t) => {
  t.true(specialAddresses.length >= 60)
  for (const host of specialAddresses)
    t.is(refusedUrl(`http://${host}:8080/x`), 'must not name a private, local or special address', host)
  for (const host of reachableHosts) t.is(refusedUrl(`https://${host}/x`), undefined, host)
  for (const host of specialAddresses)
    t.is(refusedUrl(`http://${host}/x`, { allow_private_network: true }), undefined, host)
})

test('only http and https without user information can be asked, private networks allowed or not', (t) => {
  for (const reach of [{}, { allow_private_network: true }]) {
    for (const url of [
      '',
      'x',
      '/x',
      '//a.example/x',
      'http://',
      'http://a b/',
      'http://[::1/',
      'http://256.1.1.1/',
      'http://a.example:99999/',
    ])
      t.is(refusedUrl(url, reach), 'must be an absolute URL', url)
    for (const url of [
      'file:///etc/passwd',
      'ftp://a.example/',
      'gopher://a.example/',
      'data:text/plain,x',
      'javascript:1',
      'unix:/run/x',
      'ws://a.example/',
    ])
      t.is(refusedUrl(url, reach), 'must begin with http:// or https://', url)
    for (const url of ['http://u:p@a.example/', 'http://u@a.example/', 'http://:p@a.example/'])
      t.is(refusedUrl(url, reach), 'must carry no user name and no password', url)
  }
})

test('deliveries-26: a range that is allowed is reachable, and nothing beside it', (t) => {
  const reach = { allow_cidrs: ['198.18.0.0/15', 'fd00::/8'] }
  t.is(refusedUrl('http://198.18.0.1/', reach), undefined)
  t.is(refusedUrl('http://[fd00::1]/', reach), undefined)
  t.truthy(refusedUrl('http://127.0.0.1/', reach))
  t.truthy(refusedUrl('http://[fc00::1]/', reach))
})

test('deliveries-30: what is told of a target is scheme, host and port', (t) => {
  t.is(outboundTarget('https://a.example/secret/path?token=1#x'), 'http:https://a.example')
  t.is(outboundTarget('http://A.example:8080/secret'), 'http:http://a.example:8080')
  t.is(outboundTarget('nothing at all'), 'http:invalid')
})

const never = new AbortController().signal

const listen = async (
  t: ExecutionContext,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ server: Server; port: number }> => {
  const server = createServer(handler)
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

const client = (t: ExecutionContext, resolve?: Resolve): Outbound => {
  const outbound = createOutbound({ clock, ...(resolve !== undefined && { resolve }) })
  t.teardown(() => outbound.close())
  return outbound
}
const to =
  (...addresses: string[]): Resolve =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))

const get = (outbound: Outbound, url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundAnswer> =>
  outbound.request({ method: 'GET', url, signal: never, ...more })
const local = { allow_private_network: true }

test('a name is refused when any of its addresses is not public', async (t) => {
  for (const addresses of [
    ['127.0.0.1'],
    ['1.1.1.1', '10.0.0.1'],
    ['2606:4700::1111', '::1'],
    ['8.8.8.8', '169.254.169.254', '1.1.1.1'],
    ['::ffff:192.168.0.1'],
    ['not an address'],
  ]) {
    t.deepEqual(
      await get(client(t, to(...addresses)), 'http://rebind.example/'),
      { type: 'failure', code: 'outbound_address_refused' },
      addresses.join(),
    )
  }
})

test('deliveries-27: the addresses of a name are checked for each request, and what was checked is what is connected to', async (t) => {
  const { port } = await listen(t, (_request, response) => response.end('here'))
  let asked = 0
  const outbound = client(t, () => {
    asked += 1
    return Promise.resolve([{ address: asked === 1 ? '127.0.0.1' : '192.0.2.1', family: 4 }])
  })
  const answer = await get(outbound, `http://rebind.example:${port}/`, local)
  t.is(answer.type === 'answer' && Buffer.from(answer.body).toString(), 'here')
  t.is(asked, 1)
  t.deepEqual(
    await get(outbound, `http://rebind.example:${port}/`),
    { type: 'failure', code: 'outbound_address_refused' },
    'the second request is checked by its own answer',
  )
  t.is(asked, 2)
})

test('the next address is tried when the first is dead', async (t) => {
  const { port } = await listen(t, (_request, response) => response.end('here'))
  const answer = await get(client(t, to('127.0.0.9', '::1', '127.0.0.1')), `http://several.example:${port}/`, local)
  t.is(answer.type, 'answer')
})

test('deliveries-27: a redirect is an answer and is not followed', async (t) => {
  let hits = 0
  const { port } = await listen(t, (_request, response) => {
    hits += 1
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
  })
  t.like(await get(client(t), `http://127.0.0.1:${port}/`, local), { type: 'answer', status: 302 })
  t.is(hits, 1)
})

test.serial('proxy variables are not read', async (t) => {
  const { port } = await listen(t, (_request, response) => response.end('here'))
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']
  for (const name of names) process.env[name] = 'http://127.0.0.1:1'
  t.teardown(() => {
    for (const name of names) delete process.env[name]
  })
  t.like(await get(client(t), `http://127.0.0.1:${port}/`, local), { type: 'answer', status: 200 })
})

test('bytes come as they were sent: nothing is decompressed, and no encoding is asked for', async (t) => {
  let asked: string | undefined
  const { port } = await listen(t, (request, response) => {
    asked = request.headers['accept-encoding']
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('plain')
  })
  const answer = await get(client(t), `http://127.0.0.1:${port}/`, local)
  t.is(answer.type === 'answer' && Buffer.from(answer.body).toString(), 'plain')
  t.is(asked, undefined)
})

test('an endless body is cut, and one that is ignored is no failure', async (t) => {
  let open = 0
  const { port } = await listen(t, (_request, response) => {
    open += 1
    const pour = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
    }
    response.on('drain', pour).on('close', () => {
      open -= 1
    })
    pour()
  })
  const outbound = client(t)
  t.deepEqual(await get(outbound, `http://127.0.0.1:${port}/`, local), {
    type: 'failure',
    code: 'outbound_answer_too_large',
  })
  t.like(await get(outbound, `http://127.0.0.1:${port}/`, { ...local, ignore_body: true }), {
    type: 'answer',
    status: 200,
  })
  while (open > 0) await clock.sleep(5)
  t.is(open, 0, 'the connections are closed')
})

test('an ignored body that never ends is left after a moment', async (t) => {
  const { port } = await listen(t, (_request, response) => {
    response.writeHead(200)
    response.write('x')
  })
  t.like(await get(client(t), `http://127.0.0.1:${port}/`, { ...local, ignore_body: true, timeout_ms: 60_000 }), {
    type: 'answer',
    status: 200,
  })
})

test('the deadline covers a resolver that hangs, a server that hangs, and a body that hangs', async (t) => {
  const silent = createSocketServer()
  await new Promise<void>((resolve) => {
    silent.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    silent.close()
  })
  const { port } = await listen(t, (_request, response) => {
    response.writeHead(200)
    response.write('x')
  })
  const late: OutboundAnswer = { type: 'failure', code: 'outbound_timed_out' }
  t.deepEqual(
    await get(
      client(t, () => new Promise(() => {})),
      'http://a.example/',
      { timeout_ms: 50 },
    ),
    late,
  )
  t.deepEqual(
    await get(client(t), `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`, { ...local, timeout_ms: 100 }),
    late,
  )
  t.deepEqual(await get(client(t), `http://127.0.0.1:${port}/`, { ...local, timeout_ms: 200 }), late)
})

test('an abort ends the request and closes its socket', async (t) => {
  let leave: (gone: boolean) => void = () => {}
  const gone = new Promise<boolean>((resolve) => {
    leave = resolve
  })
  const controller = new AbortController()
  const { port } = await listen(t, (request) => {
    request.socket.on('close', () => leave(true))
    controller.abort()
  })
  t.deepEqual(await get(client(t), `http://127.0.0.1:${port}/`, { ...local, signal: controller.signal }), {
    type: 'failure',
    code: 'outbound_aborted',
  })
  t.true(await gone)
  t.deepEqual(await get(client(t), `http://127.0.0.1:${port}/`, { ...local, signal: AbortSignal.abort() }), {
    type: 'failure',
    code: 'outbound_aborted',
  })
})

test('each way to fail has its code, which tells nothing of the request', async (t) => {
  const refused = await listen(t, () => {})
  await new Promise<void>((resolve) => {
    refused.server.close(() => resolve())
  })
  const broken = createSocketServer((socket) => {
    socket.once('data', () => socket.end('no http at all\r\n\r\n'))
  })
  const hasty = createSocketServer((socket) => {
    socket.once('data', () => socket.destroy())
  })
  const wordy = createSocketServer((socket) => {
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`))
  })
  for (const server of [broken, hasty, wordy]) {
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    t.teardown(() => {
      server.close()
    })
  }
  const at = (server: { address(): unknown }): string =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret`
  const code = async (url: string, more: Partial<OutboundRequest> = {}, outbound = client(t)): Promise<unknown> => {
    const answer = await get(outbound, url, { ...local, ...more })
    t.false(JSON.stringify(answer).includes('secret'))
    return answer.type === 'failure' ? answer.code : answer.status
  }
  t.is(await code(`http://127.0.0.1:${refused.port}/secret`), 'outbound_connection_failed')
  t.is(await code(at(broken)), 'outbound_connection_broken')
  t.is(await code(at(hasty)), 'outbound_connection_broken')
  t.is(await code(at(wordy)), 'outbound_answer_too_large')
  t.is(await code(at(hasty).replace('http:', 'https:')), 'outbound_connection_broken')
  t.is(
    await code(
      'http://secret.example/',
      {},
      client(t, () => Promise.reject(new Error('secret'))),
    ),
    'outbound_name_not_found',
  )
  t.is(
    await code(
      'http://secret.example/',
      {},
      client(t, () => Promise.resolve([])),
    ),
    'outbound_name_not_found',
  )
  t.is(await code('secret'), 'outbound_url_invalid')
  t.is(await code(at(hasty), { headers: { 'x-secret': 'line\nbreak' } }), 'outbound_request_invalid')
})

test('what the network layer throws has one of the codes', (t) => {
  const thrown = (code: string): Error => Object.assign(new Error('secret'), { code })
  const wanted: Readonly<Record<string, OutboundCode>> = {
    ECONNREFUSED: 'outbound_connection_failed',
    EHOSTUNREACH: 'outbound_connection_failed',
    ETIMEDOUT: 'outbound_connection_failed',
    UND_ERR_CONNECT_TIMEOUT: 'outbound_connection_failed',
    CERT_HAS_EXPIRED: 'outbound_certificate_refused',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'outbound_certificate_refused',
    ERR_TLS_CERT_ALTNAME_INVALID: 'outbound_certificate_refused',
    EPROTO: 'outbound_certificate_refused',
    UND_ERR_HEADERS_OVERFLOW: 'outbound_answer_too_large',
    UND_ERR_INVALID_ARG: 'outbound_request_invalid',
    UND_ERR_HEADERS_TIMEOUT: 'outbound_timed_out',
    UND_ERR_DESTROYED: 'outbound_aborted',
    ECONNRESET: 'outbound_connection_broken',
    UND_ERR_SOCKET: 'outbound_connection_broken',
    HPE_INVALID_CONSTANT: 'outbound_connection_broken',
    something: 'outbound_connection_broken',
  }
  for (const [code, told] of Object.entries(wanted)) {
    t.is(outboundFailure(thrown(code)), told, code)
    t.is(outboundFailure(new Error('secret', { cause: thrown(code) })), told, `${code} as a cause`)
    t.is(
      outboundFailure(new AggregateError([thrown('ECONNRESET'), thrown(code)])),
      told,
      `${code} as the last of several`,
    )
  }
  t.is(outboundFailure('secret'), 'outbound_connection_broken')
})

test('a connection is used again for the same addresses and for no others', async (t) => {
  const sockets = new Set<unknown>()
  const { port } = await listen(t, (request, response) => {
    sockets.add(request.socket)
    response.end('here')
  })
  let addresses = ['127.0.0.1']
  const outbound = client(t, (hostname) => to(...addresses)(hostname))
  const ask = (): Promise<OutboundAnswer> => get(outbound, `http://moving.example:${port}/`, local)
  for (let n = 0; n < 12; n += 1) t.is((await ask()).type, 'answer')
  const before = sockets.size
  t.true(before < 6, `${before} connections for 12 requests`)
  addresses = ['127.0.0.9', '127.0.0.1']
  t.is((await ask()).type, 'answer')
  t.is(sockets.size, before + 1)
})

test('a name is looked up as the machine does, and one that nobody knows is told as such', async (t) => {
  const { port } = await listen(t, (_request, response) => response.end('here'))
  const outbound = client(t)
  const answers = await Promise.all(Array.from({ length: 8 }, () => get(outbound, `http://localhost:${port}/`, local)))
  t.deepEqual(
    answers.map(({ type }) => type),
    Array(8).fill('answer'),
  )
  t.deepEqual(await get(outbound, `http://localhost:${port}/`), { type: 'failure', code: 'outbound_address_refused' })
  const open = { allow_cidrs: ['127.0.0.0/8', '::1/128'] }
  t.like(await get(outbound, `http://localhost:${port}/`, open), { type: 'answer' }, 'its range is open')
  t.deepEqual(await get(outbound, `http://localhost:${port}/`, { allow_cidrs: ['10.0.0.0/8'] }), {
    type: 'failure',
    code: 'outbound_address_refused',
  })
  t.deepEqual(await get(outbound, 'http://nobody.invalid/', local), {
    type: 'failure',
    code: 'outbound_name_not_found',
  })
})

test('deliveries-30: an answer of unknown length is an answer, whatever of it is there when its connection ends', async (t) => {
  const outbound = client(t)
  const lengths = Array.from({ length: 20 }, (_, index) => 60_000 + index * 10_000)
  const ask = async (length: number): Promise<OutboundAnswer> => {
    const server = await startLateEndServer({ content_type: 'text/plain', first: 'a'.repeat(length), rest: 'b' })
    t.teardown(() => server.close())
    const asked = get(outbound, server.url, { ...local, max_answer_bytes: 1_000_000 })
    await server.finish()
    return asked
  }
  for (const answer of await Promise.all(lengths.map(ask))) t.like(answer, { type: 'answer', status: 200 })
})

test('a URL that one request may ask another may not, however often it was read', (t) => {
  for (const url of ['http://127.0.0.1:1/again', 'http://localhost:1/again'])
    for (let n = 0; n < 2; n += 1) {
      t.is(refusedUrl(url, { allow_private_network: true }), undefined)
      t.truthy(refusedUrl(url))
    }
  t.is(refusedUrl('http://10.1.2.3/again', { allow_cidrs: ['10.0.0.0/8'] }), undefined)
  t.truthy(refusedUrl('http://10.1.2.3/again', { allow_cidrs: ['10.2.0.0/16'] }))
})
