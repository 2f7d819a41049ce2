/**
 * docs/rules/http.md: answers, lists and access, against a daemon.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import {
  freshRoot,
  spawnDaemon,
  spawnTestDaemon,
  startTestDaemon,
  type Answer,
  type Reachable,
} from '../support/daemon.js'
import { channel, person } from '../support/channels.js'
import { createOwner, startMortal, type Mortal } from '../support/mortal.js'
import { openStream } from '../support/sse.js'
import { createLeapingClock } from '../../core/testing/leaping-clock.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'
import { makeSchedule } from '../support/schedules.js'
import { operationsOf, type Operation } from '../whole/client.js'

let daemon: Mortal
const owner = createOwner()
let operations: Operation[]
test.before(async () => {
  daemon = await startMortal(owner)
  operations = operationsOf((await daemon.request('GET', '/v1/openapi.json')).body)
  for (const session_id of ['s1', 's2', 's3']) {
    await openSession(daemon, session_id)
    for (const content of ['a', 'b', 'c'])
      await until(daemon, (await submit(daemon, session_id, content)).run_id, 'completed')
  }
  for (const persona_id of ['ann', 'bob', 'cy'])
    await daemon.request('POST', '/v1/personas', { persona_id, display_name: persona_id })
  for (const name of ['a', 'b', 'c']) await makeSchedule(daemon, { name })
  await daemon.request('POST', '/v1/boards', { board_id: 'b1', display_name: 'Plan' })
  const members = ['ann', 'bob', 'cy'].map((member_id) => person(member_id))
  await channel(daemon, 'c1', { members })
  await daemon.request('POST', '/v1/projects', { project_id: 'p1', display_name: 'Trip', members })
  for (const title of ['a', 'b', 'c']) await daemon.request('POST', '/v1/projects/p1/tasks', { title })
  agent_id = (await daemon.request('GET', '/v1/sessions/s1')).body.agent_id
  for (const name of ['one', 'two', 'three'])
    await daemon.request('POST', `/v1/agents/${agent_id}/sidechains`, { subtask: { name, content: '/say hi' } })
})
test.after.always(owner.end)

/** An agent with others below it. */
let agent_id = ''

/** What stands in paths, by its name. */
const ids = (): Readonly<Record<string, string>> => ({
  session_id: 's1',
  board_id: 'b1',
  channel_id: 'c1',
  project_id: 'p1',
  agent_id,
})

/** Lists in pages, as the document has them: a new one is checked without a line here. */
const lists = (): string[] =>
  operations
    .filter(({ parameters }) =>
      ['page', 'cursor', 'limit'].every((name) =>
        parameters.some((parameter) => parameter.in === 'query' && parameter.name === name),
      ),
    )
    .map(({ template }) => template.replaceAll(/\{(\w+)\}/gu, (_, name: string) => ids()[name] ?? name))
const get = async (at: string): Promise<any> => (await daemon.request('GET', at)).body

test.serial('http-2: Responses are the concrete view, without an envelope', async (t) => {
  const session = await get('/v1/sessions/s1')
  t.is(session.session_id, 's1')
  const run = (await get('/v1/runs?limit=1'))[0]
  t.deepEqual(await get(`/v1/runs/${run.run_id}`), run)
  t.true(Array.isArray(await get(`/v1/runs/${run.run_id}/events`)))
})

test.serial(
  'http-3: Status codes: 200 for reads and changes in place, 201 for what is created, 202 for detached ' +
    'runs, 400, 404 and 409',
  async (t) => {
    const status = async (method: string, at: string, body?: unknown): Promise<number> =>
      (await daemon.request(method, at, body)).status
    t.is(await status('GET', '/v1/sessions'), 200)
    t.is(await status('POST', '/v1/sessions/s1/interrupt', {}), 200)
    t.is(await status('PUT', '/v1/sessions/s1/route-policy', { route_policy: {} }), 200)
    t.is(await status('POST', '/v1/sessions', { session_id: 'created' }), 201)
    t.is(await status('POST', '/v1/sessions/created/input', { content: 'x' }), 200)
    const detached = await daemon.request('POST', '/v1/sessions/created/runs', { content: '/sleep 60000' })
    t.is(detached.status, 202)
    t.is(await status('POST', '/v1/sessions/created/runs', {}), 400)
    t.is(await status('GET', '/v1/runs/none'), 404)
    t.is(await status('POST', '/v1/sessions/created/input', { content: 'x' }), 409)
    t.is(await status('POST', `/v1/runs/${detached.body.run_id}/cancel`), 200)
  },
)

test.serial(
  'http-3: Status codes: the document promises one good answer for each route, and 201 and 202 only for POST',
  (t) => {
    for (const { id, method, responses, parameters } of operations) {
      // A part of a file is 206, where the document says how to ask for one.
      const partial = parameters.some(({ name }) => name === 'Range') ? '206' : undefined
      const good = Object.keys(responses).filter((status) => status.startsWith('2') && status !== partial)
      t.is(good.length, 1, id)
      t.true(method === 'POST' ? ['200', '201', '202'].includes(good[0] ?? '') : good[0] === '200', id)
    }
  },
)

test.serial('http-5: Bodies: the document has an example of each body that has fields', async (t) => {
  const { paths } = await get('/v1/openapi.json')
  for (const [path, methods] of Object.entries<any>(paths)) {
    for (const [method, { requestBody }] of Object.entries<any>(methods)) {
      const body = requestBody?.content?.['application/json']
      if (
        body === undefined ||
        (body.schema.type === 'object' && Object.keys(body.schema.properties ?? {}).length === 0)
      )
        continue
      t.not(body.example ?? body.examples, undefined, `${method} ${path}`)
    }
  }
})

test.serial(
  'http-11: Pagination: page=true or a cursor gives the envelope, with 50 items by default; neither gives ' +
    'the plain array',
  async (t) => {
    t.true(lists().length >= 8)
    for (const list of ['/v1/sessions', '/v1/runs', '/v1/personas', '/v1/schedules'])
      t.true((await get(list)).length >= 3, list)
    for (const list of lists()) {
      const plain = await get(list)
      t.true(Array.isArray(plain), list)
      for (const query of ['page=true', 'cursor=', 'page=true&cursor=']) {
        const { items, pagination } = await get(`${list}?${query}`)
        t.like(pagination, { limit: 50, total_count: plain.length, has_more: false }, `${list}?${query}`)
        t.regex(pagination.order, /^\w+_(?:asc|desc)(?:,\w+_(?:asc|desc))*$/u)
        t.is(items.length, plain.length)
        t.false('next_cursor' in pagination)
      }
      t.true(Array.isArray(await get(`${list}?page=false`)), list)
    }
  },
)

test.serial('http-12: Pagination: only a limit gives the plain array, bounded', async (t) => {
  for (const list of lists()) {
    const plain = await get(list)
    const bounded = await get(`${list}?limit=2`)
    t.true(Array.isArray(bounded) && bounded.length === Math.min(2, plain.length), list)
    t.true(
      bounded.every((item: unknown) => plain.some((other: unknown) => JSON.stringify(other) === JSON.stringify(item))),
      list,
    )
  }
})

test.serial(
  'http-13: Pagination: limit=0 is refused, a limit above the maximum is clamped to it, a strange cursor is refused',
  async (t) => {
    for (const list of lists()) {
      for (const query of ['limit=0', 'page=true&limit=0', 'limit=-1']) {
        const answer = await daemon.request('GET', `${list}?${query}`)
        t.deepEqual([...codeOf(answer), answer.body.domain], [400, 'invalid_limit', 'pagination'], `${list}?${query}`)
      }
      t.is((await get(`${list}?page=true&limit=1000`)).pagination.limit, 100, list)
      t.true(Array.isArray(await get(`${list}?limit=1000`)), list)
      t.is((await get(`${list}?page=true&limit=99999999999999999999`)).pagination.limit, 100, list)
      for (const cursor of ['%7C', 'a%20b', '====', 'eA', 'MDAw']) {
        const answer = await daemon.request('GET', `${list}?cursor=${cursor}`)
        t.deepEqual([...codeOf(answer), answer.body.domain], [400, 'invalid_cursor', 'pagination'], `${list} ${cursor}`)
      }
    }
  },
)

test.serial(
  'http-14: Pagination: pages of any size join to the whole list, in its order, each item once',
  async (t) => {
    for (const list of lists()) {
      const whole = (await get(`${list}?page=true&limit=100`)).items
      for (const limit of [1, 2]) {
        const walked: unknown[] = []
        let query: string | undefined = `page=true&limit=${limit}`
        while (query !== undefined) {
          const { items, pagination }: any = await get(`${list}?${query}`)
          t.true(items.length <= limit && pagination.total_count === whole.length)
          t.is(pagination.has_more, 'next_cursor' in pagination)
          walked.push(...items)
          query = pagination.next_cursor === undefined ? undefined : `limit=${limit}&cursor=${pagination.next_cursor}`
        }
        t.deepEqual(walked, whole, `${list} by ${limit}`)
      }
    }
  },
)

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })
const tokens = { SERVICE_DAEMON_ADMIN_TOKEN: 'admin-token', SERVICE_DAEMON_READONLY_TOKEN: 'read-token' }

test.serial(
  'http-23: with tokens the control plane opens to bearers alone, an admin token to all of it, a read-only ' +
    'one to reads',
  async (t) => {
    const guarded = await spawnTestDaemon(t, { env: tokens, headers: bearer('admin-token') })
    const code = async (method: string, at: string, authorization: string): Promise<unknown> => {
      const { status, body } = await guarded.request(method, at, method === 'POST' ? {} : undefined, { authorization })
      return [status, body?.code]
    }
    t.is((await guarded.request('POST', '/v1/sessions', { session_id: 's1' })).status, 201)
    for (const at of [
      '/v1/sessions',
      '/v1/runs',
      '/v1/deliveries',
      '/v1/runtime',
      '/v1/sessions/s1/tasks',
      '/v1/schedules',
      '/v1/personas',
      '/v1/questions',
      '/v1/approvals',
      '/v1/status',
    ]) {
      t.deepEqual(await code('GET', at, 'Bearer wrong'), [401, 'invalid_token'], at)
      t.is((await guarded.request('GET', at, undefined, bearer('read-token'))).status, 200, at)
    }
    t.deepEqual(await code('POST', '/v1/sessions', 'Bearer read-token'), [403, 'insufficient_access'])
    t.deepEqual(await code('GET', '/v1/sessions', 'Basic YTpi'), [401, 'malformed_token'])
    const challenge = await fetch(`${guarded.url}/v1/sessions`)
    t.is(challenge.status, 401)
    t.regex(challenge.headers.get('www-authenticate') ?? '', /^Bearer realm="service-daemon"/u)
    for (const at of ['/healthz', '/readyz']) t.is((await fetch(`${guarded.url}${at}`)).status, 200, at)
    const open = await startTestDaemon(t)
    t.is((await open.request('POST', '/v1/sessions', {})).status, 201, 'a loopback daemon without tokens is open')
  },
)

test.serial('http-26: token files are read again, and tokens that have become equal open nothing', async (t) => {
  const folder = await freshRoot()
  const write = (name: string, token: string): string => {
    const file = path.join(folder, name)
    writeFileSync(file, `${token}\n`, { mode: 0o600 })
    return file
  }
  const files = {
    SERVICE_DAEMON_ADMIN_TOKEN_FILE: write('admin', 'first'),
    SERVICE_DAEMON_READONLY_TOKEN_FILE: write('read', 'reader'),
  }
  const guarded = await spawnDaemon({ env: files, headers: bearer('first') })
  t.teardown(() => guarded.kill('SIGKILL'))
  const status = async (token: string): Promise<number> =>
    (await guarded.request('GET', '/v1/status', undefined, bearer(token))).status
  t.deepEqual([await status('first'), await status('reader')], [200, 200])
  write('admin', 'second')
  t.deepEqual([await status('first'), await status('second')], [401, 200])
  write('read', 'second')
  t.deepEqual([await status('second'), await status('reader')], [401, 401])
})

test.serial('http-26: an event stream ends once its token opens it no more, and no other does', async (t) => {
  const folder = await freshRoot()
  const file = path.join(folder, 'read')
  writeFileSync(file, 'reader', { mode: 0o600 })
  const clock = createLeapingClock()
  const flags = { 'http-admin-token': 'first', 'http-readonly-token-file': file }
  const guarded = await startTestDaemon(t, { clock, flags, headers: bearer('first') })
  const port = Number(new URL(guarded.url).port)
  const follow = (token: string) => openStream({ port, path: '/v1/events/stream', headers: bearer(token) })
  const [admin, reader] = [follow('first'), follow('reader')]
  t.teardown(admin.close)
  const say = async (content: string): Promise<void> => {
    const { run_id } = await submit(guarded, 's1', content)
    await until(guarded, run_id, 'completed')
  }
  const heard = ({ frames }: typeof admin, content: string): boolean => JSON.stringify(frames).includes(content)
  const hears = async (one: typeof admin, content: string): Promise<void> => {
    while (!heard(one, content)) await clock.sleep(5)
  }
  await openSession(guarded)
  await say('before')
  for (const one of [admin, reader]) t.true(await one.until(1))
  clock.leap(10_000)
  await say('between')
  await Promise.all([hears(admin, 'between'), hears(reader, 'between')])
  writeFileSync(file, 'another', { mode: 0o600 })
  clock.leap(10_000)
  await reader.ended
  await say('after')
  await hears(admin, 'after')
  t.false(heard(reader, 'after'))
})

test.serial(
  'http-24: a path that is for the admin is 403 for the read-only token, also one that is not there',
  async (t) => {
    const guarded = await spawnTestDaemon(t, { env: tokens, headers: bearer('admin-token') })
    for (const [at, status] of [
      ['/v1/runs/none/debug', 404],
      ['/v1/runs/none/debug/artifacts/a', 404],
      ['/v1/assets/a/raw', 404],
      ['/v1/runtime/secrets', 200],
      ['/v1/runtime/secrets/none', 404],
      ['/v1/runtime/hooks', 200],
      ['/v1/runtime/revisions', 200],
      ['/v1/nothing', 404],
    ] as const) {
      const answer = await guarded.request('GET', at, undefined, bearer('read-token'))
      t.deepEqual(codeOf(answer), [403, 'insufficient_access'], at)
      t.is((await guarded.request('GET', at)).status, status, at)
    }
  },
)

test.serial(
  'http-30: pages of loopback may call, others may not, and a flag or SERVICE_HTTP_CORS_ALLOW_ORIGINS narrows it',
  async (t) => {
    const from = (target: Reachable, origin: string, method = 'GET'): Promise<Answer> =>
      target.request(method, '/v1/status', undefined, { origin })
    for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:8080']) {
      const answer = await from(daemon, origin)
      t.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [200, origin])
    }
    for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', 'http://192.168.1.1']) {
      const answer = await from(daemon, origin)
      t.deepEqual(
        [...codeOf(answer), answer.headers['access-control-allow-origin']],
        [403, 'origin_not_allowed', undefined],
      )
    }
    const preflight = await fetch(`${daemon.url}/v1/sessions`, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' },
    })
    t.is(preflight.status, 204)
    t.regex(preflight.headers.get('access-control-allow-methods') ?? '', /POST/u)
    const narrow = await spawnTestDaemon(t, { env: { SERVICE_HTTP_CORS_ALLOW_ORIGINS: 'http://localhost:3000' } })
    t.is((await from(narrow, 'http://localhost:3000')).status, 200)
    t.deepEqual(codeOf(await from(narrow, 'http://localhost:3001')), [403, 'origin_not_allowed'])
    await t.throwsAsync(spawnDaemon({ flags: ['--http-cors-allow-origin', 'https://evil.example'] }), {
      message: /cors_origin_refused/u,
    })
  },
)
