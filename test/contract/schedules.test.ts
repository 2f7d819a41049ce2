/**
 * docs/rules/schedules.md: rules that can be seen from outside, against a daemon.
 */
import test from 'ava'
import { freshRoot, spawnTestDaemon, startTestDaemon, type Reachable } from '../support/daemon.js'
import { createOwner, startMortal, type Mortal } from '../support/mortal.js'
import { createLeapingClock } from '../../core/testing/leaping-clock.js'
import { codeOf, openSession, submit, until } from '../support/runs.js'
import { hourly, makeSchedule, scheduleBody, scheduledRuns, scheduleUntil, settledTimes } from '../support/schedules.js'

let daemon: Mortal
const owner = createOwner()
let sessions = 0
test.before(async () => {
  daemon = await startMortal(owner)
})
test.after.always(owner.end)

/** A session of its own for each test. */
const session = (): Promise<string> => openSession(daemon, `s${(sessions += 1)}`)
const make = async (more: Record<string, unknown> = {}): Promise<any> =>
  makeSchedule(daemon, { target_session_id: await session(), ...more })
const past = { type: 'once', fire_at_ms: 1 }
const over = ({ status }: any): boolean => status === 'completed'
const act = async (id: string, action: string): Promise<any> =>
  (await daemon.request('POST', `/v1/schedules/${id}/${action}`)).body.schedule

test.serial(
  'schedules-1: POST /v1/schedules: takes a ScheduleCreateRequest and answers 201 with the ScheduleView',
  async (t) => {
    const target_session_id = await session()
    const { status, body } = await daemon.request('POST', '/v1/schedules', scheduleBody({ target_session_id }))
    t.is(status, 201)
    t.like(body, {
      name: 'report',
      target_session_id,
      status: 'active',
      cadence: hourly,
      execution_count: 0,
      consecutive_failures: 0,
      recent_executions: [],
      request: { content: 'hello' },
    })
    t.is(body.next_fire_at_ms - body.created_at_ms >= 3_599_000, true)
  },
)

test.serial(
  'schedules-10: GET /v1/schedules: lists schedules by id, all or of one session, as an array and in pages',
  async (t) => {
    const target_session_id = await session()
    const ids = [(await make({ target_session_id })).schedule_id, (await make({ target_session_id })).schedule_id]
    t.deepEqual(
      (await daemon.request('GET', `/v1/schedules?session_id=${target_session_id}`)).body.map(
        ({ schedule_id }: any) => schedule_id,
      ),
      ids,
    )
    t.true((await daemon.request('GET', '/v1/schedules')).body.length > 2)
    const page = (await daemon.request('GET', `/v1/schedules?session_id=${target_session_id}&page=true&limit=1`)).body
    t.like(page.pagination, { limit: 1, total_count: 2, has_more: true, order: 'schedule_id_asc' })
  },
)

test.serial(
  'schedules-11: GET /v1/schedules/{schedule_id}: answers the ScheduleView, and 404 for one that is unknown',
  async (t) => {
    const made = await make()
    t.deepEqual((await daemon.request('GET', `/v1/schedules/${made.schedule_id}`)).body, made)
    t.deepEqual(codeOf(await daemon.request('GET', '/v1/schedules/none')), [404, 'schedule_not_found'])
  },
)

test.serial(
  'schedules-17: POST /v1/schedules/{schedule_id}/cancel, /pause, /resume, /trigger: each answers {schedule}',
  async (t) => {
    const { schedule_id } = await make({ overlap_policy: 'parallel' })
    for (const [action, status] of [
      ['pause', 'paused'],
      ['resume', 'active'],
      ['trigger', 'active'],
      ['cancel', 'canceled'],
    ] as const) {
      const answer = await daemon.request('POST', `/v1/schedules/${schedule_id}/${action}`)
      t.deepEqual([answer.status, Object.keys(answer.body), answer.body.schedule.status], [200, ['schedule'], status])
    }
  },
)

test.serial('schedules-1: ScheduleCreateRequest: name, target_session_id and cadence are required', async (t) => {
  for (const field of ['name', 'target_session_id', 'cadence']) {
    const { status, body } = await daemon.request('POST', '/v1/schedules', scheduleBody({ [field]: undefined }))
    t.deepEqual([status, body.errors.map(({ path }: any) => path)], [400, [`body.${field}`]])
  }
})

test.serial(
  'schedules-2: ScheduleCreateRequest: exactly one of request, observation_materialization and flow_start; ' +
    'each of the last two is checked by its plugin',
  async (t) => {
    const target_session_id = await session()
    const code = async (more: Record<string, unknown>) =>
      codeOf(await daemon.request('POST', '/v1/schedules', scheduleBody({ target_session_id, ...more })))
    t.deepEqual(await code({ request: undefined }), [400, 'schedule_payload_ambiguous'])
    t.deepEqual(await code({ flow_start: {} }), [400, 'schedule_payload_ambiguous'])
    t.deepEqual(await code({ request: undefined, flow_start: {} }), [400, 'invalid_schedule'])
    t.deepEqual(await code({ request: undefined, observation_materialization: {} }), [400, 'invalid_schedule'])
  },
)

test.serial('schedules-3: ScheduleCreateRequest: the optional fields are kept and shown', async (t) => {
  const target_session_id = await session()
  const owner_session_id = await session()
  const {
    body: { agent_id },
  } = await daemon.request('GET', `/v1/sessions/${target_session_id}`)
  const { run_id } = await submit(daemon, owner_session_id, 'hello')
  const more = {
    target_agent_id: agent_id,
    owner_session_id,
    created_by_run_id: run_id,
    max_executions: 3,
    overlap_policy: 'queue_one',
    misfire_policy: { type: 'skip_missed' },
  }
  t.like(await make({ target_session_id, ...more }), more)
  t.deepEqual(
    codeOf(
      await daemon.request('POST', '/v1/schedules', scheduleBody({ target_session_id, created_by_run_id: 'none' })),
    ),
    [404, 'run_not_found'],
  )
})

test.serial('schedules-4: Cadence: once, interval and cron, whose timezone is UTC by default', async (t) => {
  const fire_at_ms = Date.parse('2099-01-01T00:00:00Z')
  t.is((await make({ cadence: { type: 'once', fire_at_ms } })).next_fire_at_ms, fire_at_ms)
  const daily = await make({ cadence: { type: 'cron', expression: '0 7 * * *' } })
  t.is(daily.cadence.timezone, 'UTC')
  t.is(new Date(daily.next_fire_at_ms).toISOString().slice(11), '07:00:00.000Z')
  const seconds = await make({ cadence: { type: 'cron', expression: '30 0 7 * * *', timezone: 'Asia/Kolkata' } })
  t.is(new Date(seconds.next_fire_at_ms).toISOString().slice(11), '01:30:30.000Z')
})

test.serial(
  'schedules-8: overlap_policy and misfire_policy: the values of the contract, by default skip and coalesce_once',
  async (t) => {
    t.like(await make(), { overlap_policy: 'skip', misfire_policy: { type: 'coalesce_once' } })
    const target_session_id = await session()
    for (const overlap_policy of ['skip', 'queue_one', 'parallel'])
      t.is((await make({ target_session_id, overlap_policy })).overlap_policy, overlap_policy)
    for (const more of [
      { overlap_policy: 'replace' },
      { misfire_policy: { type: 'run_all' } },
      { misfire_policy: 'skip_missed' },
    ]) {
      t.is((await daemon.request('POST', '/v1/schedules', scheduleBody({ target_session_id, ...more }))).status, 400)
    }
  },
)

test.serial(
  'schedules-12: ScheduleView: an execution is shown with its fire, run, status, times and counts',
  async (t) => {
    const made = await make({ cadence: past })
    const view = await scheduleUntil(daemon, made.schedule_id, over)
    const [run] = await scheduledRuns(daemon, made.target_session_id)
    t.like(view, {
      execution_count: 1,
      consecutive_failures: 0,
      last_fire_at_ms: made.next_fire_at_ms,
      last_dispatched_run_id: run.run_id,
    })
    const [{ claimed_at_ms, dispatched_at_ms, settled_at_ms, ...execution }] = view.recent_executions
    t.deepEqual(execution, {
      fire_at_ms: made.next_fire_at_ms,
      run_id: run.run_id,
      status: 'settled',
      attempt: 0,
      from_queued_fire: false,
    })
    t.true(
      made.created_at_ms <= claimed_at_ms && claimed_at_ms <= dispatched_at_ms && dispatched_at_ms <= settled_at_ms,
    )
    t.is(run.kind, 'scheduled_input')
  },
)

test.serial(
  'schedules-13: ScheduleView: in_flight_fire_at_ms and in_flight_run_id while the run goes on, ' +
    'queued_fire_at_ms behind it, and from_queued_fire after',
  async (t) => {
    const { schedule_id } = await make({ overlap_policy: 'queue_one', request: { content: '/ask Go on? | yes | no' } })
    await act(schedule_id, 'trigger')
    const first = await scheduleUntil(daemon, schedule_id, ({ in_flight_run_id }) => in_flight_run_id !== undefined)
    t.is(first.in_flight_fire_at_ms, first.last_fire_at_ms)
    const queued = await act(schedule_id, 'trigger')
    t.true(queued.queued_fire_at_ms > first.in_flight_fire_at_ms)
    t.deepEqual(codeOf(await daemon.request('POST', `/v1/schedules/${schedule_id}/trigger`)), [409, 'schedule_busy'])
    await daemon.request('POST', `/v1/runs/${first.in_flight_run_id}/cancel`)
    const second = await scheduleUntil(
      daemon,
      schedule_id,
      ({ in_flight_run_id }) => in_flight_run_id !== undefined && in_flight_run_id !== first.in_flight_run_id,
    )
    t.false('queued_fire_at_ms' in second)
    t.like(second.recent_executions[1], { fire_at_ms: queued.queued_fire_at_ms, from_queued_fire: true })
    await daemon.request('POST', `/v1/runs/${second.in_flight_run_id}/cancel`)
  },
)

test.serial('schedules-22: overlap_policy parallel: executions beside each other; skip: none', async (t) => {
  const request = { content: '/ask Go on? | yes | no' }
  const parallel = await make({ overlap_policy: 'parallel', request })
  for (const _ of [1, 2, 3]) await act(parallel.schedule_id, 'trigger')
  const view = await scheduleUntil(
    daemon,
    parallel.schedule_id,
    ({ recent_executions }) => recent_executions.filter(({ status }: any) => status === 'dispatched').length === 3,
  )
  t.is(new Set(view.recent_executions.map(({ run_id }: any) => run_id)).size, 3)
  const skip = await make({ request })
  await act(skip.schedule_id, 'trigger')
  t.deepEqual(codeOf(await daemon.request('POST', `/v1/schedules/${skip.schedule_id}/trigger`)), [409, 'schedule_busy'])
})

test.serial(
  'schedules-1, schedules-5: Validation: an interval has at least 5 seconds, max_executions is greater than ' +
    'zero, the target session exists',
  async (t) => {
    const target_session_id = await session()
    const answer = async (more: Record<string, unknown>) =>
      daemon.request('POST', '/v1/schedules', scheduleBody({ target_session_id, ...more }))
    t.is((await answer({ cadence: { type: 'interval', every_seconds: 5 } })).status, 201)
    for (const [more, path] of [
      [{ cadence: { type: 'interval', every_seconds: 4 } }, 'body.cadence.every_seconds'],
      [{ max_executions: 0 }, 'body.max_executions'],
      [{ cadence: { type: 'once', fire_at_ms: 0 } }, 'body.cadence.fire_at_ms'],
    ] as const) {
      const { status, body } = await answer(more)
      t.deepEqual([status, body.errors[0].path], [400, path])
    }
    t.deepEqual(codeOf(await answer({ target_session_id: 'none' })), [404, 'session_not_found'])
  },
)

test.serial(
  'schedules-6: a cron expression that is invalid, never fires or fires closer than 5 seconds, and an ' +
    'unknown zone, are refused with path and rule',
  async (t) => {
    const target_session_id = await session()
    for (const [expression, timezone, field] of [
      ['x', 'UTC', 'expression'],
      ['0 0 31 2 *', 'UTC', 'expression'],
      ['* * * * * *', 'UTC', 'expression'],
      ['@hourly', 'UTC', 'expression'],
      ['0 0 * * *', 'Mars/Base', 'timezone'],
      ['0 0 * * *', '', 'timezone'],
    ] as const) {
      const { status, body } = await daemon.request(
        'POST',
        '/v1/schedules',
        scheduleBody({ target_session_id, cadence: { type: 'cron', expression, timezone } }),
      )
      t.deepEqual([status, body.code, body.errors[0].path], [400, 'invalid_schedule', `body.cadence.${field}`])
      t.true(body.errors[0].rule.length > 5)
    }
  },
)

test.serial(
  'schedules-21: an interval fires by itself until max_executions, and the schedule is completed',
  async (t) => {
    const made = await make({ cadence: { type: 'interval', every_seconds: 5 }, max_executions: 2 })
    const view = await scheduleUntil(daemon, made.schedule_id, over)
    t.deepEqual(
      view.recent_executions.map(({ fire_at_ms }: any) => fire_at_ms - made.next_fire_at_ms),
      [0, 5000],
    )
  },
)

test.serial('schedules-9: an owner has at most 128 schedules', async (t) => {
  const target_session_id = await session()
  await Promise.all(Array.from({ length: 128 }, () => make({ target_session_id, owner_session_id: target_session_id })))
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/schedules', scheduleBody({ target_session_id }))), [
    409,
    'schedule_limit_reached',
  ])
})

test.serial('schedules-16: active, paused, completed and canceled; what is terminal changes no more', async (t) => {
  const made = await make()
  t.is((await act(made.schedule_id, 'pause')).status, 'paused')
  t.is((await act(made.schedule_id, 'resume')).status, 'active')
  t.is((await act(made.schedule_id, 'cancel')).status, 'canceled')
  const completed = (await scheduleUntil(daemon, (await make({ cadence: past })).schedule_id, over)).schedule_id
  for (const id of [made.schedule_id, completed]) {
    for (const action of ['pause', 'resume', 'trigger', 'cancel'])
      t.deepEqual(codeOf(await daemon.request('POST', `/v1/schedules/${id}/${action}`)), [
        409,
        'schedule_state_conflict',
      ])
  }
})

const warningOf = async ({ request }: Pick<Reachable, 'request'>, schedule_id: string): Promise<any> =>
  (await request('GET', '/v1/status')).body.health.warnings.find(({ related_id }: any) => related_id === schedule_id)

test.serial(
  'schedules-27, schedules-37: the outcome of an execution is that of its run, and failures in a row are named by the status',
  async (t) => {
    const { schedule_id } = await make({ request: { content: '/fail fatal broken' } })
    for (const failures of [1, 2, 3]) {
      await act(schedule_id, 'trigger')
      t.is((await scheduleUntil(daemon, schedule_id, settledTimes(failures))).consecutive_failures, failures)
      const severity = failures < 3 ? 'info' : 'warning'
      const code = failures < 3 ? 'schedule_failed' : 'schedule_failing'
      t.like(await warningOf(daemon, schedule_id), { severity, code })
    }
    const view = (await daemon.request('GET', `/v1/schedules/${schedule_id}`)).body
    t.regex(view.last_error, /broken/u)
    t.regex(view.recent_executions[2].error, /broken/u)
    const { message, action } = await warningOf(daemon, schedule_id)
    t.regex(message, /has failed 3 times in a row: .*broken/u)
    t.true(action.includes(`holdfast schedules get ${schedule_id}.`), action)
    t.true(action.endsWith(`holdfast schedules pause ${schedule_id}`), action)
    await act(schedule_id, 'pause')
    t.is(await warningOf(daemon, schedule_id), undefined)
    await act(schedule_id, 'cancel')
  },
)

test.serial(
  'schedules-28: A session that has ended fails each execution; opened again, the schedule works again',
  async (t) => {
    const { schedule_id, target_session_id } = await make()
    await daemon.request('POST', `/v1/sessions/${target_session_id}/end`, {})
    await act(schedule_id, 'trigger')
    const failed = await scheduleUntil(daemon, schedule_id, settledTimes(1))
    t.regex(failed.last_error, /^session_ended: /u)
    t.deepEqual([failed.status, failed.consecutive_failures], ['active', 1])
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/schedules', scheduleBody({ target_session_id }))), [
      409,
      'session_ended',
    ])
    await openSession(daemon, target_session_id)
    await act(schedule_id, 'trigger')
    t.is((await scheduleUntil(daemon, schedule_id, settledTimes(2))).consecutive_failures, 0)
  },
)

test.serial('schedules-14: Preview: the next fires in UTC and local time, 5 by default, 1 to 100', async (t) => {
  const { schedule_id } = await make({
    cadence: { type: 'cron', expression: '30 2 * * *', timezone: 'America/New_York' },
  })
  const at = `/v1/schedules/${schedule_id}/preview`
  const { body } = await daemon.request('GET', at)
  t.deepEqual([body.timezone, body.fires.length], ['America/New_York', 5])
  for (const { utc, local, fire_at_ms } of body.fires)
    t.deepEqual([Date.parse(utc), Date.parse(local)], [fire_at_ms, fire_at_ms])
  t.is((await daemon.request('GET', `${at}?count=100`)).body.fires.length, 100)
  for (const count of [0, 101]) t.is((await daemon.request('GET', `${at}?count=${count}`)).status, 400)
})

test.serial('schedules-15: the status has the section schedules with every field', async (t) => {
  const other = await startTestDaemon(t)
  await openSession(other)
  const section = async (): Promise<any> => (await other.request('GET', '/v1/status')).body.schedules
  t.deepEqual(await section(), {
    dispatch_worker_enabled: true,
    total: 0,
    active: 0,
    paused: 0,
    completed: 0,
    canceled: 0,
    due_count: 0,
    backoff_count: 0,
    in_flight_count: 0,
    queued_fire_count: 0,
  })
  const waits = await makeSchedule(other, {
    overlap_policy: 'queue_one',
    request: { content: '/ask Go on? | yes | no' },
  })
  for (const _ of [1, 2]) await other.request('POST', `/v1/schedules/${waits.schedule_id}/trigger`)
  const paused = await makeSchedule(other)
  await other.request('POST', `/v1/schedules/${paused.schedule_id}/pause`)
  const canceled = await makeSchedule(other)
  await other.request('POST', `/v1/schedules/${canceled.schedule_id}/cancel`)
  t.deepEqual(await section(), {
    dispatch_worker_enabled: true,
    total: 3,
    active: 1,
    paused: 1,
    completed: 0,
    canceled: 1,
    due_count: 0,
    backoff_count: 0,
    in_flight_count: 1,
    queued_fire_count: 1,
    next_due_at_ms: waits.next_fire_at_ms,
  })
})

test.serial(
  'schedules-29: without its dispatcher nothing fires, and the status tells what is due and for how long',
  async (t) => {
    const other = await startTestDaemon(t, { flags: { 'scheduler-enabled': 'false' } })
    await openSession(other)
    const { schedule_id } = await makeSchedule(other, { cadence: past })
    const { schedules } = (await other.request('GET', '/v1/status')).body
    t.like(schedules, { dispatch_worker_enabled: false, due_count: 1, oldest_due_schedule_id: schedule_id })
    t.true(schedules.oldest_due_schedule_lag_ms >= 0)
  },
)

test.serial(
  'schedules-26: the dispatch retry policy is shown as scheduler_policy of GET /v1/runtime and set by flags ' +
    'and environment',
  async (t) => {
    t.deepEqual((await daemon.request('GET', '/v1/runtime')).body.scheduler_policy, {
      retry_base_delay_ms: 500,
      retry_max_delay_ms: 30_000,
      retry_jitter_ms: 250,
      retry_max_attempts: 0,
    })
    const other = await spawnTestDaemon(t, {
      flags: ['--scheduler-retry-max-attempts', '4', '--scheduler-retry-jitter-ms', '0'],
      env: { SERVICE_SCHEDULER_RETRY_BASE_DELAY_MS: '20', SERVICE_SCHEDULER_RETRY_MAX_DELAY_MS: '90' },
    })
    t.deepEqual((await other.request('GET', '/v1/runtime')).body.scheduler_policy, {
      retry_base_delay_ms: 20,
      retry_max_delay_ms: 90,
      retry_jitter_ms: 0,
      retry_max_attempts: 4,
    })
  },
)

const unready = ['--provider', 'none']

test.serial(
  'schedules-26: Schedule: a refusal that may pass is tried again, its state is on the view and survives a ' +
    'kill, and the execution keeps its fire',
  async (t) => {
    const first = await startMortal(t, { flags: unready })
    await openSession(first)
    const { schedule_id, next_fire_at_ms } = await makeSchedule(first, { cadence: past })
    const waiting = await scheduleUntil(
      first,
      schedule_id,
      ({ scheduler_retry_attempt }) => scheduler_retry_attempt >= 2,
    )
    t.regex(waiting.last_scheduler_error, /^route_not_ready: /u)
    t.like(waiting.recent_executions[0], { status: 'retrying', fire_at_ms: next_fire_at_ms })
    t.true(waiting.scheduler_retry_after_ms > waiting.recent_executions[0].claimed_at_ms)
    t.like((await first.request('GET', '/v1/status')).body.schedules, { backoff_count: 1, in_flight_count: 1 })
    await first.kill('SIGKILL')
    const second = await startMortal(t, { root: first.root })
    const done = await scheduleUntil(second, schedule_id, over)
    t.true(done.recent_executions[0].attempt >= 2)
    t.deepEqual(
      [done.recent_executions.length, done.recent_executions[0].fire_at_ms, done.execution_count],
      [1, next_fire_at_ms, 1],
    )
    t.false('last_scheduler_error' in done || 'scheduler_retry_after_ms' in done)
    t.is((await scheduledRuns(second)).length, 1)
  },
)

test.serial('schedules-37: one whose fire is refused again and again is named by the status', async (t) => {
  const delays = ['--scheduler-retry-base-delay-ms', '100', '--scheduler-retry-max-delay-ms', '100']
  const other = await startMortal(t, { flags: [...unready, ...delays, '--scheduler-retry-jitter-ms', '0'] })
  await openSession(other)
  const { schedule_id } = await makeSchedule(other, { cadence: past })
  const refusals = (most: number) => scheduleUntil(other, schedule_id, (view) => view.scheduler_retry_attempt >= most)
  await refusals(2)
  t.is(await warningOf(other, schedule_id), undefined)
  await refusals(6)
  const { message, action, ...warning } = await warningOf(other, schedule_id)
  t.like(warning, { severity: 'warning', code: 'schedule_refused' })
  t.regex(message, /is refused its run and tries again: route_not_ready: /u)
  t.true(action.includes(`holdfast schedules get ${schedule_id}.`), action)
  await other.request('POST', `/v1/schedules/${schedule_id}/cancel`)
  t.is(await warningOf(other, schedule_id), undefined)
})

test.serial('schedules-37: one that failed at last and fires no more is named by the status', async (t) => {
  const failing = { cadence: past, request: { content: '/fail fatal broken' } }
  const { schedule_id, last_dispatched_run_id } = await scheduleUntil(
    daemon,
    (await make(failing)).schedule_id,
    ({ status, last_error }) => status === 'completed' && last_error !== undefined,
  )
  const { message, action, ...warning } = await warningOf(daemon, schedule_id)
  t.like(warning, { severity: 'info', code: 'schedule_failed' })
  t.regex(message, /has failed and fires no more: .*broken/u)
  t.true(action.includes(`holdfast schedules get ${schedule_id}.`), action)
  t.true(action.endsWith(`holdfast runs retry ${last_dispatched_run_id}`), action)
  const done = await scheduleUntil(daemon, (await make({ cadence: past })).schedule_id, over)
  t.is(await warningOf(daemon, done.schedule_id), undefined)
})

test.serial('schedules-26: Schedule: attempts end when they are limited, and the execution has failed', async (t) => {
  const other = await startMortal(t, {
    flags: [
      ...unready,
      '--scheduler-retry-max-attempts',
      '2',
      '--scheduler-retry-base-delay-ms',
      '1',
      '--scheduler-retry-jitter-ms',
      '0',
    ],
  })
  await openSession(other)
  const view = await scheduleUntil(other, (await makeSchedule(other, { cadence: past })).schedule_id, over)
  t.like(view.recent_executions[0], { status: 'settled', attempt: 2 })
  t.regex(view.last_error, /^route_not_ready: /u)
  t.is(view.consecutive_failures, 1)
})

test.serial(
  'schedules-23: a fire during downtime: coalesce_once makes one execution, skip_missed none; neither is ' +
    'left in the past',
  async (t) => {
    const [root, past] = [await freshRoot(), createLeapingClock()]
    past.jump(-3_600_000)
    const first = await startTestDaemon(t, { root, clock: past })
    await openSession(first)
    const fire_at_ms = past.now() + 1_800_000
    const coalesced = await makeSchedule(first, { cadence: { type: 'once', fire_at_ms } })
    const skipped = await makeSchedule(first, {
      cadence: { type: 'once', fire_at_ms },
      misfire_policy: { type: 'skip_missed' },
    })
    await first.stop()
    const second = await startMortal(t, { root })
    t.is((await scheduleUntil(second, coalesced.schedule_id, over)).execution_count, 1)
    const none = await scheduleUntil(second, skipped.schedule_id, over)
    t.is(none.execution_count, 0)
    t.like(none.recent_executions[0], { status: 'skipped', fire_at_ms })
    t.is((await scheduledRuns(second)).length, 1)
  },
)

test.serial(
  'schedules-31: the tools schedule_create, list, get, pause, resume, trigger_now, cancel, wake_after and ' +
    'wake_at answer {schedule} or {schedules}',
  async (t) => {
    const session_id = await session()
    const results: any[] = []
    const call = async (name: string, input: object): Promise<any> => {
      await until(
        daemon,
        (await submit(daemon, session_id, `/tool ${name} ${JSON.stringify(input)}`)).run_id,
        'completed',
      )
      const { journal } = (await daemon.request('GET', `/v1/sessions/${session_id}/events`)).body.session
      results.push(journal.filter(({ type }: any) => type === 'outcome').at(-1).entry)
      return results.at(-1).output
    }
    const { schedule } = await call('schedule_create', {
      name: 'tool',
      message: 'hi',
      every_seconds: 3600,
      overlap_policy: 'parallel',
    })
    t.like(schedule, { target_session_id: session_id, owner_session_id: session_id, request: { content: 'hi' } })
    for (const [name, status] of [
      ['get', 'active'],
      ['pause', 'paused'],
      ['resume', 'active'],
      ['trigger_now', 'active'],
      ['cancel', 'canceled'],
    ] as const) {
      t.is((await call(`schedule_${name}`, { schedule_id: schedule.schedule_id })).schedule.status, status)
    }
    t.is((await call('wake_after', { delay_seconds: 3600, message: 'later' })).schedule.name, 'wake-3600')
    t.is((await call('wake_at', { at: '2099-01-01T00:00:00Z', message: 'later' })).schedule.name, 'wake-at')
    t.is((await call('schedule_list', {})).schedules.length, 3)
    t.is((await call('schedule_get', { schedule_id: 'none' })).error.code, 'schedule_not_found')
    t.is(
      (await call('wake_after', { delay_seconds: 1, message: 'x', target: 'parent' })).error.code,
      'schedule_target_unavailable',
    )
  },
)
