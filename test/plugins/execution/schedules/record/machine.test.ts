import test from 'ava'
import fc from 'fast-check'
import {
  advance,
  cancel,
  dispatched,
  pause,
  reckonAgain,
  refused,
  resume,
  settled,
  trigger,
  type Moment,
} from '../../../../../plugins/execution/schedules/record/machine.js'
import { overlapPolicies } from '../../../../../plugins/execution/schedules/contract.js'
import { openOf, wakeOf, type ScheduleRecord } from '../../../../../plugins/execution/schedules/record/store.js'
import { scheduleRecord } from '../../../../support/schedule-records.js'

const start = 1_800_000_000_000
const every = 60_000
const minutely = { type: 'interval', every_seconds: 60 } as const
const make = (more: Partial<ScheduleRecord> = {}): ScheduleRecord =>
  scheduleRecord({ cadence: minutely, ...more, now: start })
const awake = (now: number, awake_since = start): Moment => ({ now, awake_since, has_run: () => false })

/** Looks until nothing is due, as the worker does. */
const look = (record: ScheduleRecord, moment: Moment): ScheduleRecord => {
  const next = advance(record, moment)
  return next === record ? record : look(next, moment)
}
const minutes = (record: ScheduleRecord, ...statuses: string[]): number[] =>
  record.executions
    .filter(({ status }) => statuses.includes(status))
    .map(({ fire_at_ms }) => (fire_at_ms - start) / every)
const finish = (record: ScheduleRecord, fire: number, now: number, error?: string): ScheduleRecord =>
  settled(dispatched(record, fire, { run_id: `run_${fire}`, now }), fire, { now, error })
/** Every execution that is not over ends now. */
const finishAll = (record: ScheduleRecord, now: number): ScheduleRecord =>
  openOf(record).reduce((changed, { fire_at_ms }) => finish(changed, fire_at_ms, now), record)

for (const missed of [0, 1, 100]) {
  const now = start + missed * every + 1000
  test(
    `schedules-23: misfire over ${missed} missed fires: coalesce_once makes ${Math.min(missed, 1)}, skip_missed none, and the ` +
      'next fire is in the future',
    (t) => {
      const coalesced = look(make(), awake(now, now))
      t.deepEqual(minutes(coalesced, 'claimed'), missed === 0 ? [] : [missed])
      const skipped = look(make({ misfire_policy: { type: 'skip_missed' } }), awake(now, now))
      t.deepEqual([minutes(skipped, 'claimed'), minutes(skipped, 'skipped')], [[], missed === 0 ? [] : [missed]])
      t.is(skipped.execution_count, 0)
      for (const { next_fire_at_ms } of [coalesced, skipped]) t.is(next_fire_at_ms, start + (missed + 1) * every)
    },
  )
  test(`schedules-22: overlap over ${missed} fires beside an execution that is not over: skip and queue_one and parallel`, (t) => {
    const fires = Array.from({ length: missed }, (_, n) => n + 2)
    const results = Object.fromEntries(
      overlapPolicies.map((overlap_policy) => {
        let record = look(make({ overlap_policy }), awake(start + every))
        for (const minute of fires) record = look(record, awake(start + minute * every))
        return [overlap_policy, record]
      }),
    )
    const { skip, queue_one: queued, parallel } = results
    if (skip === undefined || queued === undefined || parallel === undefined) return t.fail()
    t.deepEqual(minutes(skip, 'claimed'), [1])
    t.deepEqual(minutes(skip, 'skipped'), fires.slice(-49))
    t.is(queued.queued_fire_at_ms, missed === 0 ? undefined : start + 2 * every)
    t.deepEqual(minutes(queued, 'skipped'), fires.slice(1).slice(-49))
    t.deepEqual(minutes(parallel, 'claimed'), [1, ...fires.slice(0, 49)])
    for (const record of [skip, queued, parallel])
      t.true(record.executions.length <= 50 || openOf(record).length === 50, 'the history is bounded')
    const later = start + (missed + 1.5) * every
    const after = look(finishAll(queued, later), awake(later))
    t.deepEqual(
      openOf(after).map(({ fire_at_ms, from_queued_fire }) => [(fire_at_ms - start) / every, from_queued_fire]),
      missed === 0 ? [] : [[2, true]],
    )
    t.is(after.queued_fire_at_ms, undefined)
  })
}

test('schedules-25: what becomes due while the daemon looks is never missed: each fire has its execution, also late', (t) => {
  const record = look(
    make({ overlap_policy: 'parallel', misfire_policy: { type: 'skip_missed' } }),
    awake(start + 10 * every),
  )
  t.deepEqual(minutes(record, 'claimed'), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('fires before a stall are missed, and those after it are not', (t) => {
  const record = look(make({ overlap_policy: 'parallel' }), awake(start + 10 * every, start + 8.5 * every))
  t.deepEqual(minutes(record, 'claimed'), [8, 9, 10])
})

test('schedules-21: the last execution completes a schedule when it has settled, not before', (t) => {
  const claimed = look(make({ max_executions: 1 }), awake(start + every))
  t.deepEqual([claimed.status, claimed.next_fire_at_ms, claimed.execution_count], ['active', undefined, 1])
  t.is(finishAll(claimed, start + 2 * every).status, 'completed')
  const once = look(
    make({ cadence: { type: 'once', fire_at_ms: start + 5 }, anchor_ms: start + 5, next_fire_at_ms: start + 5 }),
    awake(start + 5),
  )
  t.is(once.status, 'active')
  t.is(finishAll(once, start + 6).status, 'completed')
  const missed = look(
    make({
      cadence: { type: 'once', fire_at_ms: start + 5 },
      anchor_ms: start + 5,
      next_fire_at_ms: start + 5,
      misfire_policy: { type: 'skip_missed' },
    }),
    awake(start + 9, start + 8),
  )
  t.deepEqual([missed.status, missed.execution_count], ['completed', 0])
})

test('a queued fire counts against the executions that are left', (t) => {
  let record = look(make({ overlap_policy: 'queue_one', max_executions: 2 }), awake(start + every))
  record = look(record, awake(start + 2 * every))
  t.is(record.queued_fire_at_ms, start + 2 * every)
  record = look(finishAll(record, start + 2.5 * every), awake(start + 2.5 * every))
  t.deepEqual([record.execution_count, record.next_fire_at_ms, record.queued_fire_at_ms], [2, undefined, undefined])
  t.is(finishAll(record, start + 3 * every).status, 'completed')
})

test('schedules-27: failures are counted until a success, and a cancelled run is neither', (t) => {
  let record = make()
  const next = (error: string | undefined, counts?: boolean): void => {
    const now = record.next_fire_at_ms ?? 0
    record = look(record, awake(now))
    record = settled(dispatched(record, now, { run_id: 'r', now }), now, {
      now,
      error,
      ...(counts !== undefined && { counts }),
    })
  }
  next('a')
  next('b')
  t.deepEqual([record.consecutive_failures, record.last_error], [2, 'b'])
  next('cancelled', false)
  t.deepEqual([record.consecutive_failures, record.last_error], [2, 'cancelled'])
  next(undefined)
  t.deepEqual([record.consecutive_failures, record.last_error], [0, undefined])
})

test('a refused dispatch waits for its attempt, and what is settled or skipped never changes again', (t) => {
  const fire = start + every
  const claimed = look(make(), awake(fire))
  t.is(wakeOf(claimed), 0)
  const waiting = refused(claimed, fire, { error: 'busy', retry_after_ms: fire + 500 })
  t.deepEqual([wakeOf(waiting), waiting.last_scheduler_error, waiting.executions[0]?.attempt], [fire + 500, 'busy', 1])
  const done = finish(waiting, fire, fire + 600)
  t.deepEqual(
    [done.last_scheduler_error, done.executions[0]?.retry_after_ms, done.executions[0]?.error],
    [undefined, undefined, undefined],
  )
  t.deepEqual(refused(done, fire, { error: 'late', retry_after_ms: 0 }).executions, done.executions)
})

test('schedules-20: canceling rolls back what has no run and leaves what has one', (t) => {
  let record = make({ overlap_policy: 'parallel' })
  for (const minute of [1, 2, 3]) record = look(record, awake(start + minute * every))
  record = dispatched(record, start + every, { run_id: 'r', now: start })
  const over = cancel(record, start, ({ fire_at_ms }) => fire_at_ms !== start + 3 * every)
  t.deepEqual([minutes(over, 'dispatched'), minutes(over, 'rolled_back'), minutes(over, 'claimed')], [[1], [2], [3]])
  t.is(finishAll(over, start).status, 'canceled')
  for (const act of [
    (r: ScheduleRecord) => cancel(r, start, () => true),
    (r: ScheduleRecord) => pause(r, start),
    (r: ScheduleRecord) => resume(r, start),
    (r: ScheduleRecord) => trigger(r, start),
  ]) {
    t.throws(() => act(over), { message: /cannot/u })
  }
})

test('schedules-18: a paused schedule takes nothing; resumed, each cadence goes on in its way', (t) => {
  const paused = pause(make(), start + 20_000)
  t.deepEqual([paused.paused_remaining_ms, wakeOf(paused)], [40_000, undefined])
  t.is(look(paused, awake(start + 10 * every)), paused)
  t.is(resume(paused, start + 10 * every).next_fire_at_ms, start + 10 * every + 40_000)
  const cron = pause(make({ cadence: { type: 'cron', expression: '0 * * * *', timezone: 'UTC' } }), start)
  t.is(resume(cron, start + 3_600_000).next_fire_at_ms, start + 2 * 3_600_000)
  const single = {
    cadence: { type: 'once', fire_at_ms: start + every },
    anchor_ms: start + every,
    next_fire_at_ms: start + every,
  } as const
  t.is(resume(pause(make(single), start), start + 1).next_fire_at_ms, start + every)
  const late = look(resume(pause(make(single), start), start + 2 * every), awake(start + 2 * every))
  t.deepEqual(minutes(late, 'claimed'), [1])
  t.is(
    resume(pause(make({ ...single, misfire_policy: { type: 'skip_missed' } }), start), start + 2 * every).status,
    'completed',
  )
})

test('a trigger is a fire of its own moment and never one that was there', (t) => {
  let record = make({ overlap_policy: 'parallel' })
  for (const _ of [1, 2, 3]) record = trigger(record, start)
  t.deepEqual(
    record.executions.map(({ fire_at_ms }) => fire_at_ms - start),
    [0, 1, 2],
  )
  t.is(trigger(record, start + every).executions.at(-1)?.fire_at_ms, start + every + 1)
  t.throws(() => trigger(trigger(make(), start), start), { message: /not over/u })
  const queued = trigger(trigger(make({ overlap_policy: 'queue_one' }), start), start)
  t.is(queued.queued_fire_at_ms, start + 1)
  t.throws(() => trigger(queued, start), { message: /not over/u })
  t.deepEqual(trigger(make({ max_executions: 1 }), start).next_fire_at_ms, undefined)
})

test('schedules-24: after the clock went back, fires go on from now, and those that were taken are not taken again', (t) => {
  let record = make({ overlap_policy: 'parallel' })
  for (const minute of [1, 2, 3, 4]) record = look(record, awake(start + minute * every))
  record = finishAll(refused(record, start + 4 * every, { error: 'x', retry_after_ms: start + 90 * every }), start)
  const back = start + 2.5 * every
  record = reckonAgain(record, back)
  t.is(record.next_fire_at_ms, start + 3 * every)
  for (const minute of [3, 4, 5]) record = look(record, awake(start + minute * every))
  t.deepEqual(minutes(record, 'claimed', 'settled'), [1, 2, 3, 4, 5])
  const forgotten = look(
    { ...reckonAgain(record, back), executions: [] },
    { ...awake(start + 5 * every), has_run: (_, fire) => fire !== start + 5 * every },
  )
  t.deepEqual(minutes(forgotten, 'claimed'), [5], 'a run tells of a fire that the history has forgotten')
})

test('whatever happens, an active schedule that was looked at has no fire in the past and no fire twice', (t) => {
  const step = fc.tuple(
    fc.constantFrom('look', 'stall', 'finish', 'pause', 'resume', 'trigger', 'back'),
    fc.integer({ min: 1, max: 400_000 }),
  )
  const policies = fc.tuple(
    fc.constantFrom(...overlapPolicies),
    fc.constantFrom('coalesce_once' as const, 'skip_missed' as const),
    fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), policies, (steps, [overlap_policy, type, max_executions]) => {
      let record = make({ overlap_policy, misfire_policy: { type }, max_executions })
      let [now, awakeSince] = [start, start]
      const taken: number[] = []
      for (const [what, ms] of steps) {
        now += what === 'back' ? -ms : ms
        if (what === 'stall') awakeSince = now
        if (what === 'back') record = reckonAgain(record, now)
        if (what === 'finish') record = finishAll(record, now)
        if (what === 'pause' && record.status === 'active') record = pause(record, now)
        if (what === 'resume' && record.status === 'paused') record = resume(record, now)
        if (what === 'trigger')
          try {
            record = trigger(record, now)
          } catch {
            /* it is over or busy */
          }
        record = look(record, { now, awake_since: awakeSince, has_run: (_, fire) => taken.includes(fire) })
        for (const { fire_at_ms, status } of record.executions)
          if (status === 'claimed' && !taken.includes(fire_at_ms)) taken.push(fire_at_ms)
        const sound =
          (record.next_fire_at_ms ?? Infinity) > now &&
          new Set(taken).size === record.execution_count &&
          record.execution_count <= (max_executions ?? Infinity)
        if (!sound || openOf(record).length > (overlap_policy === 'parallel' ? 50 : 1)) return false
      }
      return true
    }),
    { numRuns: 500 },
  )
  t.pass()
})
