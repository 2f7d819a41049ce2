/**
 * docs/rules/deliveries.md: rules that can be seen from outside, against a daemon, a process of its own where it is killed.
 */
import test, { type ExecutionContext } from 'ava'
import { spawnTestDaemon, startTestDaemon, type Reachable } from '../support/daemon.js'
import { answering, startReceiver, type Receiver } from '../support/receiver.js'
import { codeOf, openSession, until } from '../support/runs.js'
import { reservedHeaders } from '../support/reserved-headers.js'

interface Bench {
  readonly daemon: Reachable
  readonly receiver: Receiver
}

const quick = {
  'delivery-initial-retry-ms': '5',
  'delivery-max-retry-ms': '20',
  'delivery-circuit-cooldown-ms': '20',
  'delivery-drain-ms': '200',
}

const start = async (t: ExecutionContext<any>, flags: Record<string, string> = {}): Promise<Bench> => {
  const receiver = await startReceiver(t)
  const daemon = await startTestDaemon(t, { flags: { ...quick, ...flags } })
  await openSession(daemon)
  return { daemon, receiver }
}

/** Runs something to its end, with targets by path of the receiver. */
const say = async (
  { daemon, receiver }: Bench,
  content: string,
  paths: readonly string[],
  session_id = 's1',
): Promise<any> => {
  const reply_targets = paths.map((path) => ({ type: 'raw', plugin: 'http', address: receiver.address(path) }))
  const accepted = await daemon.request('POST', `/v1/sessions/${session_id}/runs`, { content, reply_targets })
  return until(daemon, accepted.body.run_id, 'completed', 'failed')
}
const list = async ({ daemon }: Bench, query = ''): Promise<any[]> =>
  (await daemon.request('GET', `/v1/deliveries${query}`)).body
const settled = (bench: Bench, status: string, count: number): Promise<void> =>
  bench.receiver.until(async () => (await list(bench, `?status=${status}`)).length === count, `${count} ${status}`)
/** A delivery that was refused for good. */
const deadLetter = async (bench: Bench, path = '/closed'): Promise<any> => {
  bench.receiver.on(path, answering(410))
  const before = (await list(bench, '?status=dead_lettered')).length
  await say(bench, 'refused', [path])
  await settled(bench, 'dead_lettered', before + 1)
  return (await list(bench, '?status=dead_lettered')).at(-1)
}
const replay = async ({ daemon }: Bench, delivery_id: string, query = ''): Promise<any> =>
  (await daemon.request('POST', `/v1/deliveries/${delivery_id}/replay${query}`)).body

test.serial(
  'deliveries-1: Output deliveries: views hold plugin, digest of the target, attempts, codes, times and ' +
    'counts, never address, payload or metadata',
  async (t) => {
    const bench = await start(t)
    const target = {
      type: 'raw',
      plugin: 'http',
      address: bench.receiver.address('/secret-path?token=secret-query', { 'X-Tag': 'secret-header' }),
    }
    bench.receiver.on('/secret-path?token=secret-query', answering(503))
    await bench.daemon.request('POST', '/v1/sessions/s1/runs', {
      content: 'secret content',
      metadata: { note: 'secret-note' },
      reply_targets: [target],
    })
    await bench.receiver.until(async () => (await list(bench))[0]?.status === 'retrying', 'retrying')
    const [view] = await list(bench)
    t.deepEqual(Object.keys(view).sort(), [
      'artifacts_count',
      'attempts',
      'content_size_bytes',
      'delivery_id',
      'last_error',
      'next_attempt_at_ms',
      'parts_count',
      'plugin',
      'run_id',
      'session_id',
      'status',
      'target',
    ])
    t.like(view, {
      plugin: 'http',
      status: 'retrying',
      last_error: 'http_status_503',
      content_size_bytes: Buffer.byteLength('You said: secret content'),
      parts_count: 0,
      artifacts_count: 0,
    })
    t.regex(view.target, /^http:sha256:[0-9a-f]{16}$/u)
    const told = [
      view,
      (await bench.daemon.request('GET', `/v1/deliveries/${view.delivery_id}`)).body,
      (await bench.daemon.request('GET', `/v1/runs/${view.run_id}`)).body.deliveries,
    ]
    for (const secret of ['secret', String(bench.receiver.port), '127.0.0.1'])
      t.false(JSON.stringify(told).includes(secret), secret)
  },
)

test.serial('deliveries-6: GET /v1/runs/{run_id} shows the deliveries of its outputs', async (t) => {
  const bench = await start(t)
  const run = await say(bench, '/emit one\n/say two', ['/a', '/b'])
  await settled(bench, 'delivered', 4)
  const { deliveries } = (await bench.daemon.request('GET', `/v1/runs/${run.run_id}`)).body
  t.deepEqual(
    deliveries.map(({ status, run_id }: any) => [status, run_id]),
    Array(4).fill(['delivered', run.run_id]),
  )
  t.deepEqual(
    bench.receiver.at('/a').map(({ body }) => body.content),
    ['one', 'two'],
  )
  const plain = await say(bench, 'nobody listens', [])
  t.false('deliveries' in plain)
})

test.serial(
  'deliveries-2, deliveries-3: GET /v1/deliveries filters by session_id, run_id, plugin and status, and by ' +
    'several at once',
  async (t) => {
    const bench = await start(t)
    await openSession(bench.daemon, 's2')
    bench.receiver.on('/closed', answering(410))
    const [first, second] = [await say(bench, 'one', ['/a', '/closed']), await say(bench, 'two', ['/a'], 's2')]
    await settled(bench, 'delivered', 2)
    await settled(bench, 'dead_lettered', 1)
    const runs = async (query: string): Promise<string[]> =>
      (await list(bench, query))
        .map(({ run_id, status }) => `${run_id === first.run_id ? 'first' : 'second'} ${status}`)
        .sort()
    t.deepEqual(await runs(''), ['first dead_lettered', 'first delivered', 'second delivered'])
    t.deepEqual(await runs('?session_id=s1'), ['first dead_lettered', 'first delivered'])
    t.deepEqual(await runs(`?run_id=${second.run_id}`), ['second delivered'])
    t.deepEqual(await runs('?plugin=http'), ['first dead_lettered', 'first delivered', 'second delivered'])
    t.deepEqual(await runs('?plugin=pigeon'), [])
    t.deepEqual(await runs('?status=delivered'), ['first delivered', 'second delivered'])
    t.deepEqual(await runs('?status=delivered&session_id=s1'), ['first delivered'])
    t.deepEqual(await runs('?status=dead_lettered&plugin=http'), ['first dead_lettered'])
    t.deepEqual(await runs('?session_id=s2&plugin=http'), ['second delivered'])
    t.deepEqual(await runs('?session_id=s2&plugin=pigeon'), [])
    t.deepEqual(await runs(`?run_id=${first.run_id}&status=delivered&session_id=s1&plugin=http`), ['first delivered'])
    t.deepEqual(await runs(`?run_id=${first.run_id}&session_id=s2`), [])
    t.deepEqual(await runs('?session_id=unknown'), [])
    t.is((await bench.daemon.request('GET', '/v1/deliveries?status=lost')).status, 400)
  },
)

test.serial(
  'deliveries-3: GET /v1/deliveries: a plain array, or pages in the order delivery_time_asc,delivery_id_asc',
  async (t) => {
    const bench = await start(t)
    for (let n = 0; n < 5; n += 1) await say(bench, `output ${n}`, ['/a'])
    await settled(bench, 'delivered', 5)
    const all = await list(bench)
    const keys = all.map(({ delivered_at_ms, delivery_id }) => `${delivered_at_ms}:${delivery_id}`)
    t.deepEqual(keys, keys.toSorted())
    t.deepEqual(
      (await list(bench, '?limit=2')).map(({ delivery_id }) => delivery_id),
      all.slice(0, 2).map(({ delivery_id }) => delivery_id),
    )
    const seen: string[] = []
    let cursor: string | undefined = ''
    for (let page = 0; cursor !== undefined && page < 9; page += 1) {
      const { body } = await bench.daemon.request(
        'GET',
        `/v1/deliveries?limit=2&page=true${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      t.like(body.pagination, { limit: 2, total_count: 5, order: 'delivery_time_asc,delivery_id_asc' })
      seen.push(...body.items.map(({ delivery_id }: any) => delivery_id))
      cursor = body.pagination.next_cursor
    }
    t.deepEqual(
      seen,
      all.map(({ delivery_id }) => delivery_id),
    )
    t.deepEqual(codeOf(await bench.daemon.request('GET', '/v1/deliveries?limit=0')), [400, 'invalid_limit'])
    t.deepEqual(codeOf(await bench.daemon.request('GET', '/v1/deliveries?cursor=!')), [400, 'invalid_cursor'])
  },
)

test.serial('deliveries-4: GET /v1/deliveries/dead-letter is the same list of dead letters alone', async (t) => {
  const bench = await start(t)
  const dead = await deadLetter(bench)
  await say(bench, 'fine', ['/a'])
  await settled(bench, 'delivered', 1)
  t.deepEqual((await bench.daemon.request('GET', '/v1/deliveries/dead-letter')).body, [dead])
  t.deepEqual((await bench.daemon.request('GET', '/v1/deliveries/dead-letter?session_id=s2')).body, [])
  t.like((await bench.daemon.request('GET', '/v1/deliveries/dead-letter?page=true')).body, {
    items: [dead],
    pagination: { total_count: 1, has_more: false },
  })
})

test.serial(
  'deliveries-5: GET /v1/deliveries/{delivery_id}: one view; an unknown one is 404 delivery_not_found',
  async (t) => {
    const bench = await start(t)
    const dead = await deadLetter(bench)
    t.deepEqual((await bench.daemon.request('GET', `/v1/deliveries/${dead.delivery_id}`)).body, dead)
    const unknown = await bench.daemon.request('GET', '/v1/deliveries/delivery_none')
    t.deepEqual([...codeOf(unknown), unknown.body.domain], [404, 'delivery_not_found', 'deliveries'])
  },
)

test.serial(
  'deliveries-20: Delivery: a replay of a dead letter is a new pending delivery that names it; the original ' +
    'is kept as audit',
  async (t) => {
    const bench = await start(t)
    const dead = await deadLetter(bench)
    bench.receiver.on('/closed', answering(200))
    const replayed = await replay(bench, dead.delivery_id)
    t.is(replayed.replayed_from_delivery_id, dead.delivery_id)
    t.like(replayed.delivery, {
      status: 'pending',
      replayed_from_delivery_id: dead.delivery_id,
      attempts: 0,
      run_id: dead.run_id,
      target: dead.target,
    })
    await settled(bench, 'delivered', 1)
    const [first, second] = bench.receiver.at('/closed')
    t.is(second?.key, `service:${replayed.delivery.delivery_id}`)
    t.not(first?.key, second?.key)
    t.is(first?.body.content, second?.body.content)
    const original = (await bench.daemon.request('GET', `/v1/deliveries/${dead.delivery_id}`)).body
    t.like(original, { ...dead, dead_letter_resolution_reason: 'replayed' })
    t.is(typeof original.dead_letter_resolved_at_ms, 'number')
  },
)

test.serial('deliveries-35: a dead letter is resolved once, with a reason, and can still be replayed', async (t) => {
  const bench = await start(t)
  const { delivery_id, ...dead } = await deadLetter(bench)
  const { request } = bench.daemon
  const resolve = (id: string, body: object) => request('POST', `/v1/deliveries/${id}/resolve`, body)
  t.deepEqual(codeOf(await resolve(delivery_id, { reason: '' })), [400, 'bad_request'])
  const first = await resolve(delivery_id, { reason: 'the receiver was given up' })
  t.like(first.body, { ...dead, delivery_id, dead_letter_resolution_reason: 'the receiver was given up' })
  t.is(typeof first.body.dead_letter_resolved_at_ms, 'number')
  t.deepEqual((await resolve(delivery_id, { reason: 'another' })).body, first.body)
  t.deepEqual((await request('GET', `/v1/deliveries/${delivery_id}`)).body, first.body)
  const { delivery, health } = (await request('GET', '/v1/status')).body
  t.like(delivery, { dead_lettered: 1, unresolved_dead_lettered: 0 })
  t.false(health.warnings.some(({ code }: any) => code === 'delivery_dead_letters'))
  bench.receiver.on('/closed', answering(200))
  await replay(bench, delivery_id)
  await settled(bench, 'delivered', 1)
  const [arrived] = await list(bench, '?status=delivered')
  t.is(arrived.replayed_from_delivery_id, delivery_id)
  t.deepEqual((await request('GET', `/v1/deliveries/${delivery_id}`)).body, first.body)
  for (const id of [arrived.delivery_id, 'delivery_none'])
    t.deepEqual(codeOf(await resolve(id, {})), [404, 'delivery_not_found'], id)
})

test.serial(
  'deliveries-21: Delivery: later replays return the existing one, also through kill -9; force=true makes another',
  async (t) => {
    const flags = Object.entries(quick).flatMap(([name, value]) => [`--${name}`, value])
    const killed = await spawnTestDaemon(t, { flags })
    await openSession(killed)
    const bench = { receiver: await startReceiver(t), daemon: killed }
    const dead = await deadLetter(bench)
    const first = await replay(bench, dead.delivery_id)
    t.is((await replay(bench, dead.delivery_id)).delivery.delivery_id, first.delivery.delivery_id)
    t.is((await replay(bench, dead.delivery_id, '?force=false')).delivery.delivery_id, first.delivery.delivery_id)
    const forced = await replay(bench, dead.delivery_id, '?force=true')
    t.not(forced.delivery.delivery_id, first.delivery.delivery_id)
    await killed.kill('SIGKILL')
    const again = { ...bench, daemon: await startTestDaemon(t, { root: killed.root, flags: quick }) }
    t.is((await replay(again, dead.delivery_id)).delivery.delivery_id, forced.delivery.delivery_id)
    t.is((await list(again, `?run_id=${dead.run_id}`)).length, 3)
  },
)

test.serial('deliveries-21: Delivery: 50 replays at once make one delivery', async (t) => {
  const bench = await start(t)
  const dead = await deadLetter(bench)
  const replays = await Promise.all(Array.from({ length: 50 }, () => replay(bench, dead.delivery_id)))
  t.is(new Set(replays.map(({ delivery }) => delivery.delivery_id)).size, 1)
  t.is((await list(bench, `?run_id=${dead.run_id}`)).length, 2)
})

test.serial(
  'deliveries-22: POST /v1/deliveries/{delivery_id}/replay: what is unknown or no dead letter is 404 ' +
    'delivery_not_found',
  async (t) => {
    const bench = await start(t)
    await say(bench, 'fine', ['/a'])
    await settled(bench, 'delivered', 1)
    const [delivered] = await list(bench)
    for (const id of [delivered.delivery_id, 'delivery_none'])
      t.deepEqual(codeOf(await bench.daemon.request('POST', `/v1/deliveries/${id}/replay`)), [
        404,
        'delivery_not_found',
      ])
    t.is((await list(bench)).length, 1)
  },
)

test.serial(
  "deliveries-24: http output: the headers Content-Type and Idempotency-Key are the daemon's own",
  async (t) => {
    const bench = await start(t)
    await say(bench, 'hello', ['/a'])
    await settled(bench, 'delivered', 1)
    const [view] = await list(bench)
    t.like(bench.receiver.at('/a')[0]?.headers, {
      'content-type': 'application/json',
      'idempotency-key': `service:${view.delivery_id}`,
    })
  },
)

const submit = ({ daemon }: Bench, target: unknown) =>
  daemon.request('POST', '/v1/sessions/s1/runs', { content: 'x', reply_targets: [target] })

test.serial(
  "deliveries-25: http output: reply headers must be valid and none of those that are not the caller's",
  async (t) => {
    const bench = await start(t)
    for (const name of [...reservedHeaders, 'bad name'])
      t.deepEqual(
        codeOf(await submit(bench, { type: 'http', url: 'https://a.example/', headers: { [name]: 'x' } })),
        [400, 'reply_target_invalid'],
        name,
      )
    t.deepEqual(
      codeOf(await submit(bench, { type: 'http', url: 'https://a.example/', headers: { 'x-a': 'line\r\nbreak' } })),
      [400, 'reply_target_invalid'],
    )
    t.deepEqual((await bench.daemon.request('GET', '/v1/runs')).body, [])
  },
)

test.serial(
  'deliveries-26: http output: private, local and special targets are refused, and the structured form ' +
    'cannot allow them',
  async (t) => {
    const bench = await start(t)
    for (const url of [
      'http://127.0.0.1/',
      'http://2130706433/',
      'http://localhost/',
      'http://169.254.169.254/',
      'http://[::ffff:10.0.0.1]/',
      'ftp://a.example/',
      'http://u:p@a.example/',
      'nothing',
    ]) {
      t.deepEqual(codeOf(await submit(bench, { type: 'http', url })), [400, 'reply_target_invalid'], url)
      t.deepEqual(codeOf(await submit(bench, { plugin: 'http', address: url })), [400, 'reply_target_invalid'], url)
    }
    t.is((await submit(bench, { type: 'http', url: 'http://127.0.0.1/', allow_private_network: true })).status, 400)
  },
)

test.serial('deliveries-28: http output: Retry-After on 429 is honoured as seconds and as a date', async (t) => {
  const bench = await start(t)
  bench.receiver.on('/seconds', answering(429, { 'retry-after': '600' }))
  bench.receiver.on('/date', answering(429, { 'retry-after': new Date(Date.now() + 600_000).toUTCString() }))
  bench.receiver.on('/far', answering(429, { 'retry-after': '999999' }))
  bench.receiver.on('/silent', answering(429))
  for (const path of ['/seconds', '/date', '/far', '/silent']) await say(bench, `to ${path}`, [path])
  await bench.receiver.until(async () => (await list(bench, '?status=retrying')).length === 4, 'all asked for time')
  const waits = new Map(
    (await list(bench)).map((view) => [
      view.content_size_bytes - 'You said: to '.length,
      (view.next_attempt_at_ms - Date.now()) / 1000,
    ]),
  )
  const wait = (path: string): number => waits.get(path.length) ?? NaN
  t.true(wait('/seconds') > 500 && wait('/seconds') <= 600)
  t.true(wait('/date') > 500 && wait('/date') <= 600)
  t.true(wait('/far') > 3500 && wait('/far') <= 3600)
  t.true(wait('/silent') <= 1)
})

test.serial('deliveries-29: http output: other 4xx are terminal, everything else is tried again', async (t) => {
  const bench = await start(t, { 'delivery-max-attempts': '2' })
  const statuses = [400, 401, 404, 410, 422, 500, 503, 302]
  for (const status of statuses) bench.receiver.on(`/${status}`, answering(status, { location: '/followed' }))
  await say(
    bench,
    'hello',
    statuses.map((status) => `/${status}`),
  )
  await settled(bench, 'dead_lettered', statuses.length)
  t.deepEqual(
    statuses.map((status) => bench.receiver.at(`/${status}`).length),
    [1, 1, 1, 1, 1, 2, 2, 2],
  )
  t.is(bench.receiver.at('/followed').length, 0)
})

test.serial(
  'deliveries-23: GET /v1/status: delivery counts, next attempt, worker heartbeat and lag; dead letters are ' +
    'a warning until they are replayed',
  async (t) => {
    const bench = await start(t, {
      'delivery-initial-retry-ms': '60000',
      'delivery-circuit-failure-threshold': '1',
      'delivery-circuit-cooldown-ms': '60000',
    })
    const dead = await deadLetter(bench)
    bench.receiver.on('/failing', answering(500))
    bench.receiver.on('/busy', answering(429, { 'retry-after': '600' }))
    await say(bench, '/emit one\n/say two', ['/failing', '/busy', '/a'])
    await settled(bench, 'delivered', 2)
    await settled(bench, 'retrying', 2)
    const { delivery, health } = (await bench.daemon.request('GET', '/v1/status')).body
    t.like(delivery, {
      pending: 2,
      retrying: 2,
      delivered: 2,
      dead_lettered: 1,
      unresolved_dead_lettered: 1,
      ready: 2,
      dispatchable: 0,
      target_count: 2,
      blocked_target_count: 2,
      throttled_target_count: 1,
      open_circuit_target_count: 1,
      status_error_count: 0,
    })
    for (const field of [
      'next_attempt_at_ms',
      'next_target_available_at_ms',
      'worker_started_at_ms',
      'worker_heartbeat_at_ms',
      'worker_lag_ms',
    ])
      t.is(typeof delivery[field], 'number', field)
    t.true(delivery.next_attempt_at_ms > Date.now())
    t.like(
      health.warnings.find(({ code }: any) => code === 'delivery_dead_letters'),
      { severity: 'warning', related_id: dead.delivery_id },
    )
    bench.receiver.on('/closed', answering(200))
    await replay(bench, dead.delivery_id)
    const after = (await bench.daemon.request('GET', '/v1/status')).body
    t.like(after.delivery, { dead_lettered: 1, unresolved_dead_lettered: 0 })
    t.is(
      (after.health.warnings ?? []).find(({ code }: any) => code === 'delivery_dead_letters'),
      undefined,
    )
  },
)

test.serial(
  'external-actions-11: every delivery is in the ledger of external actions, by its id and with a redacted target',
  async (t) => {
    const bench = await start(t)
    bench.receiver.on('/a', (_received, response, count) => void response.writeHead(count === 1 ? 503 : 200).end())
    const run = await say(bench, 'hello', ['/a', '/b'])
    await settled(bench, 'delivered', 2)
    const views = await list(bench)
    const actions = (await bench.daemon.request('GET', `/v1/runs/${run.run_id}/external-actions`)).body.filter(
      ({ kind }: any) => kind === 'delivery',
    )
    t.deepEqual(
      actions.map(({ action_id }: any) => action_id).sort(),
      views.map(({ delivery_id }) => delivery_id).sort(),
    )
    t.deepEqual(actions.map(({ attempts, outcome }: any) => [attempts, outcome]).sort(), [
      [1, 'done'],
      [2, 'done'],
    ])
    for (const action of actions) t.is(action.target, `http:http://127.0.0.1:${bench.receiver.port}`)
  },
)
