import test from 'ava'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClock } from '../../../../core/base/clock.js'
import { createIds } from '../../../../core/base/ids.js'
import { unsafeCast } from '../../../../core/base/schema.js'
import type { Tx } from '../../../../core/plugin.js'
import type { DeliveryRecord, OpenDelivery } from '../../../../plugins/execution/deliveries/store.js'
import { createWorker, type WorkerParts } from '../../../../plugins/execution/deliveries/worker.js'
import { silent } from '../../../faults/stillness.js'

const delivery: OpenDelivery = {
  delivery_id: 'd1',
  session_id: 's1',
  thread_id: null,
  plugin: 'teller',
  address: 'here',
  target: 'teller:0',
  place: '1',
  payload: 1,
  content_size_bytes: 5,
  parts_count: 0,
  created_at_ms: 1,
  attempts: 0,
  status: 'pending',
  next_attempt_at_ms: 1,
}

interface Wish {
  readonly deliver: () => Promise<unknown>
  /** What a commit waits for until it is durable. */
  readonly disk?: () => Promise<void>
  readonly from?: OpenDelivery
  /** Throws where a record cannot be written. */
  readonly put?: (next: DeliveryRecord) => void
}

/** One lane with one delivery, over a store in memory. */
const lane = ({ deliver, disk = async () => {}, from = delivery, put: look = () => {} }: Wish) => {
  const clock = createClock()
  let record: DeliveryRecord = from
  const isOpen = (): boolean => record.status === 'pending' || record.status === 'retrying'
  const commit = async <T>(change: (tx: Tx) => T): Promise<T> => {
    const before = record
    const put = (_: unknown, next: DeliveryRecord): void => {
      look(next)
      record = next
    }
    try {
      const value = change(unsafeCast({ now: clock.now(), put, after: () => {} }))
      await disk()
      return value
    } catch (error) {
      record = before
      throw error
    }
  }
  const parts: WorkerParts = unsafeCast({
    store: {
      state: { commit, health: { mode: 'ok' } },
      deliveries: {
        find: () => record,
        groups: () => (isOpen() ? [record.target] : []),
        list: () => (isOpen() ? [record] : []),
      },
      payloads: { read: () => [{ entry: { content: 'hello', parts: [] } }] },
    },
    replies: () => [{ plugin: 'teller', target: () => 'teller', deliver }],
    ledger: () => undefined,
    settled: () => {},
    config: {
      initial_retry_ms: 1,
      max_retry_ms: 1,
      max_retry_after_ms: 1,
      max_attempts: 2,
      target_min_interval_ms: 0,
      circuit_failure_threshold: 100,
      circuit_cooldown_ms: 1,
      max_parallel: 1,
      attempt_timeout_ms: 60_000,
      drain_ms: 0,
    },
    clock,
    ids: createIds(clock),
    log: silent,
    redact: (text: string) => text.replaceAll('s3cret', '[redacted]'),
  })
  const until = async (status: DeliveryRecord['status']): Promise<DeliveryRecord> => {
    while (record.status !== status) await sleep(1)
    return record
  }
  return { worker: createWorker(parts), until }
}

const thrown = (): never => {
  throw new Error('it has no words')
}

/** A member that is another one each time it is asked for. */
const turning = (name: string, first: unknown, then: unknown, rest: object = {}): object => {
  let asked = 0
  return Object.defineProperty({ ...rest }, name, { enumerable: true, get: () => ((asked += 1) > 1 ? then : first) })
}

test('an answer of a reply plugin that is no outcome costs an attempt and holds nobody', async (t) => {
  const answers = [
    undefined,
    {},
    { type: 'gone' },
    { type: 'retry' },
    { type: 'retry', code: 'busy', retry_after_ms: -1 },
    { type: 'retry', code: 'Bad Code \u001b[31m' },
    { type: 'terminal', code: 7 },
    { type: 'terminal', code: 'no such box' },
    { type: 'terminal', code: 'no_s3cret' },
    new Proxy({}, { get: (_, name) => (name === 'type' ? 'terminal' : thrown()) }),
  ]
  for (const [at, answer] of answers.entries()) {
    const { worker, until } = lane({ deliver: () => Promise.resolve(answer) })
    const stop = worker.start()
    t.like(await until('dead_lettered'), { attempts: 2, last_error: 'reply_plugin_failed' }, `answer ${at}`)
    await stop()
  }
})

test('deliveries-38: an outcome of a reply plugin is what it says when it is asked first', async (t) => {
  const code = (): object => turning('code', 'no_box', 5, { type: 'terminal' })
  const cases = [
    [() => turning('type', 'delivered', 'retry'), { status: 'delivered', attempts: 1 }],
    [code, { status: 'dead_lettered', attempts: 1, terminal_error: 'no_box' }],
    [() => Object.create(code()), { status: 'dead_lettered', attempts: 1, terminal_error: 'no_box' }],
    [() => Object.defineProperty({ type: 'delivered' }, 'code', { get: thrown }), { status: 'delivered', attempts: 1 }],
  ] as const
  for (const [answer, ended] of cases) {
    const { worker, until } = lane({ deliver: async () => answer() })
    const stop = worker.start()
    t.like(await until(ended.status), ended)
    await stop()
  }
})

test('deliveries-38: an outcome that cannot be recorded is told, and ends as its attempts are used up', async (t) => {
  let told: string[] = []
  const { worker, until } = lane({
    deliver: async () => ({ type: 'terminal', code: 'no_box' }),
    put: (next) => {
      told = worker.refused()
      if (next.status === 'dead_lettered' && next.terminal_error === 'no_box') thrown()
    },
  })
  const stop = worker.start()
  t.like(await until('dead_lettered'), { attempts: 2, last_error: 'delivery_unrecorded' })
  t.deepEqual(told, ['teller:0'])
  t.deepEqual(worker.refused(), [])
  await stop()
})

test('deliveries-18: an attempt whose intent gets to the disk when attempts are cut off is left to the next start', async (t) => {
  let written: (() => void) | undefined
  let sent = 0
  const { worker } = lane({
    disk: () => new Promise((resolve) => void (written = resolve)),
    deliver: () => ((sent += 1), new Promise(() => {})),
  })
  const stop = worker.start()
  while (written === undefined) await sleep(1)
  const ended = stop()
  await sleep(50)
  written()
  await ended
  t.is(sent, 0)
})

test('deliveries-11: a delivery whose last attempt was cut off is a dead letter and is not sent again', async (t) => {
  let sent = 0
  const { worker, until } = lane({
    from: { ...delivery, attempts: 2, attempting: true },
    deliver: () => ((sent += 1), Promise.resolve({ type: 'delivered' })),
  })
  const stop = worker.start()
  t.like(await until('dead_lettered'), {
    attempts: 2,
    last_error: 'delivery_cut_off',
    terminal_error: 'delivery_attempts_exhausted',
  })
  t.is(sent, 0)
  await stop()
})
