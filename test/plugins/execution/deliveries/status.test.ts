import test from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { createClock } from '../../../../core/base/clock.js'
import { deliveryStatus, type StatusParts } from '../../../../plugins/execution/deliveries/status.js'

const quiet = () => {}

test('a status that cannot be collected is told as a count, a code and a warning, and is over when it can be again', (t) => {
  let broken = true
  const parts: StatusParts = {
    clock: createClock(),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    store: unsafeCast({ deliveries: { count: () => 0, ids: () => [] } }),
    worker: unsafeCast({
      lanes: () => {
        if (broken) throw new Error('secret')
        return []
      },
      refused: () => [],
      beat: { elapsed: 0 },
    }),
  }
  const { section, health } = deliveryStatus(parts)
  const told = section.collect()
  t.like(told, { status_error_count: 1, status_error: 'delivery_status_unavailable', pending: 0 })
  t.false(JSON.stringify(told).includes('secret'))
  t.like(health.check()[0], { severity: 'error', code: 'delivery_status_unavailable' })
  broken = false
  t.is(section.collect()['status_error'], undefined)
  t.is(section.collect()['status_error_count'], 2, 'failures stay counted')
  t.deepEqual(health.check(), [])
})

test('a worker that does not get round to its targets is a warning', (t) => {
  const clock = createClock()
  const lane = { head: undefined, wait: undefined, circuit_ms: 0, queued_ms: 61_000 }
  const parts = (queued_ms: number): StatusParts => ({
    clock,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    store: unsafeCast({ deliveries: { count: () => 0, ids: () => [] } }),
    worker: unsafeCast({
      lanes: () => [{ ...lane, queued_ms }],
      refused: () => [],
      beat: { started_at_ms: 1, at_ms: 1, elapsed: clock.elapsed() },
    }),
  })
  t.like(deliveryStatus(parts(61_000)).health.check(), [{ severity: 'warning', code: 'delivery_worker_lag' }])
  t.deepEqual(deliveryStatus(parts(10)).health.check(), [])
})

test('deliveries-38: a target whose deliveries cannot be recorded is a warning', (t) => {
  const parts: StatusParts = {
    clock: createClock(),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    store: unsafeCast({ deliveries: { count: () => 0, ids: () => [] } }),
    worker: unsafeCast({ lanes: () => [], refused: () => ['teller:0'], beat: { elapsed: 0 } }),
  }
  t.like(deliveryStatus(parts).health.check(), [
    { severity: 'error', code: 'delivery_unrecorded', related_id: 'teller:0' },
  ])
})
