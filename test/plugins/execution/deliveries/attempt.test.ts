import test from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { conclude, intend, type AttemptParts } from '../../../../plugins/execution/deliveries/attempt.js'
import type { DeliveryOutcome } from '../../../../plugins/execution/deliveries/contract.js'
import type { OpenDelivery } from '../../../../plugins/execution/deliveries/store.js'

const delivery: OpenDelivery = {
  delivery_id: 'd1',
  session_id: 's1',
  thread_id: null,
  run_id: 'r1',
  plugin: 'http',
  address: 'secret-address',
  target: 'http:sha256:0',
  place: '1',
  payload: 1,
  content_size_bytes: 1,
  parts_count: 0,
  created_at_ms: 1,
  attempts: 0,
  status: 'pending',
  next_attempt_at_ms: 1,
}

/** Notes what is entered into the ledger and put into the store. */
const bench = (found: OpenDelivery = delivery) => {
  const entered: any[] = []
  const put: any[] = []
  const parts: AttemptParts = unsafeCast({
    store: {
      deliveries: { find: () => found },
      payloads: { read: () => [{ entry: { content: 'hello', parts: [] } }] },
    },
    replies: () => [{ plugin: 'http', target: () => 'http:https://a.example' }],
    ledger: () => ({
      intend: (_: unknown, intent: object) => entered.push({ intend: intent }),
      conclude: (_: unknown, outcome: object) => entered.push({ conclude: outcome }),
    }),
    config: { max_attempts: 3 },
    log: { warn: () => {} },
    settled: () => {},
  })
  return {
    parts,
    entered,
    put,
    tx: unsafeCast<Parameters<typeof intend>[1]>({
      now: 1000,
      put: (_: unknown, record: object) => put.push(record),
      after: () => {},
    }),
  }
}

test('external-actions-11: an attempt is entered with its redacted target before it is made', (t) => {
  const { parts, tx, entered, put } = bench()
  t.like(intend(parts, tx, delivery), [{ delivery: { attempts: 1, attempting: true }, payload: { content: 'hello' } }])
  t.like(put, [{ attempts: 1, attempting: true, status: 'pending' }])
  t.like(entered, [
    {
      intend: {
        action_id: 'd1',
        kind: 'delivery',
        session_id: 's1',
        run_id: 'r1',
        target: 'http:https://a.example',
        attempt: 1,
        approved_by: { type: 'configuration', id: 'reply_target' },
      },
    },
  ])
  t.false(JSON.stringify(entered).includes('secret'))
})

test('of an attempt that was cut off the ledger says that nobody knows, before the next is entered', (t) => {
  const { parts, tx, entered } = bench()
  intend(parts, tx, { ...delivery, attempts: 2, attempting: true })
  t.like(entered, [
    { conclude: { action_id: 'd1', attempt: 2, outcome: 'unknown', code: 'delivery_cut_off' } },
    { intend: { attempt: 3 } },
  ])
})

test('what became of an attempt is in the ledger and in the record', (t) => {
  const after = (attempts: number, outcome: DeliveryOutcome): unknown[] => {
    const found: OpenDelivery = { ...delivery, attempts, attempting: true }
    const { parts, tx, entered, put } = bench(found)
    conclude(parts, tx, { delivery: found, outcome, wait_ms: 70 })
    t.false('attempting' in put[0])
    return [
      entered[0].conclude.outcome,
      entered[0].conclude.code,
      put[0].status,
      put[0].next_attempt_at_ms ?? put[0].terminal_error,
    ]
  }
  t.deepEqual(after(1, { type: 'delivered' }), ['done', undefined, 'delivered', undefined])
  t.deepEqual(after(1, { type: 'terminal', code: 'no' }), ['failed', 'no', 'dead_lettered', 'no'])
  t.deepEqual(after(2, { type: 'retry', code: 'later' }), ['failed', 'later', 'retrying', 1070])
  t.deepEqual(after(2, { type: 'retry', code: 'lost', uncertain: true }), ['unknown', 'lost', 'retrying', 1070])
  t.deepEqual(after(2, { type: 'terminal', code: 'lost', uncertain: true }), [
    'unknown',
    'lost',
    'dead_lettered',
    'lost',
  ])
  t.deepEqual(after(3, { type: 'retry', code: 'later' }), [
    'failed',
    'later',
    'dead_lettered',
    'delivery_attempts_exhausted',
  ])
})
