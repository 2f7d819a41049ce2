import test from 'ava'
import { shippedPlugins } from '../../../../core/shipped.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { createLeapingClock, type LeapingClockOptions } from '../../../../core/testing/leaping-clock.js'
import { codeOf, openSession, until } from '../../../support/runs.js'
import { makeSchedule, scheduleBody, scheduledRuns, scheduleUntil, settledTimes } from '../../../support/schedules.js'

const start = async (t: any, options: LeapingClockOptions = {}) => {
  const clock = createLeapingClock(options)
  const daemon = await startTestDaemon(t, { clock })
  await openSession(daemon)
  return { clock, daemon }
}

test('a single fire becomes one run, and then the schedule is completed', async (t) => {
  const { clock, daemon } = await start(t)
  const fire_at_ms = clock.now() + 60_000
  const made = await makeSchedule(daemon, { cadence: { type: 'once', fire_at_ms } })
  t.deepEqual(
    [made.status, made.next_fire_at_ms, made.overlap_policy, made.misfire_policy, made.execution_count],
    ['active', fire_at_ms, 'skip', { type: 'coalesce_once' }, 0],
  )
  clock.leap(60_000)
  const over = await scheduleUntil(daemon, made.schedule_id, ({ status }) => status === 'completed')
  const [execution] = over.recent_executions
  t.like(execution, { fire_at_ms, status: 'settled', attempt: 0, from_queued_fire: false })
  t.true(execution.claimed_at_ms <= execution.dispatched_at_ms && execution.dispatched_at_ms <= execution.settled_at_ms)
  t.like(over, {
    execution_count: 1,
    last_fire_at_ms: fire_at_ms,
    last_dispatched_run_id: execution.run_id,
    consecutive_failures: 0,
  })
  t.false('next_fire_at_ms' in over || 'in_flight_run_id' in over || 'last_error' in over)
  const runs = await scheduledRuns(daemon)
  t.deepEqual(
    runs.map(({ run_id }) => run_id),
    [execution.run_id],
  )
  t.like(runs[0]?.request, {
    source_plugin: 'schedules',
    source_kind: 'schedule',
    actor_id: made.schedule_id,
    text_preview: 'hello',
  })
})

test('schedules-7: a past moment is due at once', async (t) => {
  const { daemon } = await start(t)
  const { schedule_id } = await makeSchedule(daemon, { cadence: { type: 'once', fire_at_ms: 1 } })
  t.is((await scheduleUntil(daemon, schedule_id, ({ status }) => status === 'completed')).execution_count, 1)
})

test('an interval fires again and again, counted from its making', async (t) => {
  const { clock, daemon } = await start(t, { still: true })
  const made = await makeSchedule(daemon, { cadence: { type: 'interval', every_seconds: 5 }, max_executions: 3 })
  for (const count of [1, 2, 3]) {
    clock.leap(5000)
    await scheduleUntil(daemon, made.schedule_id, settledTimes(count))
  }
  const over = await scheduleUntil(daemon, made.schedule_id, ({ status }) => status === 'completed')
  t.deepEqual(
    over.recent_executions.map(({ fire_at_ms }: any) => fire_at_ms - made.next_fire_at_ms),
    [0, 5000, 10_000],
  )
  t.is((await scheduledRuns(daemon)).length, 3)
})

test('schedules are listed by id, all or those of one session, and unknown ones are refused', async (t) => {
  const { daemon } = await start(t)
  await openSession(daemon, 's2')
  const ids = [(await makeSchedule(daemon)).schedule_id, (await makeSchedule(daemon)).schedule_id]
  const other = (await makeSchedule(daemon, { target_session_id: 's2' })).schedule_id
  const { body } = await daemon.request('GET', '/v1/schedules?session_id=s1')
  t.deepEqual(
    body.map(({ schedule_id }: any) => schedule_id),
    ids,
  )
  const page = (await daemon.request('GET', '/v1/schedules?page=true&limit=2')).body
  t.deepEqual(
    [page.items.length, page.pagination.total_count, page.pagination.order, page.pagination.has_more],
    [2, 3, 'schedule_id_asc', true],
  )
  const rest = (await daemon.request('GET', `/v1/schedules?cursor=${page.pagination.next_cursor}`)).body
  t.deepEqual(
    rest.items.map(({ schedule_id }: any) => schedule_id),
    [other],
  )
  for (const [method, tail] of [
    ['GET', ''],
    ['GET', '/preview'],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/cancel'],
    ['POST', '/trigger'],
  ] as const) {
    t.deepEqual(codeOf(await daemon.request(method, `/v1/schedules/none${tail}`)), [404, 'schedule_not_found'])
  }
})

test('schedules-19: trigger makes an execution beside the cadence, and the overlap policy holds for it', async (t) => {
  const { daemon } = await start(t)
  const made = await makeSchedule(daemon, { request: { content: '/ask Go on? | yes | no' } })
  const { status, body } = await daemon.request('POST', `/v1/schedules/${made.schedule_id}/trigger`)
  t.is(status, 200)
  t.is(body.schedule.next_fire_at_ms, made.next_fire_at_ms)
  const waiting = await scheduleUntil(
    daemon,
    made.schedule_id,
    ({ in_flight_run_id }) => in_flight_run_id !== undefined,
  )
  await until(daemon, waiting.in_flight_run_id, 'waiting_for_user_question')
  t.deepEqual(codeOf(await daemon.request('POST', `/v1/schedules/${made.schedule_id}/trigger`)), [409, 'schedule_busy'])
  await daemon.request('POST', `/v1/runs/${waiting.in_flight_run_id}/cancel`)
  const over = await scheduleUntil(daemon, made.schedule_id, settledTimes(1))
  t.deepEqual([over.execution_count, over.consecutive_failures, over.status], [1, 0, 'active'])
  t.regex(over.last_error, /cancelled/u)
})

test('schedules-18: pause holds the cadence and resume goes on with what was left of an interval', async (t) => {
  const { clock, daemon } = await start(t)
  const made = await makeSchedule(daemon)
  const at = `/v1/schedules/${made.schedule_id}`
  clock.leap(1_000_000)
  const paused = (await daemon.request('POST', `${at}/pause`)).body.schedule
  t.is(paused.status, 'paused')
  t.false('next_fire_at_ms' in paused)
  t.true(Math.abs(paused.paused_remaining_ms - 2_600_000) < 60_000)
  clock.leap(10_000_000)
  t.deepEqual(codeOf(await daemon.request('POST', `${at}/pause`)), [409, 'schedule_state_conflict'])
  const resumed = (await daemon.request('POST', `/v1/schedules/${made.schedule_id}/resume`)).body.schedule
  t.deepEqual([resumed.status, resumed.execution_count], ['active', 0])
  t.true(Math.abs(resumed.next_fire_at_ms - clock.now() - paused.paused_remaining_ms) < 60_000)
  t.deepEqual(codeOf(await daemon.request('POST', `${at}/resume`)), [409, 'schedule_state_conflict'])
})

test('a canceled schedule is over: nothing can be done with it, and it stays readable', async (t) => {
  const { clock, daemon } = await start(t)
  const { schedule_id } = await makeSchedule(daemon)
  const { body } = await daemon.request('POST', `/v1/schedules/${schedule_id}/cancel`)
  t.is(body.schedule.status, 'canceled')
  clock.leap(4_000_000)
  for (const action of ['cancel', 'pause', 'resume', 'trigger']) {
    t.deepEqual(
      codeOf(await daemon.request('POST', `/v1/schedules/${schedule_id}/${action}`)),
      [409, 'schedule_state_conflict'],
      action,
    )
  }
  const again = await daemon.request('POST', `/v1/schedules/${schedule_id}/cancel`)
  t.regex(again.body.detail, / is cancelled: it cannot be cancelled\./u, 'people read one spelling')
  t.is((await daemon.request('GET', `/v1/schedules/${schedule_id}`)).body.status, 'canceled')
  t.deepEqual(await scheduledRuns(daemon), [])
})

test('schedules-2: a payload needs its plugin', async (t) => {
  const shipped = (await shippedPlugins()).filter(({ id }) => id !== 'flows')
  const daemon = await startTestDaemon(t, { shipped })
  await openSession(daemon)
  const { body } = await daemon.request('POST', '/v1/schedules', scheduleBody({ request: undefined, flow_start: {} }))
  t.deepEqual([body.code, body.errors[0].path], ['schedule_payload_unavailable', 'body.flow_start'])
})

test('what could never work is refused with its place and rule, and nothing is kept', async (t) => {
  const { daemon } = await start(t)
  const cron = (expression: string, timezone = 'UTC') => ({ cadence: { type: 'cron', expression, timezone } })
  const cases: [Record<string, unknown>, string, string][] = [
    [{ cadence: { type: 'interval', every_seconds: 4 } }, 'bad_request', 'body.cadence.every_seconds'],
    [{ max_executions: 0 }, 'bad_request', 'body.max_executions'],
    [cron('0 0 30 2 *'), 'invalid_schedule', 'body.cadence.expression'],
    [cron('@daily'), 'invalid_schedule', 'body.cadence.expression'],
    [cron('2030-01-01T00:00:00'), 'invalid_schedule', 'body.cadence.expression'],
    [cron('0 0 0 1 1 * 2030'), 'invalid_schedule', 'body.cadence.expression'],
    [cron('61 * * * *'), 'invalid_schedule', 'body.cadence.expression'],
    [cron('*/4 * * * * *'), 'invalid_schedule', 'body.cadence.expression'],
    [cron('58,2 * * * * *'), 'invalid_schedule', 'body.cadence.expression'],
    [cron('0 0 * * *', ''), 'invalid_schedule', 'body.cadence.timezone'],
    [cron('0 0 * * *', 'Local'), 'invalid_schedule', 'body.cadence.timezone'],
    [cron('0 0 * * *', '+02:00'), 'invalid_schedule', 'body.cadence.timezone'],
    [cron('0 0 * * *', 'Mars/Base'), 'invalid_schedule', 'body.cadence.timezone'],
    [{ request: undefined }, 'schedule_payload_ambiguous', 'body.request'],
    [{ flow_start: {} }, 'schedule_payload_ambiguous', 'body.request'],
    [{ request: undefined, flow_start: {} }, 'invalid_schedule', 'body.flow_start.playbook_ref'],
    [{ request: { content: ' ' } }, 'run_input_missing', 'body.request.content'],
    [
      { request: { content: 'x', metadata: { service_flow: {} } } },
      'reserved_metadata_key',
      'body.request.metadata.service_flow',
    ],
    [{ target_agent_id: 'other' }, 'invalid_schedule', 'body.target_agent_id'],
  ]
  for (const [more, code, path] of cases) {
    const { status, body } = await daemon.request('POST', '/v1/schedules', scheduleBody(more))
    t.deepEqual([status, body.code, body.errors?.[0]?.path], [400, code, path], JSON.stringify(more))
  }
  for (const more of [{ target_session_id: 'none' }, { owner_session_id: 'none' }])
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/schedules', scheduleBody(more))), [404, 'session_not_found'])
  t.deepEqual(
    codeOf(
      await daemon.request('POST', '/v1/schedules', scheduleBody({ request: { content: 'x', provider: 'none' } })),
    ),
    [400, 'bad_request'],
  )
  t.deepEqual((await daemon.request('GET', '/v1/schedules')).body, [])
})

test('an owner has at most 128 schedules that are not over', async (t) => {
  const { daemon } = await start(t)
  await openSession(daemon, 's2')
  const made = await Promise.all(Array.from({ length: 128 }, () => makeSchedule(daemon)))
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/schedules', scheduleBody())), [409, 'schedule_limit_reached'])
  await makeSchedule(daemon, { owner_session_id: 's2' })
  await daemon.request('POST', `/v1/schedules/${made[0]?.schedule_id}/cancel`)
  await makeSchedule(daemon)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/schedules', scheduleBody())), [409, 'schedule_limit_reached'])
})

test('schedules-14: the preview shows the next fires in UTC and local time and names what clock changes do', async (t) => {
  const { daemon } = await start(t)
  const { schedule_id } = await makeSchedule(daemon, {
    cadence: { type: 'cron', expression: '30 2 * * *', timezone: 'Europe/Berlin' },
  })
  const { body } = await daemon.request('GET', `/v1/schedules/${schedule_id}/preview?count=100`)
  t.deepEqual([body.timezone, body.fires.length], ['Europe/Berlin', 100])
  t.is((await daemon.request('GET', `/v1/schedules/${schedule_id}/preview`)).body.fires.length, 5)
  for (const { fire_at_ms, utc, local } of body.fires) {
    t.is(new Date(fire_at_ms).toISOString(), utc)
    t.is(new Date(local).getTime(), fire_at_ms)
    t.regex(local, /T0[23]:[03]0:00\+0[12]:00$/u)
  }
  for (const count of [0, 101])
    t.is((await daemon.request('GET', `/v1/schedules/${schedule_id}/preview?count=${count}`)).status, 400)
})

test('each failed execution of a schedule is a line of the log, with how many failed in a row', async (t) => {
  const { daemon } = await start(t)
  const made = await makeSchedule(daemon, { request: { content: '/fail fatal It is broken.' } })
  for (const count of [1, 2]) {
    await daemon.request('POST', `/v1/schedules/${made.schedule_id}/trigger`)
    await scheduleUntil(daemon, made.schedule_id, ({ consecutive_failures }) => consecutive_failures === count)
  }
  t.like(
    daemon.log
      .filter(({ fact }) => fact === 'an execution of a schedule failed')
      .map(({ level, details: { schedule_id, failures_in_a_row } }) => ({ level, schedule_id, failures_in_a_row })),
    [1, 2].map((failures_in_a_row) => ({ level: 'warn', schedule_id: made.schedule_id, failures_in_a_row })),
  )
})

test('a name in which nothing is to be seen is refused', async (t) => {
  const { daemon } = await start(t)
  for (const name of [' ', '\t\n', '\u00a0']) {
    const { status, body } = await daemon.request('POST', '/v1/schedules', scheduleBody({ name }))
    t.deepEqual([status, body.errors], [400, [{ path: 'body.name', rule: 'must not be blank' }]])
  }
})
