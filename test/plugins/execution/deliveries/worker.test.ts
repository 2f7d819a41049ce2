import test from 'ava'
import type { ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { startTestDaemon } from '../../../support/daemon.js'
import type { TestDaemon, TestDaemonOptions } from '../../../support/daemon.js'
import { lendOutbox } from '../../../support/outbox.js'
import { answering, startReceiver } from '../../../support/receiver.js'
import type { Receiver } from '../../../support/receiver.js'
import { openSession } from '../../../support/runs.js'

interface Bench { readonly daemon: TestDaemon; readonly receiver: Receiver; readonly enqueue: ReturnType<typeof lendOutbox>['enqueue'] }

const quick = { drain_ms: 100, initial_retry_ms: 5, max_retry_ms: 20, circuit_cooldown_ms: 20 }

const start = async (t: ExecutionContext, config: JsonObject = {}, options: TestDaemonOptions = {}): Promise<Bench> => {
  const receiver = await startReceiver(t)
  const lender = lendOutbox()
  const daemon = await startTestDaemon(t, { plugins: [lender.plugin], config: { deliveries: { ...quick, ...config } }, ...options })
  await openSession(daemon)
  return { daemon, receiver, enqueue: lender.enqueue }
}

const list = async ({ daemon }: Pick<Bench, 'daemon'>, query = ''): Promise<any[]> => (await daemon.request('GET', `/v1/deliveries${query}`)).body
const untilStatus = (bench: Bench, status: string, count: number): Promise<void> =>
  bench.receiver.until(async () => (await list(bench, `?status=${status}`)).length === count, `${count} ${status}`)
const contents = (receiver: Receiver, path: string): string[] => receiver.at(path).map(({ body }) => body.content)

test('an output arrives as the body and headers of the contract', async (t) => {
  const bench = await start(t)
  await bench.enqueue([bench.receiver.address('/a', { 'X-Tag': 'seven' })], { content: 'hello', parts: [{ type: 'text', text: 'hello' }] })
  await untilStatus(bench, 'delivered', 1)
  const [view] = await list(bench)
  const [got] = bench.receiver.received
  t.deepEqual(got?.body, {
    session_id: 's1', thread_id: null, content: 'hello', parts: [{ type: 'text', text: 'hello' }], resolved_parts: [{ type: 'text', text: 'hello' }], artifacts: [], artifact_attachments: [],
    metadata: { delivery_id: view.delivery_id, delivery_attempt: 1 },
  })
  t.like(got?.headers, { 'content-type': 'application/json', 'idempotency-key': `service:${view.delivery_id}`, 'x-tag': 'seven' })
})

test('deliveries to one target arrive in the order of their outputs, the failed one first again and with the same key', async (t) => {
  const bench = await start(t)
  bench.receiver.on('/a', (_received, response, count) => void response.writeHead(count === 2 || count === 3 ? 503 : 200).end())
  for (let n = 0; n < 5; n += 1) await bench.enqueue([bench.receiver.address('/a')])
  await untilStatus(bench, 'delivered', 5)
  t.deepEqual(contents(bench.receiver, '/a'), ['output 1', 'output 2', 'output 2', 'output 2', 'output 3', 'output 4', 'output 5'])
  t.is(new Set(bench.receiver.at('/a').slice(1, 4).map(({ key }) => key)).size, 1)
  t.deepEqual(bench.receiver.at('/a').slice(1, 4).map(({ body }) => body.metadata.delivery_attempt), [1, 2, 3])
})

test('targets that hang, fail, ask for time or refuse hold no other target', async (t) => {
  const bench = await start(t, { max_parallel: 8 })
  bench.receiver.on('/hanging', () => {})
  bench.receiver.on('/failing', answering(500))
  bench.receiver.on('/busy', answering(429, { 'retry-after': '3600' }))
  bench.receiver.on('/closed', answering(410))
  for (let n = 0; n < 20; n += 1) await bench.enqueue(['/hanging', '/failing', '/busy', '/closed', '/good'].map((path) => bench.receiver.address(path)))
  await bench.receiver.until(() => contents(bench.receiver, '/good').length === 20, 'all at the good one')
  t.deepEqual(contents(bench.receiver, '/good'), Array.from({ length: 20 }, (_, n) => `output ${n + 1}`))
  t.is(bench.receiver.at('/hanging').length, 1)
  t.is(bench.receiver.at('/busy').length, 1)
})

test('what is refused for good is a dead letter after one attempt, what fails is one after the last', async (t) => {
  const bench = await start(t, { max_attempts: 4, circuit_failure_threshold: 100 })
  bench.receiver.on('/closed', answering(410))
  bench.receiver.on('/failing', answering(500))
  await bench.enqueue([bench.receiver.address('/closed'), bench.receiver.address('/failing')])
  await untilStatus(bench, 'dead_lettered', 2)
  t.is(bench.receiver.at('/closed').length, 1)
  t.is(bench.receiver.at('/failing').length, 4)
  const dead = await list(bench, '?status=dead_lettered')
  t.deepEqual(dead.map(({ attempts, last_error, terminal_error }) => [attempts, last_error, terminal_error]), [
    [1, 'http_status_410', 'http_status_410'], [4, 'http_status_500', 'delivery_attempts_exhausted'],
  ])
})

test('a wait that a target asks for is kept up to its cap', async (t) => {
  const bench = await start(t, { max_retry_after_ms: 30 })
  bench.receiver.on('/busy', (_received, response, count) => void (count < 3 ? response.writeHead(429, { 'retry-after': '3600' }).end() : response.end()))
  await bench.enqueue([bench.receiver.address('/busy')])
  await untilStatus(bench, 'delivered', 1)
  t.is(bench.receiver.at('/busy').length, 3)
})
