import test from 'ava'
import type { Clock } from '../../../../core/plugin.js'
import { parse } from '../../../../core/base/parse.js'
import { assert } from '../../../../core/base/assert.js'
import { deliveriesConfig, type DeliveriesConfig } from '../../../../plugins/execution/deliveries/config.js'
import {
  circuitWait,
  newPace,
  noteAttempt,
  noteOutcome,
  waitOf,
} from '../../../../plugins/execution/deliveries/pace.js'
import type { OpenDelivery } from '../../../../plugins/execution/deliveries/store.js'

/** Two clocks that a test sets. `chance` is what is taken off a wait: `0000` nothing, `ffffffff` the most. */
const bench = (more: Partial<DeliveriesConfig> = {}, chance = '00000000') => {
  const times = { wall: 1_000_000_000_000, elapsed: 5000 }
  const unused = (): never => {
    throw new Error('not used here')
  }
  const clock: Clock = { now: () => times.wall, elapsed: () => times.elapsed, after: unused, sleep: unused }
  const config = parse(deliveriesConfig, more)
  assert(config.ok, 'the configuration is valid')
  const parts = { config: config.value, clock, ids: { make: unused, random: () => chance } }
  const pass = (ms: number): void => {
    times.wall += ms
    times.elapsed += ms
  }
  return { parts, times, pass, pace: newPace() }
}

const delivery = (attempts: number, next_attempt_at_ms: number): OpenDelivery => ({
  delivery_id: 'd1',
  session_id: 's1',
  thread_id: null,
  plugin: 'http',
  address: 'a',
  target: 't',
  place: '1',
  payload: 1,
  content_size_bytes: 1,
  parts_count: 0,
  created_at_ms: 1,
  attempts,
  status: attempts === 0 ? 'pending' : 'retrying',
  next_attempt_at_ms,
})
const failed = { type: 'retry', code: 'http_status_500' } as const

test('deliveries-12: the wait doubles from one second to one minute, and chance takes off a quarter at most', (t) => {
  const wanted = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000]
  const waits = (chance: string): number[] => {
    const { parts, pace } = bench({ circuit_failure_threshold: 100 }, chance)
    return [1, 2, 3, 4, 5, 6, 7, 8, 60].map((attempts) =>
      noteOutcome(parts, pace, { delivery: delivery(attempts, 0), outcome: failed }),
    )
  }
  t.deepEqual(waits('00000000'), wanted)
  t.deepEqual(
    waits('80000000'),
    wanted.map((ms) => ms * 0.875),
  )
  t.deepEqual(
    waits('ffffffff'),
    wanted.map((ms) => ms * 0.75 + 1),
  )
})

test('deliveries-13: a target that asks for time gets it, up to an hour, and its circuit stays closed', (t) => {
  const { parts, pace } = bench()
  const ask = (retry_after_ms: number): number =>
    noteOutcome(parts, pace, { delivery: delivery(1, 0), outcome: { ...failed, retry_after_ms } })
  t.deepEqual([ask(1000), ask(5000), ask(3_600_000), ask(86_400_000)], [1000, 5000, 3_600_000, 3_600_000])
  t.is(circuitWait(pace, parts.clock), 0)
})

test('deliveries-13: a target that asks for little time has the usual waits: its attempts are not used up at once', (t) => {
  const { parts, pace } = bench()
  const ask = (attempts: number, retry_after_ms: number): number =>
    noteOutcome(parts, pace, { delivery: delivery(attempts, 0), outcome: { ...failed, retry_after_ms } })
  t.deepEqual([ask(1, 0), ask(2, 1500), ask(3, 999), ask(4, 9000)], [1000, 2000, 4000, 9000])
  t.is(circuitWait(pace, parts.clock), 0)
})

test('deliveries-14: three failures in a row open the circuit for a minute; one attempt looks, and success closes it', (t) => {
  const { parts, pace, pass } = bench()
  const head = delivery(1, 0)
  const fail = (): number => noteOutcome(parts, pace, { delivery: head, outcome: failed })
  fail()
  fail()
  t.is(circuitWait(pace, parts.clock), 0)
  t.is(fail(), 60_000, 'the wait of the delivery covers the circuit, so that a restart keeps it')
  const next = { ...delivery(0, 0), delivery_id: 'd2' }
  t.deepEqual(waitOf(parts, pace, next), { ms: 60_000, because: 'circuit' })
  pass(60_000)
  t.is(waitOf(parts, pace, next), undefined)
  t.is(fail(), 60_000, 'it is open again after one more failure')
  pass(60_000)
  noteOutcome(parts, pace, { delivery: next, outcome: { type: 'delivered' } })
  fail()
  t.is(circuitWait(pace, parts.clock), 0)
})

test('deliveries-14: a refused delivery closes the circuit: the target is there', (t) => {
  const { parts, pace } = bench()
  const note = (outcome: Parameters<typeof noteOutcome>[2]['outcome']): number =>
    noteOutcome(parts, pace, { delivery: delivery(1, 0), outcome })
  note(failed)
  note(failed)
  note({ type: 'terminal', code: 'http_status_404' })
  note(failed)
  t.is(circuitWait(pace, parts.clock), 0)
})

test('deliveries-16: attempts at one target keep their distance', (t) => {
  const { parts, pace, pass } = bench({ target_min_interval_ms: 500 })
  noteAttempt(parts, pace)
  t.deepEqual(waitOf(parts, pace, delivery(0, 0)), { ms: 500, because: 'throttle' })
  pass(500)
  t.is(waitOf(parts, pace, delivery(0, 0)), undefined)
})

test(
  'deliveries-17: a wall clock that is set back holds nobody longer than was meant, neither in this life ' +
    'nor after a restart',
  (t) => {
    const { parts, pace, times } = bench()
    const wait_ms = noteOutcome(parts, pace, { delivery: delivery(1, 0), outcome: failed })
    const head = delivery(1, times.wall + wait_ms)
    times.wall -= 1_800_000
    t.deepEqual(waitOf(parts, pace, head), { ms: 1000, because: 'retry' })
    times.elapsed += 1000
    t.is(waitOf(parts, pace, head), undefined)
    times.wall -= 86_400_000
    t.is(waitOf(parts, newPace(), head), undefined, 'a recorded wait that is longer than any can be is over')
    t.is(
      waitOf(parts, newPace(), delivery(0, times.wall + 100_000_000)),
      undefined,
      'what has not been attempted waits for nothing',
    )
  },
)

test('a wall clock that is set forward makes a repetition come early', (t) => {
  const { parts, pace, times } = bench()
  const head = delivery(1, times.wall + noteOutcome(parts, pace, { delivery: delivery(1, 0), outcome: failed }))
  times.wall += 86_400_000
  t.is(waitOf(parts, pace, head), undefined)
})

test('deliveries-17: a recorded wait outlives a restart', (t) => {
  const { parts, times } = bench()
  t.deepEqual(waitOf(parts, newPace(), delivery(3, times.wall + 4000)), { ms: 4000, because: 'retry' })
})
