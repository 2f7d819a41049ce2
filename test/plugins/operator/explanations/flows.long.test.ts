/** Why flows do not go on: down to whoever asks, and what their playbooks require. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { call } from '../../../support/agents.js'
import { startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { readExplanation, situation } from '../../../support/explanations.js'
import { inStatus, publish, startFlow, untilFlow } from '../../../support/flows.js'
import { openSession, submit, until } from '../../../support/runs.js'

const start = async (t: ExecutionContext, manifest: JsonObject = {}, options: TestDaemonOptions = {}) => {
  const daemon = await startTestDaemon(t, options)
  const playbook_ref = await publish(daemon, manifest)
  const flow = async (session_id: string, content: string): Promise<any> => {
    await openSession(daemon, session_id)
    return (await startFlow(daemon, { playbook_ref, session_id, content })).body
  }
  return Object.assign(daemon, { flow })
}
const wide = {
  max_live_children_per_parent: 500,
  max_live_descendants_per_root: 500,
  max_live_sidechains_per_session: 500,
  max_live_sidechains_global: 500,
  max_spawns_per_run: 500,
  max_spawns_per_session_window: 9_999,
  max_spawns_per_profile_window: 9_999,
  max_spawns_global_window: 9_999,
  max_spawn_cpu_ms_per_window: 9_999_999,
  max_spawn_cost_microusd_per_window: 99_999_999,
}
const asks = call('bash', { command: 'true' })
const spawns = (prompt: string, more: object = {}): string =>
  call('spawn_agent', { name: 'part', prompt, run_in_background: true, ...more })

test('explanations-12: a flow leads to its runs and agents, down to what they ask', async (t) => {
  const daemon = await start(t)
  const sleeps = await daemon.flow('a', '/sleep 3600000')
  await situation(t, daemon, 'flow-running', { id: sleeps.flow_id, codes: ['model_call'] })
  const queued = await daemon.flow('a', 'hello')
  await situation(t, daemon, 'flow-queued', { id: queued.flow_id, codes: ['behind_run', 'model_call'] })
  const root = await daemon.flow('b', asks)
  const asked = await situation(t, daemon, 'flow-root-asks', { id: root.flow_id, codes: ['approval'] })
  await asked.move()
  await untilFlow(daemon, root.flow_id, inStatus('succeeded'))
  await situation(t, daemon, 'flow-succeeded', { id: root.flow_id, codes: [] })
  const child = await daemon.flow('c', [spawns(asks), '/say fine'].join('\n'))
  const below = await situation(t, daemon, 'flow-child-asks', { id: child.flow_id, codes: ['approval'] })
  await below.move()
  await untilFlow(daemon, child.flow_id, inStatus('succeeded'))
  const waits = await daemon.flow('d', call('spawn_agent', { name: 'part', prompt: asks, wait: true }))
  const codes = ['agents', 'approval', 'tool_waits']
  await (await situation(t, daemon, 'flow-waits-for-child', { id: waits.flow_id, codes })).move()
  await untilFlow(daemon, waits.flow_id, inStatus('succeeded'))
})

const ask = { header: 'Colour', question: 'Which colour?', options: [{ label: 'red' }, { label: 'blue' }] }
test('explanations-12, explanations-11: a flow whose agent asks its parent leads to the question', async (t) => {
  const daemon = await start(t)
  const script = spawns(call('request_parent_clarification', { questions: [ask] }))
  const { flow_id } = await daemon.flow('a', [script, '/say fine'].join('\n'))
  const codes = ['asks_parent', 'question']
  await (await situation(t, daemon, 'flow-child-asks-parent', { id: flow_id, codes })).move()
  await untilFlow(daemon, flow_id, inStatus('succeeded'))
})

test('explanations-12: evidence that a playbook requires, of itself and of its phases', async (t) => {
  const phase = { objective: 'o', acceptance_criteria: ['c'] }
  const daemon = await start(t, {
    phases: [
      { ...phase, phase_id: 'plan', required_evidence: [{ kind: 'note', id: '*' }] },
      { ...phase, phase_id: 'check', required_evidence: [{ kind: 'review', id: 'x' }] },
      { ...phase, phase_id: 'tell' },
    ],
    required_evidence: [{ kind: 'release', id: '7' }],
  })
  const { flow_id } = await daemon.flow('a', 'hello')
  const { move } = await situation(t, daemon, 'flow-evidence', { id: flow_id, codes: ['evidence', 'phase'] })
  await move()
  await move({ 'note:ID': 'note:n' }, /note:ID/u)
  await move({}, /review:x/u)
  await untilFlow(daemon, flow_id, inStatus('succeeded'))
  const own = await start(t, { required_evidence: [{ kind: 'release', id: '7' }] })
  const before = await own.flow('b', asks)
  const codes = ['approval', 'evidence']
  await (await situation(t, own, 'flow-evidence-later', { id: before.flow_id, codes })).move()
  const one = await own.flow('a', 'hello')
  await (await situation(t, own, 'flow-own-evidence', { id: one.flow_id, codes: ['evidence'] })).move()
  const reports = await start(t, { required_evidence: [{ kind: 'product_view', id: 'notes.md' }] })
  const shown = await reports.flow('a', 'hello')
  await situation(t, reports, 'flow-report', { id: shown.flow_id, codes: ['evidence'] })
})

test('explanations-12: tasks that are not done, or blocked', async (t) => {
  const daemon = await start(t)
  const { flow_id } = await daemon.flow('a', call('task_create', { title: 'Weed', description: 'The beds.' }))
  await situation(t, daemon, 'flow-tasks', { id: flow_id, codes: ['task'] })
  const [task_id] = (await daemon.request('GET', `/v1/flows/${flow_id}`)).body.primitive_refs.task_ids
  const { run_id } = await submit(daemon, 'a', call('task_update', { task_id, status: 'blocked' }))
  await until(daemon, run_id, 'completed')
  const { move } = await situation(t, daemon, 'flow-task-blocked', { id: flow_id, codes: ['task_blocked'] })
  await move({ TEXT: call('task_update', { task_id, status: 'failed' }) })
  await untilFlow(daemon, flow_id, inStatus('failed'))
  const codes = ['flow_ended', 'phase', 'task_ended']
  await situation(t, daemon, 'flow-task-failed', { id: flow_id, codes })
})

test('explanations-12: a flow tells since when it waits, not since when it is there', async (t) => {
  const clock = createLeapingClock()
  const daemon = await start(t, { required_evidence: [{ kind: 'release', id: '7' }] }, { clock })
  const get = async (path: string): Promise<any> => (await daemon.request('GET', path)).body
  const pause = 20_000
  /** Time passes until it is so; a sleep begins when it is read. */
  const passes = async (isSo: () => Promise<boolean>): Promise<void> => {
    for (let n = 0; n < 1_000 && !(await isSo()); n += 1) {
      clock.leap(2_000)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    t.true(await isSo())
  }
  const since = async ({ flow_id, created_at_ms }: any): Promise<number> => {
    await passes(async () => (await get(`/v1/flows/${flow_id}`)).status === 'waiting')
    const [{ since_ms }] = (await readExplanation(daemon, flow_id)).subjects
    t.true(since_ms >= created_at_ms + pause)
    clock.leap(pause)
    t.is((await readExplanation(daemon, flow_id)).subjects[0].since_ms, since_ms)
    return since_ms
  }
  const sleeps = `/sleep ${pause}`
  const runOf = ({ run_id }: any): Promise<any> => get(`/v1/runs/${run_id}`)
  const evidence = await daemon.flow('a', sleeps)
  t.is(await since(evidence), (await runOf(evidence)).finished_at_ms)
  const approval = await daemon.flow('b', [sleeps, asks].join('\n'))
  t.is(await since(approval), (await runOf(approval)).updated_at_ms)
  const asksParent = call('request_parent_clarification', { questions: [ask] })
  const child = await daemon.flow('c', [sleeps, spawns(asksParent), '/say fine'].join('\n'))
  const asked_ms = await since(child)
  const { created_at_ms } = (await get('/v1/questions'))[0].request
  t.true(asked_ms >= created_at_ms && asked_ms < created_at_ms + 1_000)
  const created = call('task_create', { title: 'Weed', description: 'The beds.' })
  const blocked = await daemon.flow('d', [created, sleeps].join('\n'))
  await passes(async () => (await runOf(blocked)).status === 'completed')
  const [task_id] = (await get(`/v1/flows/${blocked.flow_id}`)).primitive_refs.task_ids
  await submit(daemon, 'd', call('task_update', { task_id, status: 'blocked' }))
  await untilFlow(daemon, blocked.flow_id, inStatus('waiting'))
  const { subjects } = await readExplanation(daemon, blocked.flow_id)
  t.is(subjects[0].since_ms, (await get(`/v1/sessions/d/tasks/${task_id}`)).updated_at_ms)
})

test('explanations-12: tasks of agents of a flow are named with the session that they are in', async (t) => {
  const daemon = await start(t)
  const task = call('task_create', { title: 'Weed', description: 'The beds.' })
  const { flow_id } = await daemon.flow('a', [spawns(task), '/say fine'].join('\n'))
  await situation(t, daemon, 'flow-task-of-child', { id: flow_id, codes: ['task'] })
})

test('explanations-12: flows that have ended say what ended them', async (t) => {
  const daemon = await start(t, { tools: { enforce: true, allow: ['spawn_agent'] } })
  const root = await daemon.flow('a', '/fail fatal The key is wrong.')
  const codes = ['flow_ended', 'not_completed', 'phase', 'run_ended']
  await situation(t, daemon, 'flow-failed', { id: root.flow_id, codes })
  const child = await daemon.flow('b', [spawns('/fail fatal No such page.'), '/say fine'].join('\n'))
  await situation(t, daemon, 'flow-child-failed', { id: child.flow_id, codes })
  const stray = await daemon.flow('c', [call('todo_write', { todos: [] }), '/say x'].join('\n'))
  await situation(t, daemon, 'flow-strayed', { id: stray.flow_id, codes: ['check', 'flow_ended', 'phase'] })
  const ended = await daemon.flow('d', '/sleep 3600000')
  await daemon.request('POST', `/v1/flows/${ended.flow_id}/cancel`, {})
  await situation(t, daemon, 'flow-cancelled', { id: ended.flow_id, codes })
  const interrupted = await daemon.flow('e', '/sleep 3600000')
  await until(daemon, interrupted.run_id, 'running')
  await daemon.request('POST', '/v1/sessions/e/interrupt', {})
  await situation(t, daemon, 'flow-interrupted', { id: interrupted.flow_id, codes })
})

test('explanations-12: a flow with more than is looked at', async (t) => {
  const daemon = await start(t, {}, { config: { flows: { max_members: 2 } } })
  const { flow_id } = await daemon.flow('a', [spawns('/say a'), spawns('/say b'), '/say fine'].join('\n'))
  await untilFlow(daemon, flow_id, inStatus('unknown'))
  await situation(t, daemon, 'flow-unknown', { id: flow_id, codes: [] })
})

test('explanations-12, explanations-2: of many parts those that ask are told before others', async (t) => {
  const daemon = await start(t, {}, { config: { runs: { max_concurrent_runs: 100 }, sidechains: wide } })
  const sleeps = Array.from({ length: 60 }, () => spawns('/sleep 3600000'))
  const { flow_id } = await daemon.flow('a', [...sleeps, spawns(asks), '/say fine'].join('\n'))
  await untilFlow(daemon, flow_id, inStatus('waiting'))
  const { subjects, truncated } = await readExplanation(daemon, flow_id)
  t.deepEqual([subjects.length, truncated, subjects[1].reasons[0].code], [50, true, 'approval'])
  // While the run that starts them goes on, it stands between them and its agent.
  const [first] = (await daemon.request('GET', '/v1/runs?session_id=a')).body
  await until(daemon, first.run_id, 'completed')
  const below = (await readExplanation(daemon, 'a')).subjects
  t.is(below.find(({ kind, depth }: any) => kind === 'agent' && depth === 1).status, 'waiting_for_approval')
})
