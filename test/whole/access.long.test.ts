import test from 'ava'
import { spawnTestDaemon, startTestDaemon } from '../support/daemon.js'
import { access } from './access.js'
import { createClient, createSender, pathOf, type Client, type Got, type Sender } from './client.js'

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
const callers = { none: {}, wrong: bearer('wrong-token'), read: bearer('read-token'), admin: bearer('admin-token') }
type Caller = keyof typeof callers

const tokens = { 'http-admin-token': 'admin-token', 'http-readonly-token': 'read-token' }
const start = async (t: any) => {
  const daemon = await startTestDaemon(t, { flags: tokens, headers: callers.admin })
  const client = await createClient(daemon.url, callers.admin)
  t.teardown(client.close)
  return { daemon, client }
}

/**
 * What a caller is refused with; undefined if the route is open to it. The address has a throttle of its own, which
 * must not hide a refusal.
 */
const refusal = (caller: Caller, required: string): [number, string] | undefined => {
  if (required === 'public' || required === 'ingress' || caller === 'admin') return undefined
  if (caller === 'none') return [401, 'missing_token']
  if (caller === 'wrong') return [401, 'invalid_token']
  return required === 'admin' ? [403, 'insufficient_access'] : undefined
}

const isAuthProblem = ({ status, body }: Got): boolean => status === 401 || status === 429 || body?.domain === 'auth'

const look = async (
  t: any,
  client: Sender,
  {
    id,
    method,
    path,
    caller,
    required,
  }: { id: string; method: string; path: string; caller: Caller; required: string },
): Promise<void> => {
  const got = await client.send({
    method,
    path,
    headers: callers[caller],
    ...(method !== 'GET' && method !== 'HEAD' && { body: '{}' }),
  })
  const wanted = refusal(caller, required)
  const name = `${method} ${id} with ${caller} token: ${got.status} ${got.text.slice(0, 200)}`
  // A route with a check of its own refuses everybody who has a token of the daemon, in its own words: a connector that
  // is not there is no secret, as its name is in the path that its platform was given.
  if (required === 'ingress')
    return void t.deepEqual(
      [got.status, method === 'HEAD' || got.body?.domain?.endsWith('_ingress')],
      [/^(connectors|external)\./u.test(id) ? 404 : 401, true],
      name,
    )
  if (wanted === undefined) t.false(isAuthProblem(got), name)
  else if (method === 'HEAD') t.is(got.status, wanted[0], name)
  else t.deepEqual([got.status, got.body?.code, got.body?.domain], [...wanted, 'auth'], name)
  if (got.status === 401) t.regex(got.headers['www-authenticate'] ?? '', /^Bearer realm="service-daemon"/u, name)
}

/** How callers of routes with a check of their own show who they are. */
const schemes: Readonly<Record<string, string>> = {
  'connectors.http': 'http_connector',
  'connectors.slack': 'slack_signature',
  'connectors.telegram': 'telegram_webhook',
  'external.asset': 'external_connector',
  'external.credential': 'external_connector_credential',
  'external.event': 'external_connector',
  'external.events': 'external_connector',
  'observations.upload': 'observation_source',
  'capture_agents.heartbeat': 'capture_agent',
}

test('http-23: the table of access has one row for each route, and each route says the same of itself', async (t) => {
  const { client } = await start(t)
  t.deepEqual(
    Object.fromEntries(client.operations.map((operation) => [operation.id, operation.access]).sort()),
    Object.fromEntries(Object.entries(access).sort()),
  )
  for (const { id, method } of client.operations)
    if (method !== 'GET')
      t.true(['admin', 'ingress'].includes(access[id] ?? ''), `${id} changes something, so it is for the admin`)
  const security = {
    public: [],
    read: [{ admin: [] }, { read_only: [] }],
    admin: [{ admin: [] }],
  }
  for (const { id, template, method } of client.operations) {
    const required = access[id] ?? 'admin'
    const told = required === 'ingress' ? [{ [schemes[id] ?? '']: [] }] : security[required]
    t.deepEqual(client.document.paths[template][method.toLowerCase()].security, told, id)
  }
})

/**
 * 60 refusals of an address in a minute make the next one a 429: this many routes stay below it with GET and HEAD, and
 * are called from an address of their own.
 */
const lotSize = 25

/** A process with the plugins that are shipped. */
const spawnGuarded = async (t: any): Promise<{ client: Client; url: string }> => {
  const daemon = await spawnTestDaemon(t, {
    env: { SERVICE_DAEMON_ADMIN_TOKEN: 'admin-token', SERVICE_DAEMON_READONLY_TOKEN: 'read-token' },
    headers: callers.admin,
  })
  const client = await createClient(daemon.url, callers.admin)
  t.teardown(client.close)
  return { client, url: daemon.url }
}

for (const caller of ['none', 'wrong', 'read', 'admin'] as const) {
  test.serial(
    `every route, called with ${caller} token, opens or refuses as the table says; HEAD as GET, OPTIONS always`,
    async (t) => {
      const called: string[] = []
      const { client, url } = await spawnGuarded(t)
      const { operations } = client
      const count = Math.ceil(operations.length / lotSize)
      const lots = Array.from({ length: count }, (_, lot) => createSender(url, `127.0.0.${lot + 2}`))
      t.teardown(() => lots.forEach(({ close }) => close()))
      for (const [index, operation] of operations.entries()) {
        const sender = lots[Math.floor(index / lotSize)] ?? client
        const { id, method } = operation
        const required = access[id] ?? 'unknown'
        const path = pathOf(operation)
        await look(t, sender, { id, method, path, caller, required })
        if (method === 'GET') await look(t, sender, { id, method: 'HEAD', path, caller, required })
        t.is((await sender.send({ method: 'OPTIONS', path, headers: callers[caller] })).status, 204, `OPTIONS ${id}`)
        called.push(id)
      }
      t.deepEqual(called.sort(), Object.keys(access).sort(), 'each row of the table was called')
    },
  )
}

test(
  'http-24: an unknown path is for the admin alone to know: 401 without a token, 403 with a read-only one, ' +
    '404 for the admin',
  async (t) => {
    const { client } = await start(t)
    const paths = [
      '/',
      '/v1',
      '/v2/status',
      '/v1/nothing',
      '/v1/sessions/a/nothing',
      '/v1/nothing/a',
      '/v1/runtime/nothing',
      '/healthz/x',
      '/metrics/x',
    ]
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
        if (method === 'GET')
          for (const caller of ['none', 'wrong', 'read'] as const)
            await look(t, client, { id: path, method, path, caller, required: 'admin' })
        const got = await client.send({ method, path, headers: callers.admin })
        t.is(got.status, 404, `${method} ${path}`)
        if (method !== 'HEAD') t.like(got.body, { code: 'route_not_found', domain: 'api' })
      }
    }
  },
)

test('a method that a path does not answer to is 405 with the methods that it does, for the admin', async (t) => {
  const { client } = await start(t)
  const methods = new Map<string, string[]>()
  for (const { template, method } of client.operations)
    methods.set(template, [...(methods.get(template) ?? []), method])
  for (const [template, known] of methods) {
    const path = template.replaceAll(/\{\w+\}/gu, 'nobody')
    // `/v1/runs/prune` is a run's path to every method but its own.
    if (
      [...methods.keys()].some(
        (other) => other !== template && new RegExp(`^${other.replaceAll(/\{\w+\}/gu, '[^/]+')}$`, 'u').test(path),
      )
    )
      continue
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((name) => !known.includes(name))) {
      const got = await client.send({ method, path, headers: callers.admin })
      t.deepEqual([got.status, got.body.code], [405, 'method_not_allowed'], `${method} ${path}`)
      t.deepEqual(
        got.headers['allow']?.split(', ').sort(),
        [...known, ...(known.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort(),
        `${method} ${path}`,
      )
    }
    t.is(
      (await client.send({ method: 'PUT', path, headers: callers.read })).status,
      403,
      `PUT ${path} with the read-only token`,
    )
  }
})

test('an admin token never opens a Basic scheme, a query or a cookie, and a foreign page is refused with any token', async (t) => {
  const { client } = await start(t)
  const send = async (path: string, headers: Record<string, string>): Promise<[number, string]> => {
    const { status, body } = await client.send({ method: 'GET', path, headers })
    return [status, body?.code]
  }
  t.deepEqual(await send('/v1/status?access_token=admin-token', {}), [401, 'missing_token'])
  t.deepEqual(await send('/v1/status', { cookie: 'token=admin-token' }), [401, 'missing_token'])
  t.deepEqual(
    await send('/v1/status', { authorization: `Basic ${Buffer.from('admin:admin-token').toString('base64')}` }),
    [401, 'malformed_token'],
  )
  t.deepEqual(await send('/v1/status', { ...callers.admin, origin: 'https://evil.example' }), [
    403,
    'origin_not_allowed',
  ])
  t.deepEqual(await send('/healthz', { origin: 'https://evil.example' }), [403, 'origin_not_allowed'])
})
