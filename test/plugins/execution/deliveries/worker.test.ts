import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import {
  DeliveryObservers,
  type DeliveryOutcome,
  type ReplyPlugin,
} from '../../../../plugins/execution/deliveries/contract.js'
import { testPlugin } from '../../../support/plugins.js'
import { createClock } from '../../../../core/base/clock.js'
import type { DiskFile } from '../../../../core/state/disk/disk.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { freshRoot, startTestDaemon, type TestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { createFaultyDisk } from '../../../../core/testing/faulty-disk.js'
import { createHeldDisk } from '../../../support/held-disk.js'
import { lendOutbox } from '../../../support/outbox.js'
import { answering, startReceiver, type Receiver } from '../../../support/receiver.js'
import { openSession } from '../../../support/runs.js'

interface Bench {
  readonly daemon: TestDaemon
  readonly receiver: Receiver
  readonly enqueue: ReturnType<typeof lendOutbox>['enqueue']
}

const quick = { drain_ms: 100, initial_retry_ms: 5, max_retry_ms: 20, circuit_cooldown_ms: 20 }

interface Extras extends TestDaemonOptions {
  readonly receiver?: Receiver
  readonly replies?: readonly ReplyPlugin[]
}

const start = async (
  t: ExecutionContext,
  config: JsonObject = {},
  { receiver: known, replies = [], ...options }: Extras = {},
): Promise<Bench> => {
  const receiver = known ?? (await startReceiver(t))
  const lender = lendOutbox(...replies)
  const daemon = await startTestDaemon(t, {
    config: { deliveries: { ...quick, ...config } },
    ...options,
    plugins: [lender.plugin, ...(options.plugins ?? [])],
  })
  await openSession(daemon)
  return { daemon, receiver, enqueue: lender.enqueue }
}

const replyPlugin = (plugin: string, deliver: ReplyPlugin['deliver']): ReplyPlugin => ({
  plugin,
  address: () => undefined,
  refuse: () => undefined,
  target: () => plugin,
  deliver,
})

const list = async ({ daemon }: Pick<Bench, 'daemon'>, query = ''): Promise<any[]> =>
  (await daemon.request('GET', `/v1/deliveries${query}`)).body
const untilStatus = (bench: Bench, status: string, count: number): Promise<void> =>
  bench.receiver.until(async () => (await list(bench, `?status=${status}`)).length === count, `${count} ${status}`)
const contents = (receiver: Receiver, path: string): string[] => receiver.at(path).map(({ body }) => body.content)

test('an output arrives as the body and headers of the contract', async (t) => {
  const bench = await start(t)
  await bench.enqueue([bench.receiver.address('/a', { 'X-Tag': 'seven' })], {
    content: 'hello',
    parts: [{ type: 'text', text: 'hello' }],
  })
  await untilStatus(bench, 'delivered', 1)
  const [view] = await list(bench)
  const [got] = bench.receiver.received
  t.deepEqual(got?.body, {
    session_id: 's1',
    thread_id: null,
    content: 'hello',
    parts: [{ type: 'text', text: 'hello' }],
    resolved_parts: [{ type: 'text', text: 'hello' }],
    artifacts: [],
    artifact_attachments: [],
    metadata: { delivery_id: view.delivery_id, delivery_attempt: 1 },
  })
  t.like(got?.headers, {
    'content-type': 'application/json',
    'idempotency-key': `service:${view.delivery_id}`,
    'x-tag': 'seven',
  })
})

test(
  'deliveries-9: deliveries to one target arrive in the order of their outputs, the failed one first again ' +
    'and with the same key',
  async (t) => {
    const bench = await start(t)
    bench.receiver.on(
      '/a',
      (_received, response, count) => void response.writeHead(count === 2 || count === 3 ? 503 : 200).end(),
    )
    for (let n = 0; n < 5; n += 1) await bench.enqueue([bench.receiver.address('/a')])
    await untilStatus(bench, 'delivered', 5)
    t.deepEqual(contents(bench.receiver, '/a'), [
      'output 1',
      'output 2',
      'output 2',
      'output 2',
      'output 3',
      'output 4',
      'output 5',
    ])
    t.is(
      new Set(
        bench.receiver
          .at('/a')
          .slice(1, 4)
          .map(({ key }) => key),
      ).size,
      1,
    )
    t.deepEqual(
      bench.receiver
        .at('/a')
        .slice(1, 4)
        .map(({ body }) => body.metadata.delivery_attempt),
      [1, 2, 3],
    )
  },
)

test('deliveries-15: targets that hang, fail, ask for time or refuse hold no other target', async (t) => {
  const bench = await start(t, { max_parallel: 8 })
  bench.receiver.on('/hanging', () => {})
  bench.receiver.on('/failing', answering(500))
  bench.receiver.on('/busy', answering(429, { 'retry-after': '3600' }))
  bench.receiver.on('/closed', answering(410))
  for (let n = 0; n < 20; n += 1)
    await bench.enqueue(
      ['/hanging', '/failing', '/busy', '/closed', '/good'].map((path) => bench.receiver.address(path)),
    )
  await bench.receiver.until(() => contents(bench.receiver, '/good').length === 20, 'all at the good one')
  t.deepEqual(
    contents(bench.receiver, '/good'),
    Array.from({ length: 20 }, (_, n) => `output ${n + 1}`),
  )
  t.is(bench.receiver.at('/hanging').length, 1)
  t.is(bench.receiver.at('/busy').length, 1)
})

test('deliveries-11: what is refused for good is a dead letter after one attempt, what fails is one after the last', async (t) => {
  const bench = await start(t, { max_attempts: 4, circuit_failure_threshold: 100 })
  bench.receiver.on('/closed', answering(410))
  bench.receiver.on('/failing', answering(500))
  await bench.enqueue([bench.receiver.address('/closed'), bench.receiver.address('/failing')])
  await untilStatus(bench, 'dead_lettered', 2)
  t.is(bench.receiver.at('/closed').length, 1)
  t.is(bench.receiver.at('/failing').length, 4)
  const dead = await list(bench, '?status=dead_lettered')
  t.deepEqual(
    dead.map(({ attempts, last_error, terminal_error }) => [attempts, last_error, terminal_error]),
    [
      [1, 'http_status_410', 'http_status_410'],
      [4, 'http_status_500', 'delivery_attempts_exhausted'],
    ],
  )
})

test('a wait that a target asks for is kept up to its cap', async (t) => {
  const bench = await start(t, { max_retry_after_ms: 30 })
  bench.receiver.on(
    '/busy',
    (_received, response, count) =>
      void (count < 3 ? response.writeHead(429, { 'retry-after': '3600' }).end() : response.end()),
  )
  await bench.enqueue([bench.receiver.address('/busy')])
  await untilStatus(bench, 'delivered', 1)
  t.is(bench.receiver.at('/busy').length, 3)
})

test('deliveries-18: a stop lets attempts end and records them', async (t) => {
  const root = await freshRoot()
  const answers: (() => void)[] = []
  const bench = await start(t, { drain_ms: 8000 }, { root })
  bench.receiver.on('/slow', (_received, response) => {
    if (answers.length === 0) answers.push(() => void response.end())
    else response.end()
  })
  await bench.enqueue([bench.receiver.address('/slow')])
  await bench.enqueue([bench.receiver.address('/slow')])
  await bench.receiver.until(() => answers.length === 1, 'the first is there')
  // Long enough for an attempt that is cut off to be cut off, and short beside the time that it is given.
  createClock().after(300, () => answers[0]?.())
  await bench.daemon.stop()
  bench.receiver.on('/slow', answering(200))
  const again = await start(t, {}, { root, receiver: bench.receiver })
  await untilStatus(again, 'delivered', 2)
  t.deepEqual(contents(bench.receiver, '/slow'), ['output 1', 'output 2'])
})

test('deliveries-18: an attempt that a stop cuts off is repeated with its key after the start', async (t) => {
  const root = await freshRoot()
  const bench = await start(t, { drain_ms: 50 }, { root })
  bench.receiver.on('/hanging', (_received, response, count) => {
    if (count > 1) response.end()
  })
  const reply_targets = [{ plugin: 'http', address: bench.receiver.address('/hanging') }]
  const { run_id } = (await bench.daemon.request('POST', '/v1/sessions/s1/runs', { content: 'hello', reply_targets }))
    .body
  await bench.receiver.until(() => bench.receiver.at('/hanging').length === 1, 'it hangs')
  await bench.daemon.stop()
  t.deepEqual(
    bench.daemon.daemon.view.plugins().filter(({ fault_count }) => fault_count > 0),
    [],
    'the stop is not held up',
  )
  const again = await start(t, {}, { root, receiver: bench.receiver })
  await untilStatus(again, 'delivered', 1)
  const [first, second] = bench.receiver.at('/hanging')
  t.is(first?.key, second?.key)
  t.deepEqual(
    [first, second].map((one) => one?.body.metadata.delivery_attempt),
    [1, 2],
  )
  t.like((await again.daemon.request('GET', `/v1/runs/${run_id}/external-actions`)).body, [
    { kind: 'delivery', attempts: 2, outcome: 'done' },
  ])
})

test('deliveries-10: nothing is sent before its intent is on disk', async (t) => {
  const disk = createDisk()
  const gate: { held: Promise<void> | undefined; open: () => void; reached: () => void } = {
    held: undefined,
    open: () => {},
    reached: () => {},
  }
  const wrap = (file: DiskFile): DiskFile => ({
    path: file.path,
    write: (bytes, position) => file.write(bytes, position),
    truncate: (length) => file.truncate(length),
    size: () => file.size(),
    read: (position, length) => file.read(position, length),
    close: () => file.close(),
    sync: async () => {
      gate.reached()
      await gate.held
      await file.sync()
    },
  })
  const lender = lendOutbox()
  const receiver = await startReceiver(t)
  const daemon = await startTestDaemon(t, {
    plugins: [lender.plugin],
    disk: { ...disk, open: async (at, how) => wrap(await disk.open(at, how)) },
  })
  await openSession(daemon)
  const { outbox, state } = lender.get()
  const item = {
    session_id: 's1',
    agent_id: 'agent_1',
    output: 1,
    content: 'hello',
    targets: [{ plugin: 'http', address: receiver.address('/a') }],
  }
  await state.commit((tx) => {
    outbox.enqueue(tx, item)
    tx.after(() => {
      gate.held = new Promise((resolve) => {
        gate.open = resolve
      })
    })
  })
  await new Promise<void>((resolve) => {
    gate.reached = resolve
  })
  for (let n = 0; n < 50; n += 1) await fetch(`http://127.0.0.1:${receiver.port}/other`, { method: 'POST', body: '{}' })
  t.is(receiver.at('/a').length, 0)
  gate.held = undefined
  gate.open()
  await receiver.until(() => receiver.at('/a').length === 1, 'sent')
})

test('a target with much to take lets others have their turn', async (t) => {
  const order: string[] = []
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const reply = replyPlugin('teller', async ({ address, content }) => {
    order.push(`${address} ${content}`)
    await held
    return { type: 'delivered' }
  })
  const bench = await start(t, { max_parallel: 1 }, { replies: [reply] })
  for (const address of ['busy', 'busy', 'busy', 'busy', 'quiet'])
    await bench.enqueue([], { targets: [{ plugin: 'teller', address }] })
  release()
  await untilStatus(bench, 'delivered', 5)
  t.deepEqual(order, ['busy output 1', 'quiet output 5', 'busy output 2', 'busy output 3', 'busy output 4'])
})

test('deliveries-19: what a plugin that is not there should deliver is tried again and then a dead letter', async (t) => {
  const bench = await start(t, { max_attempts: 2 })
  await bench.enqueue([], { targets: [{ plugin: 'pigeon', address: 'loft' }] })
  await untilStatus(bench, 'dead_lettered', 1)
  t.like((await list(bench))[0], {
    plugin: 'pigeon',
    attempts: 2,
    last_error: 'reply_plugin_missing',
    terminal_error: 'delivery_attempts_exhausted',
  })
})

test('a reply plugin that throws or never ends costs an attempt and holds nobody else', async (t) => {
  const replies = [
    replyPlugin('thrower', () => Promise.reject(new Error('secret'))),
    replyPlugin('sleeper', () => new Promise(() => {})),
    replyPlugin('good', () => Promise.resolve({ type: 'delivered' })),
  ]
  const bench = await start(t, { max_attempts: 1, attempt_timeout_ms: 50 }, { replies })
  await bench.enqueue([], { targets: ['thrower', 'sleeper', 'good'].map((plugin) => ({ plugin, address: 'x' })) })
  await untilStatus(bench, 'delivered', 1)
  await untilStatus(bench, 'dead_lettered', 2)
  t.deepEqual((await list(bench, '?status=dead_lettered')).map(({ last_error }) => last_error).sort(), [
    'delivery_timed_out',
    'reply_plugin_failed',
  ])
})

test('deliveries-39: a reply plugin that goes on behind its signal is charged and told in the log, and one that ends is not', async (t) => {
  const ending = (signal: AbortSignal): Promise<DeliveryOutcome> =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve({ type: 'retry', code: 'too_slow', uncertain: true }))
    })
  const replies = [
    replyPlugin('never', () => new Promise(() => {})),
    replyPlugin('obedient', (_, signal) => ending(signal)),
  ]
  const bench = await start(t, { max_attempts: 1, attempt_timeout_ms: 50 }, { replies })
  await bench.enqueue([], { targets: replies.map(({ plugin }) => ({ plugin, address: 'x' })) })
  await untilStatus(bench, 'dead_lettered', 2)
  const told = bench.daemon.log.filter(({ fact }) => fact === 'a reply plugin did not end')
  t.deepEqual(
    told.map(({ details }) => details['reply_plugin']),
    ['never'],
  )
  const [faulty] = bench.daemon.daemon.view.plugins().filter(({ fault_count }) => fault_count > 0)
  t.like(faulty, { id: 'lender', fault_count: 1 })
  t.is(faulty?.last_fault?.message, 'it did not end within 2000 ms of being told to')
})

test('deliveries-15: no more targets than allowed are delivered to at the same time', async (t) => {
  let open = 0
  let most = 0
  const deliver = async (): Promise<{ type: 'delivered' }> => {
    most = Math.max(most, (open += 1))
    await createClock().sleep(5)
    open -= 1
    return { type: 'delivered' }
  }
  const bench = await start(t, { max_parallel: 3 }, { replies: [replyPlugin('counter', deliver)] })
  for (let n = 0; n < 5; n += 1)
    await bench.enqueue([], {
      targets: Array.from({ length: 10 }, (_, at) => ({ plugin: 'counter', address: `a${at}` })),
    })
  await untilStatus(bench, 'delivered', 50)
  t.is(most, 3)
})

test('an outcome that storage did not take is written later, without another attempt; meanwhile nothing is sent', async (t) => {
  const { disk, fail, heal } = createFaultyDisk()
  const bench = await start(t, {}, { disk })
  bench.receiver.on('/a', (_received, response, count) => {
    if (count === 1) fail('full')
    response.end()
  })
  await bench.enqueue([bench.receiver.address('/a')])
  await bench.enqueue([bench.receiver.address('/a')]).catch(() => undefined)
  await bench.receiver.until(
    async () => (await bench.daemon.request('GET', '/v1/status')).body.storage?.ok === false,
    'storage refuses',
  )
  t.is(bench.receiver.at('/a').length, 1)
  heal()
  await bench.receiver.until(async () => (await list(bench, '?status=delivered')).length >= 1, 'written')
  t.is(bench.receiver.at('/a').filter(({ body }) => body.content === 'output 1').length, 1)
})

test('a wall clock that is set forward lets what waits go at once', async (t) => {
  const clock = createClock()
  let ahead = 0
  const bench = await start(
    t,
    { initial_retry_ms: 3_600_000, max_retry_ms: 3_600_000 },
    { clock: { ...clock, now: () => clock.now() + ahead } },
  )
  bench.receiver.on('/a', (_received, response, count) => void response.writeHead(count === 1 ? 500 : 200).end())
  await bench.enqueue([bench.receiver.address('/a')])
  await untilStatus(bench, 'retrying', 1)
  ahead = 7_200_000
  await untilStatus(bench, 'delivered', 1)
  t.is(bench.receiver.at('/a').length, 2)
})

test('what many targets have to record at one time is one commit, in the ledger too', async (t) => {
  const root = await freshRoot()
  const bench = await start(
    t,
    {},
    { root, replies: [replyPlugin('teller', () => Promise.resolve({ type: 'delivered' }))] },
  )
  const targets = Array.from({ length: 32 }, (_, at) => ({ plugin: 'teller', address: `a${at}` }))
  await bench.enqueue([], { targets })
  await untilStatus(bench, 'delivered', 32)
  const folder = join(root, 'log')
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
  const holding = (text: string): number => lines.filter((line) => line.includes(text)).length
  t.true(holding('"put","deliveries"') <= 6, `${holding('"put","deliveries"')} commits`)
  const heads = lines.join('').split('"put","external_action_heads"').length - 1
  t.true(heads <= 6, `the end of the ledger was put ${heads} times for 64 entries`)
})

test('while outcomes go to the disk the next are recorded, and those behind them gather', async (t) => {
  const { disk, hold, reached, release } = createHeldDisk()
  const ends = new Map<string, () => void>()
  const deliver: ReplyPlugin['deliver'] = ({ address }) =>
    new Promise((resolve) => ends.set(address, () => resolve({ type: 'delivered' })))
  const lender = lendOutbox(replyPlugin('teller', deliver))
  const settled: number[] = []
  const hearing = testPlugin('hearing', {
    register: (ctx) =>
      void ctx.contribute(DeliveryObservers, {
        id: 'hearing',
        settled: (_tx, { length }) => void settled.push(length),
      }),
  })
  const daemon = await startTestDaemon(t, { disk, plugins: [lender.plugin, hearing] })
  t.teardown(() => release())
  await openSession(daemon)
  const addresses = ['a', 'b', 'c', 'd']
  await lender.enqueue([], { targets: addresses.map((address) => ({ plugin: 'teller', address })) })
  const turns = async (until: () => boolean): Promise<void> => {
    for (let n = 0; n < 1000 && !until(); n += 1) await createClock().sleep(2)
  }
  await turns(() => ends.size === 4)
  hold()
  ends.get('a')?.()
  await reached()
  ends.get('b')?.()
  await turns(() => settled.length === 2)
  for (const address of ['c', 'd']) ends.get(address)?.()
  await createClock().sleep(20)
  t.deepEqual(settled, [1, 1])
  release()
  await turns(() => settled.length === 3)
  t.deepEqual(settled, [1, 1, 2])
})

test('a target whose attempt cannot be recorded holds no other that would be in the same commit', async (t) => {
  const broken = {
    ...replyPlugin('broken', () => Promise.resolve({ type: 'delivered' })),
    target: () => fail('no name'),
  }
  const good = replyPlugin('good', () => Promise.resolve({ type: 'delivered' }))
  const bench = await start(t, {}, { replies: [broken, good] })
  const targets = ['broken', 'good', 'good', 'broken', 'good'].map((plugin, at) => ({ plugin, address: `a${at}` }))
  await bench.enqueue([], { targets })
  await untilStatus(bench, 'delivered', 3)
  await bench.enqueue([], { targets: [targets[1], targets[3]].flatMap((one) => one ?? []) })
  await untilStatus(bench, 'delivered', 4)
  t.is((await list(bench, '?status=pending')).length, 3)
})

const fail = (message: string): never => {
  throw new Error(message)
}
