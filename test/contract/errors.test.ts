/**
 * Codes that no other suite of this folder has, each as a problem document, against a daemon.
 */
import { request as httpRequest } from 'node:http'
import test from 'ava'
import { spawnTestDaemon, startTestDaemon, type Answer } from '../support/daemon.js'
import { createOwner, startMortal, type Mortal } from '../support/mortal.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'

let daemon: Mortal
const owner = createOwner()
test.before(async () => {
  daemon = await startMortal(owner)
  await openSession(daemon, 'made')
})
test.after.always(owner.end)

/** The title of a problem is that of its status. */
const titles: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
}

/** That an answer is this problem, with every member that a problem document has. */
const isProblem = (
  t: any,
  { status, body, headers }: Answer,
  [wanted, code, domain]: readonly [number, string, string?],
): void => {
  t.deepEqual([status, body?.code, body?.domain], [wanted, code, domain])
  t.is(headers['content-type'], 'application/problem+json')
  t.like(body, { type: `urn:service:problem:${code}`, title: titles[status], status })
  t.true(typeof body.detail === 'string' && body.detail !== '' && typeof (body.action ?? '') === 'string')
  t.notRegex(JSON.stringify(body), /\/home\/|\/tmp\/|node_modules|\.ts:\d|\.js:\d/u, 'nothing of the inside')
}

/** A request as bytes, for what a client library would not send. */
const bare = (
  path: string,
  { method = 'POST', headers, body }: { method?: string; headers: Record<string, string>; body: string },
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const outgoing = httpRequest(new URL(path, daemon.url), { method, headers, agent: false }, (incoming) => {
      let text = ''
      incoming
        .on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8')
        })
        .on('error', reject)
        .on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
            text,
            body: JSON.parse(text),
          }),
        )
    })
    outgoing.on('error', reject).end(body)
  })

const json = { 'content-type': 'application/json' }

test.serial('runs-2: Code session_busy: 409 sessions, for /input while work is active or queued', async (t) => {
  await openSession(daemon, 'busy')
  const run = await submit(daemon, 'busy', '/sleep 60000')
  isProblem(t, await daemon.request('POST', '/v1/sessions/busy/input', { content: 'x' }), [
    409,
    'session_busy',
    'sessions',
  ])
  const queued = await submit(daemon, 'busy', 'behind')
  t.is((await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`)).status, 200)
  await until(daemon, queued.run_id, 'completed')
  t.is((await daemon.request('POST', '/v1/sessions/busy/input', { content: 'x' })).status, 200)
})

test.serial('runs-27: Code run_state_conflict: 409 runs, for an end that an ended run cannot have', async (t) => {
  const run = await submit(daemon, 'made', 'x')
  await until(daemon, run.run_id, 'completed')
  isProblem(t, await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`), [409, 'run_state_conflict', 'runs'])
  t.is((await daemon.request('GET', `/v1/runs/${run.run_id}`)).body.status, 'completed')
})

test.serial(
  'http-17: Code idempotency_conflict: 409 idempotency, for a key with another payload; fifty equal ' +
    'payloads give one run',
  async (t) => {
    await openSession(daemon, 'keyed')
    const send = (content: string): Promise<Answer> =>
      daemon.request('POST', '/v1/sessions/keyed/runs', { content }, { 'idempotency-key': 'k' })
    const equal = await Promise.all(Array.from({ length: 50 }, () => send('x')))
    t.is(new Set(equal.map(({ body }) => body.run_id)).size, 1)
    isProblem(t, await send('y'), [409, 'idempotency_conflict', 'idempotency'])
    t.is((await daemon.request('GET', '/v1/runs?session_id=keyed')).body.length, 1)
  },
)

test.serial(
  'http-16: Code invalid_idempotency_key: 400 idempotency, for one that is empty, not ASCII or not the same twice',
  async (t) => {
    const send = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
      daemon.request('POST', '/v1/sessions/made/runs', { content: 'x', ...body }, headers)
    for (const answer of [
      await send({ idempotency_key: '' }),
      await send({ idempotency_key: ' ' }),
      await send({ idempotency_key: 'a b' }),
      await send({ idempotency_key: '\u00e9' }),
      await send({ idempotency_key: 'a'.repeat(256) }),
      await send({}, { 'idempotency-key': '\u00e9' }),
      await send({ idempotency_key: 'a' }, { 'idempotency-key': 'b' }),
    ]) {
      isProblem(t, answer, [400, 'invalid_idempotency_key', 'idempotency'])
    }
  },
)

test.serial(
  'http-45: Code idempotency_key_not_taken: 400 idempotency, for a POST that takes no key, and nothing is done',
  async (t) => {
    const key = { 'idempotency-key': 'k' }
    const body = { board_id: 'keyed', display_name: 'Keyed' }
    isProblem(t, await daemon.request('POST', '/v1/boards', body, key), [
      400,
      'idempotency_key_not_taken',
      'idempotency',
    ])
    t.deepEqual((await daemon.request('GET', '/v1/boards')).body, [])
    t.is((await daemon.request('GET', '/v1/boards', undefined, key)).status, 200)
    const { paths } = (await daemon.request('GET', '/v1/openapi.json')).body
    const posts = Object.entries<any>(paths).flatMap(([path, { post }]) => (post === undefined ? [] : [{ path, post }]))
    for (const { path, post } of posts) {
      const takes = (post.parameters ?? []).some(({ name }: any) => name === 'Idempotency-Key')
      const isIngress = post['x-access'] === 'ingress'
      t.is(/Takes an idempotency key\./u.test(post.description), takes, path)
      t.is(/Takes no idempotency key\./u.test(post.description), !takes && !isIngress, path)
      if (/(runs|input|retry)$/u.test(path)) t.true(takes, path)
    }
  },
)

test.serial(
  'sessions-8, tools-9: Code session_not_found: 404 sessions on typed paths, and without a domain for a ' +
    'permission check',
  async (t) => {
    for (const path of ['', '/events', '/stream', '/questions'])
      isProblem(t, await daemon.request('GET', `/v1/sessions/none${path}`), [404, 'session_not_found', 'sessions'])
    isProblem(t, await daemon.request('POST', '/v1/sessions/none/interrupt', {}), [
      404,
      'session_not_found',
      'sessions',
    ])
    isProblem(
      t,
      await daemon.request('POST', '/v1/runtime/permissions/check', { tool_name: 'bash', session_id: 'none' }),
      [404, 'session_not_found'],
    )
  },
)

test.serial('models-10: Code route_not_ready: 400 routes, before a run is persisted', async (t) => {
  const unready = await startTestDaemon(t, { flags: { provider: 'openai_compatible' } })
  await openSession(unready)
  isProblem(t, await unready.request('POST', '/v1/sessions/s1/runs', { content: 'x' }), [
    400,
    'route_not_ready',
    'routes',
  ])
  isProblem(t, await unready.request('POST', '/v1/sessions/s1/input', { content: 'x' }), [
    400,
    'route_not_ready',
    'routes',
  ])
  t.deepEqual((await unready.request('GET', '/v1/runs')).body, [])
})

test.serial('sessions-2: Code invalid_session_id: 400 sessions, for an empty id and for dots', async (t) => {
  for (const session_id of ['', '.', '..'])
    isProblem(t, await daemon.request('POST', '/v1/sessions', { session_id }), [400, 'invalid_session_id', 'sessions'])
})

test.serial('runs-24: Codes run_not_found and delivery_not_found: 404 in their domains', async (t) => {
  for (const path of ['', '/events', '/stream', '/external-actions'])
    isProblem(t, await daemon.request('GET', `/v1/runs/none${path}`), [404, 'run_not_found', 'runs'])
  isProblem(t, await daemon.request('POST', '/v1/runs/none/cancel'), [404, 'run_not_found', 'runs'])
  isProblem(t, await daemon.request('GET', '/v1/deliveries/none'), [404, 'delivery_not_found', 'deliveries'])
})

test.serial(
  'http-8: Codes route_not_found and method_not_allowed: 404 api for an unknown path, 405 with Allow for ' +
    'another method',
  async (t) => {
    isProblem(t, await daemon.request('GET', '/v1/nothing'), [404, 'route_not_found', 'api'])
    isProblem(t, await daemon.request('GET', '/v2/status'), [404, 'route_not_found', 'api'])
    const answer = await daemon.request('DELETE', '/v1/status')
    isProblem(t, answer, [405, 'method_not_allowed'])
    t.is(answer.headers['allow'], 'GET, HEAD, OPTIONS')
  },
)

test.serial(
  'http-6, http-7: Code bad_request: bad JSON, a wrong type, an unknown field, a missing one, each with its path',
  async (t) => {
    for (const body of ['{', '', 'nothing', '[]', '"x"', '{"content":"x"}}'])
      isProblem(t, await bare('/v1/sessions/made/runs', { headers: json, body }), [400, 'bad_request'])
    for (const [body, path] of [
      [{ content: 7 }, 'body.content'],
      [{ content: 'x', colour: 'red' }, 'body.colour'],
    ] as const) {
      const answer = await daemon.request('POST', '/v1/sessions/made/runs', body)
      isProblem(t, answer, [400, 'bad_request'])
      t.is(answer.body.errors[0].path, path)
    }
    const missing = await daemon.request('POST', '/v1/runtime/permissions/check', {})
    t.deepEqual([...codeOf(missing), missing.body.errors[0].path], [400, 'bad_request', 'body.tool_name'])
    const query = await daemon.request('GET', '/v1/runs?priority_active=maybe')
    t.deepEqual([...codeOf(query), query.body.errors[0].path], [400, 'bad_request', 'query.priority_active'])
  },
)

test.serial(
  'http-19: Codes payload_too_large and unsupported_media_type: 413 names the limit, 415 what is taken',
  async (t) => {
    const large = await bare('/v1/runtime/permissions/check', {
      headers: { ...json, 'content-length': '2000000' },
      body: `{"tool_name":"${'x'.repeat(1_999_984)}"}`,
    })
    isProblem(t, large, [413, 'payload_too_large'])
    t.is(large.body.limit_bytes, 1_048_576)
    for (const headers of [{ 'content-type': 'text/plain' }, { ...json, 'content-encoding': 'gzip' }]) {
      isProblem(t, await bare('/v1/sessions/made/runs', { headers, body: '{"content":"x"}' }), [
        415,
        'unsupported_media_type',
      ])
    }
  },
)

test.serial(
  'http-31: Code origin_not_allowed: 403 cors for a page from elsewhere, and host_not_allowed: 403 api for ' +
    "a name that is not the daemon's",
  async (t) => {
    isProblem(t, await daemon.request('GET', '/v1/status', undefined, { origin: 'https://evil.example' }), [
      403,
      'origin_not_allowed',
      'cors',
    ])
    isProblem(t, await daemon.request('GET', '/v1/status', undefined, { host: 'evil.example' }), [
      403,
      'host_not_allowed',
      'api',
    ])
  },
)

test.serial(
  'http-28: Code rate_limited: 429 auth with Retry-After 60, after sixty refusals of an address in a minute',
  async (t) => {
    const guarded = await spawnTestDaemon(t, {
      env: { SERVICE_DAEMON_ADMIN_TOKEN: 'admin-token' },
      headers: { authorization: 'Bearer admin-token' },
    })
    t.is((await guarded.request('GET', '/v1/status')).status, 200)
    for (let at = 0; at < 60; at += 1)
      t.is((await guarded.request('GET', '/v1/status', undefined, { authorization: 'Bearer wrong' })).status, 401)
    const limited = await guarded.request('GET', '/v1/status', undefined, { authorization: 'Bearer wrong' })
    isProblem(t, limited, [429, 'rate_limited', 'auth'])
    t.is(limited.headers['retry-after'], '60')
    t.is((await guarded.request('GET', '/v1/status')).status, 200, 'a good token is never limited')
  },
)
