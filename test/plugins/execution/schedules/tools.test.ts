import test, { type ExecutionContext } from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import { scheduleTools } from '../../../../plugins/execution/schedules/tools.js'
import { checkTool } from '../../../conform/tool.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { startDaemonTools } from '../../../support/daemon-tools.js'
import { watcher } from '../../../support/interceptors.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { scheduledRuns, scheduleUntil } from '../../../support/schedules.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { codeOf } from '../../../support/tools.js'

/** A daemon with the sessions `s1` and `s2`, and its tools. */
const setUp = async (t: ExecutionContext) => {
  const clock = createLeapingClock()
  const tools = await startDaemonTools(t, { clock })
  for (const id of ['s1', 's2']) await openSession(tools.daemon, id)
  return { ...tools, clock }
}

test('each tool of schedules keeps what every tool must keep', async (t) => {
  const { workspace, tool, call } = await setUp(t)
  const { schedule_id } = (
    await call('schedule_create', { name: 'n', message: 'm', every_seconds: 60, overlap_policy: 'parallel' })
  ).output.schedule
  const other = (await call('schedule_create', { name: 'n', message: 'm', every_seconds: 60 })).output.schedule
    .schedule_id
  await call('schedule_pause', { schedule_id: other })
  const none = { schedule_id: 'none' }
  await checkTool(t, {
    tool: tool('wake_after'),
    workspace,
    good: { delay_seconds: 60, message: 'Go on.' },
    correctable: { delay_seconds: 60, message: 'm', target: 'parent' },
  })
  await checkTool(t, {
    tool: tool('wake_at'),
    workspace,
    good: { at: '2099-01-01T00:00:00Z', message: 'Go on.' },
    correctable: { at: 'tomorrow', message: 'm' },
  })
  await checkTool(t, {
    tool: tool('schedule_create'),
    workspace,
    good: { name: 'n', message: 'm', cron: '0 7 * * *', timezone: 'Europe/Berlin' },
    correctable: { name: 'n', message: 'm' },
  })
  await checkTool(t, { tool: tool('schedule_list'), workspace, good: {} })
  for (const name of ['schedule_get', 'schedule_cancel', 'schedule_pause', 'schedule_trigger_now'])
    await checkTool(t, { tool: tool(name), workspace, good: { schedule_id }, correctable: none })
  await checkTool(t, { tool: tool('schedule_resume'), workspace, good: { schedule_id: other }, correctable: none })
})

test('wake_after and wake_at start one run of the own session with the message', async (t) => {
  const { daemon, clock, call } = await setUp(t)
  const after = (await call('wake_after', { delay_seconds: 90, message: 'first', model: 'demo-1' })).output.schedule
  t.like(after, {
    name: 'wake-90',
    target_session_id: 's1',
    owner_session_id: 's1',
    created_by_run_id: 'r1',
    status: 'active',
  })
  const when = new Date(clock.now() + 100_000)
  const at = (await call('wake_at', { at: when.toISOString(), message: 'second' })).output.schedule
  t.like(at, { name: 'wake-at', cadence: { type: 'once', fire_at_ms: when.getTime() } })
  clock.leap(100_000)
  for (const { schedule_id } of [after, at])
    await scheduleUntil(daemon, schedule_id, ({ status }) => status === 'completed')
  const [first, second] = await scheduledRuns(daemon)
  t.deepEqual(
    [first.request.text_preview, first.request.model, second.request.text_preview],
    ['first', 'demo-1', 'second'],
  )
})

test('schedules-32: a schedule may tell another session or its agent, and none above', async (t) => {
  const { call } = await setUp(t)
  const input = { name: 'n', message: 'm', every_seconds: 60 }
  t.is(
    (await call('schedule_create', { ...input, target: 'session', session_id: 's2' })).output.schedule
      .target_session_id,
    's2',
  )
  for (const [more, code] of [
    [{ target: 'parent' }, 'schedule_target_unavailable'],
    [{ target: 'agent', agent_id: 'a' }, 'schedule_target_unavailable'],
    [{ target: 'agent' }, 'invalid_schedule'],
    [{ agent_id: 'a' }, 'invalid_schedule'],
    [{ target: 'session' }, 'invalid_schedule'],
    [{ session_id: 's2' }, 'invalid_schedule'],
    [{ target: 'session', session_id: 'none' }, 'session_not_found'],
    [{ at: '2099-01-01T00:00:00Z' }, 'invalid_schedule'],
    [{ every_seconds: undefined }, 'invalid_schedule'],
    [{ timezone: 'UTC' }, 'invalid_schedule'],
    [{ every_seconds: undefined, cron: '@daily' }, 'invalid_schedule'],
    [{ every_seconds: undefined, at: '2099-01-01' }, 'invalid_schedule'],
    [{ provider: 'none' }, 'bad_request'],
  ] as const) {
    const answer = await call('schedule_create', JSON.parse(JSON.stringify({ ...input, ...more })))
    t.deepEqual([answer.is_error, codeOf(answer)], [true, code], JSON.stringify(more))
  }
})

test('schedules-32: a session sees the schedules that it made or that tell it, and no others', async (t) => {
  const { call } = await setUp(t)
  const make = async (more: object, session_id: string): Promise<string> =>
    (await call('schedule_create', { name: 'n', message: 'm', every_seconds: 60, ...more }, session_id)).output.schedule
      .schedule_id
  const own = await make({}, 's1')
  const told = await make({ target: 'session', session_id: 's1' }, 's2')
  const foreign = await make({}, 's2')
  t.deepEqual(
    (await call('schedule_list')).output.schedules.map(({ schedule_id }: any) => schedule_id).toSorted(),
    [own, told].toSorted(),
  )
  for (const name of ['schedule_get', 'schedule_cancel', 'schedule_pause', 'schedule_resume', 'schedule_trigger_now']) {
    t.is(codeOf(await call(name, { schedule_id: foreign })), 'schedule_not_found', name)
  }
  t.is((await call('schedule_get', { schedule_id: told })).output.schedule.schedule_id, told)
  t.is((await call('schedule_pause', { schedule_id: told })).output.schedule.status, 'paused')
  t.is((await call('schedule_resume', { schedule_id: told })).output.schedule.status, 'active')
  t.is((await call('schedule_trigger_now', { schedule_id: told })).output.schedule.execution_count, 1)
  t.is((await call('schedule_cancel', { schedule_id: told })).output.schedule.status, 'canceled')
  t.is(codeOf(await call('schedule_cancel', { schedule_id: told })), 'schedule_state_conflict')
  t.is((await call('schedule_list')).output.schedules.at(-1).schedule_id, told, 'what is over comes last')
})

test('a session that has too many schedules is told so when it makes one more', async (t) => {
  const { call } = await setUp(t)
  const input = { name: 'n', message: 'm', every_seconds: 60 }
  for (let n = 0; n < 128; n += 1) await call('schedule_create', input)
  t.is(codeOf(await call('schedule_create', input)), 'schedule_limit_reached')
  t.is((await call('schedule_list')).output.schedules.length, 128)
})

test('a list of schedules reads the newest of those that are over, however many there are', (t) => {
  const ids = Array.from({ length: 5000 }, (_, at) => `schedule_${String(at).padStart(5, '0')}`)
  let reads = 0
  const over = {
    status: 'completed',
    owner_session_id: 's1',
    executions: [],
    payload: { kind: 'request', request: {} },
  }
  const schedules = {
    count: () => 0,
    list: () => [],
    page: ({ limit }: { limit: number }) => ids.toReversed().slice(0, limit),
    find: (schedule_id: string) => ((reads += 1), { ...over, schedule_id }),
  }
  const list = scheduleTools(unsafeCast({ store: { schedules } })).find(({ name }) => name === 'schedule_list')
  const found: any = list?.run(unsafeCast({}), unsafeCast({ session_id: 's1' }))
  t.is(found.output.schedules.length, 128)
  t.is(found.output.schedules[0].schedule_id, 'schedule_04999')
  t.true(reads <= 512, `${reads} were read`)
})

test('schedules-31: a run makes a schedule, and the schedule makes a run, which names the first', async (t) => {
  const { daemon, clock } = await setUp(t)
  const { run_id } = await submit(daemon, 's1', '/tool wake_after {"delay_seconds":30,"message":"I am awake."}')
  await until(daemon, run_id, 'completed')
  const [made] = (await daemon.request('GET', '/v1/schedules?session_id=s1')).body
  t.is(made.created_by_run_id, run_id)
  clock.leap(30_000)
  const over = await scheduleUntil(daemon, made.schedule_id, ({ status }) => status === 'completed')
  const second = await until(daemon, over.last_dispatched_run_id, 'completed')
  t.is(second.outputs[0].content, 'You said: I am awake.')
  t.deepEqual(second.input_metadata, { scheduled_by_run_id: run_id })
})

test('schedules-1: a model plans nothing for a session that is ended while its call is under way', async (t) => {
  const wish = { name: 'n', message: 'm', every_seconds: 60, target: 'session', session_id: 's2' }
  const model = scriptedProvider((_, count) =>
    count === 1 ? [callTool('c', 'schedule_create', wish), done('tool_calls')] : [text('done'), done()],
  )
  const hook = watcher()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin, hook.plugin], config: model.config })
  for (const id of ['s1', 's2']) await openSession(daemon, id)
  hook.rules.post_tool_use = async () => {
    t.is((await daemon.request('POST', '/v1/sessions/s2/end')).status, 200)
    return undefined
  }
  await until(daemon, (await submit(daemon, 's1', 'go')).run_id, 'completed')
  t.like(model.requests.at(-1)?.messages.at(-1)?.content[0], {
    is_error: true,
    output: { error: { code: 'session_ended' } },
  })
  t.deepEqual((await daemon.request('GET', '/v1/schedules')).body, [])
})
