import test from 'ava'
import { createClock, type Clock } from '../../../../core/base/clock.js'
import { createOriginPolicy } from '../../../../core/http/access/origin.js'
import { defineRoute, textReply, type Access, type Method } from '../../../../core/http/routes/route.js'
import { createThrottle } from '../../../../core/http/access/throttle.js'
import { refuseSettings, type AuthSettings } from '../../../../core/http/access/tokens.js'
import { startServer } from '../../../support/http.js'

const route = (method: Method, access: Access) =>
  defineRoute({
    id: `${method}.${access}`,
    method,
    path: `/v1/${access}`,
    summary: 'A door.',
    access,
    ...(access === 'ingress' && { ingress: () => ({ subject: undefined }) }),
    reply: textReply(),
    handler: ({ caller }) => caller.role,
  })
const routes = [
  route('GET', 'public'),
  route('GET', 'read'),
  route('GET', 'admin'),
  route('GET', 'ingress'),
  route('POST', 'public'),
  route('POST', 'read'),
  route('POST', 'admin'),
  route('POST', 'ingress'),
]
const tokens = { admin: { token: 'admin-token' }, readOnly: { token: 'read-token' } }
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

test('the access matrix: who may call what', async (t) => {
  const server = await startServer(t, { routes, auth: tokens })
  const rows: [string, string, number, number, number][] = [
    // method, path, without a token, read-only, admin
    ['GET', '/v1/public', 200, 200, 200],
    ['POST', '/v1/public', 200, 200, 200],
    ['GET', '/v1/ingress', 200, 200, 200],
    ['POST', '/v1/ingress', 200, 200, 200],
    ['GET', '/v1/read', 401, 200, 200],
    ['HEAD', '/v1/read', 401, 200, 200],
    ['POST', '/v1/read', 401, 403, 200],
    ['GET', '/v1/admin', 401, 403, 200],
    ['POST', '/v1/admin', 401, 403, 200],
    ['GET', '/v1/unknown', 401, 403, 404],
    ['DELETE', '/v1/read', 401, 403, 405],
    ['GET', '/', 401, 403, 404],
    ['GET', '/v1/openapi.json', 401, 200, 200],
    ['GET', '/healthz', 200, 200, 200],
    ['GET', '/readyz', 200, 200, 200],
  ]
  for (const [method, path, none, read, admin] of rows) {
    const ask = async (headers: Record<string, string>): Promise<number> =>
      (await server.ask(method, path, { headers })).status
    t.deepEqual(
      [await ask({}), await ask(bearer('read-token')), await ask(bearer('admin-token'))],
      [none, read, admin],
      `${method} ${path}`,
    )
  }
})

test('without tokens a loopback daemon is open, and the caller is anonymous', async (t) => {
  const server = await startServer(t, { routes })
  t.is((await server.ask('POST', '/v1/admin')).text, 'anonymous')
  t.is((await server.ask('POST', '/v1/admin', { headers: { authorization: 'nonsense' } })).text, 'anonymous')
  const off = await startServer(t, { routes, auth: { ...tokens, mode: 'none' } })
  t.is((await off.ask('POST', '/v1/admin')).text, 'anonymous')
})

test('each refusal has its code, its challenge and its audit record', async (t) => {
  const server = await startServer(t, { routes, auth: tokens })
  const rows: [Record<string, string>, number, string][] = [
    [{}, 401, 'missing_token'],
    [{ authorization: '' }, 401, 'malformed_token'],
    [{ authorization: 'admin-token' }, 401, 'malformed_token'],
    [{ authorization: 'Basic YTpi' }, 401, 'malformed_token'],
    [{ authorization: 'Bearer' }, 401, 'malformed_token'],
    [{ authorization: 'Bearer a b' }, 401, 'malformed_token'],
    [{ authorization: 'Bearer  admin-token' }, 401, 'malformed_token'],
    [bearer('wrong'), 401, 'invalid_token'],
    [bearer('admin-toke'), 401, 'invalid_token'],
    [bearer('ADMIN-TOKEN'), 401, 'invalid_token'],
    [bearer('read-token'), 403, 'insufficient_access'],
  ]
  for (const [headers, status, code] of rows) {
    const reply = await server.ask('GET', '/v1/admin?token=secret', { headers })
    t.like(reply.body, { status, code, domain: 'auth' })
    t.is(reply.headers['www-authenticate']?.startsWith('Bearer realm="service-daemon"') ?? false, status === 401)
  }
  t.is((await server.ask('GET', '/v1/admin', { headers: { authorization: 'bearer admin-token' } })).status, 200)
  t.deepEqual(
    server.audit.map(({ reason }) => reason),
    rows.map(([, , code]) => code),
  )
  t.like(server.audit[0], {
    event: 'auth_failure',
    method: 'GET',
    path: '/v1/admin',
    reason: 'missing_token',
    origin: null,
    remote_addr: '127.0.0.1',
    required_access: 'admin',
  })
  t.false(JSON.stringify(server.audit).includes('secret'))
})

test('token files are read anew on each decision, and equal tokens open nothing', async (t) => {
  const files = new Map([
    ['/a', 'first\n'],
    ['/r', ''],
  ])
  const readFile = (path: string): Uint8Array | undefined => {
    const text = files.get(path)
    return text === undefined ? undefined : Buffer.from(text)
  }
  const server = await startServer(t, { routes, auth: { admin: { file: '/a' }, readOnly: { file: '/r' }, readFile } })
  const status = async (token: string): Promise<number> =>
    (await server.ask('GET', '/v1/read', { headers: bearer(token) })).status
  t.is(await status('first'), 200)
  files.set('/a', ' second ')
  t.deepEqual([await status('first'), await status('second')], [401, 200])
  files.set('/r', 'second')
  t.is(await status('second'), 401)
  files.set('/r', 'third')
  t.deepEqual([await status('second'), await status('third')], [200, 200])
  files.delete('/a')
  t.deepEqual([await status('second'), await status('third')], [401, 200])
})

test('http-28: sixty refusals in a minute make the sixty-first a 429, and a good token still opens', async (t) => {
  let now = 0
  const clock: Clock = { ...createClock(), elapsed: () => now }
  const server = await startServer(t, { routes, auth: { ...tokens, clock } })
  for (let n = 0; n < 60; n += 1) t.is((await server.ask('GET', '/v1/read', { headers: bearer('guess') })).status, 401)
  const limited = await server.ask('GET', '/v1/read', { headers: bearer('guess') })
  t.like(limited.body, { status: 429, code: 'rate_limited', domain: 'auth' })
  t.is(limited.headers['retry-after'], '60')
  t.is(server.audit.at(-1)?.event, 'auth_rate_limited')
  t.is((await server.ask('GET', '/v1/read', { headers: bearer('admin-token') })).status, 200)
  now = 60_001
  t.is((await server.ask('GET', '/v1/read', { headers: bearer('guess') })).status, 401)
})

test('the throttle keeps at most 4,096 samples', (t) => {
  const throttle = createThrottle({ ...createClock(), elapsed: () => 0 })
  for (let n = 0; n < 60; n += 1) t.false(throttle.exceeded('first'))
  t.true(throttle.exceeded('first'))
  for (let n = 0; n < 4096; n += 1) throttle.exceeded(`other ${n}`)
  t.false(throttle.exceeded('first'))
})

test('http-30: web pages may call from loopback only, with or without a good token', async (t) => {
  const server = await startServer(t, { routes, auth: tokens })
  const ask = (headers: Record<string, string>) =>
    server.ask('GET', '/v1/read', { headers: { ...bearer('admin-token'), ...headers } })
  for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:80', 'HTTP://LOCALHOST']) {
    const reply = await ask({ origin })
    t.is(reply.status, origin === 'HTTP://LOCALHOST' ? 403 : 200, origin)
    if (reply.status === 200)
      t.like(reply.headers, {
        'access-control-allow-origin': origin,
        'access-control-max-age': '600',
        vary: 'origin, access-control-request-method, access-control-request-headers',
      })
  }
  for (const origin of [
    'http://evil.example',
    'null',
    'http://localhost.evil.example',
    'http://127.0.0.1@evil.example',
    'file://',
    'http://localhost/path',
    'ftp://localhost',
    'chrome-extension://abc',
    'http://0.0.0.0',
    '',
  ]) {
    const reply = await ask({ origin })
    t.like(reply.body, { status: 403, code: 'origin_not_allowed', domain: 'cors' }, origin)
    t.is(reply.headers['access-control-allow-origin'], undefined)
  }
  t.is((await ask({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' })).status, 403)
  t.is((await ask({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).status, 200)
  t.is((await ask({ 'sec-fetch-site': 'same-origin' })).status, 200)
  t.is(server.audit[0]?.event, 'cors_origin_rejected')
})

test('a refused page learns of its refusal by CORS headers only when its origin is allowed', async (t) => {
  const server = await startServer(t, { routes, auth: tokens })
  const reply = await server.ask('GET', '/v1/read', { headers: { origin: 'http://localhost:1' } })
  t.is(reply.status, 401)
  t.is(reply.headers['access-control-allow-origin'], 'http://localhost:1')
})

test('http-30: a preflight needs no token', async (t) => {
  const server = await startServer(t, { routes, auth: tokens })
  const good = await server.ask('OPTIONS', '/v1/admin', {
    headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' },
  })
  t.is(good.status, 204)
  t.like(good.headers, {
    'access-control-allow-origin': 'http://localhost:3000',
    'access-control-allow-methods': 'GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS',
    'access-control-allow-headers': 'authorization, content-type, idempotency-key, last-event-id',
  })
  t.is((await server.ask('OPTIONS', '/v1/admin', { headers: { origin: 'http://evil.example' } })).status, 403)
  t.is(good.headers['allow'], 'GET, HEAD, OPTIONS, POST')
  t.is((await server.ask('OPTIONS', '/v1/nowhere')).status, 404)
  const asked = { origin: 'http://localhost:3000', 'access-control-request-method': 'GET' }
  t.is((await server.ask('OPTIONS', '/v1/nowhere', { headers: asked })).status, 204)
})

test('a list of allowed origins replaces the loopback rule and takes loopback origins only', async (t) => {
  const server = await startServer(t, { routes, server: { corsOrigins: ['http://localhost:3000'] } })
  t.is((await server.ask('GET', '/v1/read', { headers: { origin: 'http://localhost:3000' } })).status, 200)
  t.is((await server.ask('GET', '/v1/read', { headers: { origin: 'http://localhost:3001' } })).status, 403)
  for (const origin of [
    'http://example.org',
    'http://localhost/',
    'http://localhost/x',
    'localhost',
    '*',
    'null',
    'ws://localhost',
  ])
    t.throws(() => createOriginPolicy([origin]), { message: /allowed origin/u }, origin)
})

test('http-27: settings that would leave the daemon open, or closed for good, are refused', (t) => {
  const [admin, other] = [{ token: 'a' }, { token: 'b' }]
  const loopback = '127.0.0.1'
  const rows: [AuthSettings, string | undefined][] = [
    [{ mode: 'auto', host: loopback }, undefined],
    [{ mode: 'auto', host: '::1' }, undefined],
    [{ mode: 'auto', host: 'localhost' }, undefined],
    [{ mode: 'auto', host: '0.0.0.0' }, 'admin_token_required'],
    [{ mode: 'auto', host: '::' }, 'admin_token_required'],
    [{ mode: 'auto', host: '10.0.0.1' }, 'admin_token_required'],
    [{ mode: 'auto', host: '0.0.0.0', admin }, undefined],
    [{ mode: 'auto', host: '0.0.0.0', admin: { file: '/a' } }, undefined],
    [{ mode: 'none', host: '0.0.0.0' }, undefined],
    [{ mode: 'bearer', host: loopback }, 'admin_token_missing'],
    [{ mode: 'bearer', host: loopback, admin }, undefined],
    [{ mode: 'auto', host: loopback, readOnly: other }, 'admin_token_missing'],
    [{ mode: 'auto', host: loopback, admin, readOnly: other }, undefined],
    [{ mode: 'auto', host: loopback, admin, readOnly: admin }, 'tokens_equal'],
    [{ mode: 'auto', host: loopback, admin: { file: '/a' }, readOnly: { file: '/a' } }, 'tokens_equal'],
    [{ mode: 'auto', host: loopback, admin: { token: '' } }, 'token_malformed'],
    [{ mode: 'auto', host: loopback, admin: { token: 'a b' } }, 'token_malformed'],
  ]
  for (const [settings, code] of rows) t.is(refuseSettings(settings)?.code, code, JSON.stringify(settings))
})

test('the throttle forgets what it counted, also of an address whose own sample made room', (t) => {
  let now = 0
  const throttle = createThrottle({ ...createClock(), elapsed: () => now })
  throttle.exceeded('first')
  for (let round = 1; round < 70; round += 1) {
    for (let n = 0; n < 4095; n += 1) throttle.exceeded(`other ${n % 4095}`)
    throttle.exceeded('first')
  }
  now = 60_001
  t.deepEqual(
    Array.from({ length: 60 }, () => throttle.exceeded('first')),
    Array.from({ length: 60 }, () => false),
  )
})
