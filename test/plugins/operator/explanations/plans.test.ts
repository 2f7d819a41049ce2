/** What gives agents work by itself, or would: goals, schedules, and budgets that are used up. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import {
  callTool,
  done,
  fails,
  scriptedProvider,
  text,
  type Play,
} from '../../../../plugins/providers/scripted/contract.js'
import { openAgent } from '../../../support/agents.js'
import { startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { situation } from '../../../support/explanations.js'
import { publish } from '../../../support/flows.js'
import { submit, until } from '../../../support/runs.js'
import { makeSchedule } from '../../../support/schedules.js'

const start = async (
  t: ExecutionContext,
  play: Play,
  { config = {}, ...options }: TestDaemonOptions & { readonly config?: Readonly<Record<string, JsonObject>> } = {},
) => {
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, ...config },
    ...options,
  })
  return Object.assign(daemon, { agent: await openAgent(daemon) })
}
const says: Play = () => [text('done'), done()]
const objective = 'All links lead somewhere.'
const hour = 3_600_000

test('explanations-13: a goal that is paused, by a person or by a run that failed', async (t) => {
  const daemon = await start(t, () => [fails(false, 'No such model.')])
  const goal = (body: object) => daemon.request('PUT', '/v1/sessions/s1/goal', body)
  await goal({ objective, status: 'paused' })
  const { move } = await situation(t, daemon, 'goal-paused', { id: daemon.agent, codes: ['goal_paused', 'no_run'] })
  await move({}, /goals resume/u)
  const codes = ['goal_paused', 'last_run', 'not_completed']
  await situation(t, daemon, 'goal-paused-by-failure', { id: daemon.agent, codes })
})

test('explanations-13: a goal that made as many runs as it may, and one whose budget is used up', async (t) => {
  const daemon = await start(t, says, { config: { goals: { max_turns: 2 } } })
  await daemon.request('PUT', '/v1/sessions/s1/goal', { objective })
  await situation(t, daemon, 'goal-turns', { id: daemon.agent, codes: ['goal_paused', 'idle'] })
  const other = await openAgent(daemon, 's2')
  await daemon.request('PUT', '/v1/sessions/s2/goal', { objective, token_budget: 1 })
  const { move } = await situation(t, daemon, 'goal-budget', { id: other, codes: ['goal_budget', 'idle'] })
  await move({ TOKENS: '1000' }, /goals resume/u)
})

test('explanations-13: a goal that a budget of the daemon stopped', async (t) => {
  const budgets = { usage: { max_run_output_tokens: 1 } }
  const daemon = await start(t, () => [callTool('c', 'get_goal', {}), done('tool_calls')], { config: budgets })
  await daemon.request('PUT', '/v1/sessions/s1/goal', { objective })
  const codes = ['goal_budget', 'last_run', 'not_completed']
  const { move } = await situation(t, daemon, 'goal-run-budget', { id: daemon.agent, codes })
  await move({}, /goals resume s1$/u)
})

test('explanations-14: a schedule says when it gives work, that it is paused, and that a fire waits', async (t) => {
  const clock = createLeapingClock()
  const daemon = await start(t, says, { clock })
  const { schedule_id } = await makeSchedule(daemon)
  await situation(t, daemon, 'schedule', { id: daemon.agent, codes: ['no_run', 'schedule'] })
  await daemon.request('POST', `/v1/schedules/${schedule_id}/pause`, {})
  const paused = await situation(t, daemon, 'schedule-paused', { id: 's1', codes: ['no_run', 'schedule_paused'] })
  await paused.move({}, /schedules resume/u)
  await daemon.request('POST', '/v1/sessions/s1/end', { reason: 'enough' })
  const { subjects } = (await daemon.request('GET', `/v1/explanations/${daemon.agent}`)).body
  t.false(JSON.stringify(subjects).includes('schedule'), 'it takes no more work')
})

test('explanations-14: a fire that waits for the one before', async (t) => {
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, { clock })
  const id = await openAgent(daemon)
  const request = { content: '/tool bash {"command":"true"}' }
  await makeSchedule(daemon, {
    overlap_policy: 'queue_one',
    request,
    cadence: { type: 'interval', every_seconds: 600 },
  })
  clock.leap(600_000)
  await situation(t, daemon, 'schedule-first-fire', { id, codes: ['approval', 'schedule'] })
  clock.leap(600_000)
  await situation(t, daemon, 'schedule-queued', { id, codes: ['approval', 'schedule_queued'] })
})

test('explanations-14: a fire that was refused its run and is tried again', async (t) => {
  const clock = createLeapingClock()
  const daemon = await startTestDaemon(t, {
    clock,
    config: { runs: { max_queued_runs: 1 }, schedules: { retry_base_delay_ms: 600_000, retry_max_delay_ms: 600_000 } },
  })
  const id = await openAgent(daemon)
  await makeSchedule(daemon)
  const { run_id } = await submit(daemon, 's1', '/tool bash {"command":"true"}')
  await until(daemon, run_id, 'waiting_for_approval')
  await submit(daemon, 's1', 'hello')
  clock.leap(hour)
  const codes = ['approval', 'behind_run', 'schedule_backoff']
  await situation(t, daemon, 'schedule-refused', { id, codes })
})

test('explanations-14: a schedule whose last fire was refused says why, and how it fires no more', async (t) => {
  const daemon = await start(t, says)
  const playbook_ref = await publish(daemon)
  const { version, digest } = playbook_ref
  const more = { request: undefined, flow_start: { playbook_ref, request: { content: 'go' } } }
  const { schedule_id } = await makeSchedule(daemon, more)
  await daemon.request('POST', '/v1/playbooks/notes/revoke', { version, digest, reason: 'wrong', evidence_refs: [] })
  await daemon.request('POST', `/v1/schedules/${schedule_id}/trigger`, {})
  const codes = ['no_run', 'schedule_refused']
  await (await situation(t, daemon, 'schedule-refused-at-last', { id: daemon.agent, codes })).move({}, /schedules/u)
})

test('explanations-14: a schedule of a daemon that lets none fire is no work', async (t) => {
  const daemon = await start(t, says, { config: { schedules: { dispatch_enabled: false } } })
  await makeSchedule(daemon)
  await situation(t, daemon, 'schedule-off', { id: daemon.agent, codes: ['no_run', 'schedule_off'] })
})

test('explanations-15: budgets of a session and of the day that are used up', async (t) => {
  const spends: Play = () => [
    text('done'),
    { type: 'done', outcome: 'stop', usage: { input_tokens: 10, output_tokens: 10 } },
  ]
  for (const of of ['session', 'day']) {
    const daemon = await start(t, spends, { config: { usage: { [`max_${of}_output_tokens`]: 5 } } })
    const first = await submit(daemon, 's1', 'hello')
    await until(daemon, first.run_id, 'completed')
    await situation(t, daemon, `budget-${of}`, { id: daemon.agent, codes: ['budget', 'idle'] })
    const second = await submit(daemon, 's1', 'hello')
    await until(daemon, second.run_id, 'failed')
    await situation(t, daemon, `budget-${of}-failed`, { id: second.run_id, codes: ['budget', 'not_completed'] })
  }
})
