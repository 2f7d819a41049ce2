import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { checkTool } from '../../../conform/tool.js'
import { freshRoot, startTestDaemon, type TestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { callOf, makeFolder, runTool } from '../../../support/tools.js'
import { startDaemonTools } from '../../../support/daemon-tools.js'

/** What the tools of a run answered. */
const outcomes = async ({ request }: TestDaemon, run_id: string): Promise<any[]> =>
  (await request('GET', '/v1/sessions/s1/events')).body.session.journal
    .filter((entry: any) => entry.run_id === run_id && entry.type === 'outcome')
    .map((entry: any) => entry.entry)

const start = async (t: ExecutionContext, mode: string, options: TestDaemonOptions = {}) => {
  const workspace = await makeFolder(t)
  const daemon = await startTestDaemon(t, {
    ...options,
    flags: { 'permission-mode': mode, 'workspace-root': workspace },
  })
  await openSession(daemon)
  const run = async (script: string, ...statuses: string[]): Promise<any> =>
    until(
      daemon,
      (await submit(daemon, 's1', script)).run_id,
      'failed',
      ...(statuses.length > 0 ? statuses : ['completed']),
    )
  const answers = async (script: string): Promise<any[]> => outcomes(daemon, (await run(script)).run_id)
  const state = async (): Promise<any> =>
    (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.metadata.session_control_state
  const decide = (run_id: string, request_id: string, behavior: string) =>
    daemon.request('POST', `/v1/runs/${run_id}/approvals`, { resolutions: [{ request_id, behavior }] })
  return { daemon, workspace, run, answers, state, decide }
}

const write = '/tool write_file {"path":"a.txt","content":"a"}'

test('enter_plan_mode and exit_plan_mode keep the contract of tools', async (t) => {
  const { daemon, workspace, tool, call } = await startDaemonTools(t)
  await openSession(daemon)
  const [enter, exit] = [tool('enter_plan_mode'), tool('exit_plan_mode')]
  await checkTool(t, { tool: enter, workspace, good: { note: 'a' } })
  t.true((await runTool(exit, { plan: 'a' }, callOf(workspace))).is_error)
  await call('enter_plan_mode')
  await checkTool(t, { tool: exit, workspace, good: { plan: 'a' } })
})

test('tools-12: a session that plans may look, ask and read tasks, and nothing else, in a daemon that allows all', async (t) => {
  const { daemon, workspace, answers, state } = await start(t, 'bypassPermissions')
  const [entered] = await answers(
    '/tool todo_write {"todos":[{"content":"dig"}]}\n---\n/tool task_create {"title":"plant"}\n---\n/tool ' +
      'enter_plan_mode {"note":"the garden"}',
  ).then((all) => all.slice(-1))
  t.deepEqual(
    [entered.output.plan_mode, entered.output.pre_plan_mode, entered.output.note],
    [true, 'bypassPermissions', 'the garden'],
  )
  t.deepEqual([entered.output.todos[0].content, entered.output.tasks[0].title], ['dig', 'plant'])
  const tried = await answers(
    `${write}\n---\n/tool bash {"command":"touch b"}\n---\n/tool task_create {"title":"x"}\n---\n/tool ` +
      `todo_write {"todos":[]}\n---\n/tool list_files {}\n---\n/tool task_list {}`,
  )
  t.deepEqual(
    tried.map(({ tool_name, state: how }) => `${tool_name} ${how}`),
    [
      'write_file refused',
      'bash refused',
      'task_create refused',
      'todo_write refused',
      'list_files done',
      'task_list done',
    ],
  )
  await t.throwsAsync(readFile(join(workspace, 'a.txt')))
  t.like(await state(), { plan_mode: true, pre_plan_mode: 'bypassPermissions', note: 'the garden' })
  const explained = (
    await daemon.request('POST', '/v1/runtime/permissions/check', { tool_name: 'bash', session_id: 's1' })
  ).body
  t.like(explained, { effective_mode: 'plan', decision: 'deny', mode_effect: 'plan_mode_denied_non_whitelisted_tool' })
  t.is(
    (await daemon.request('POST', '/v1/runtime/permissions/check', { tool_name: 'bash' })).body.decision,
    'allow',
    'other sessions are as they were',
  )
})

test('tools-14: the end of planning is approved by a person, whatever the mode of before, which then holds again', async (t) => {
  const { daemon, workspace, run, answers, state, decide } = await start(t, 'bypassPermissions')
  await run('/tool enter_plan_mode')
  const script = '/tool exit_plan_mode {"plan":"Dig, then plant.","summary":"Garden"}'
  const first = await run(script, 'waiting_for_approval')
  t.is(first.pending_approvals[0].tool_name, 'exit_plan_mode')
  await decide(first.run_id, first.pending_approval_ids[0], 'deny')
  await until(daemon, first.run_id, 'completed')
  t.is((await state()).plan_mode, true, 'a plan that is not approved changes nothing')
  const second = await run(script, 'waiting_for_approval')
  await decide(second.run_id, second.pending_approval_ids[0], 'allow')
  await until(daemon, second.run_id, 'completed')
  const { output } = (await outcomes(daemon, second.run_id))[0]
  t.deepEqual(
    [output.plan_mode, output.restored_permission_mode, output.plan_artifact.content, output.plan_artifact.summary],
    [false, 'bypassPermissions', 'Dig, then plant.', 'Garden'],
  )
  const { plan_artifact, ...rest } = await state()
  t.deepEqual([plan_artifact, rest], [output.plan_artifact, { plan_mode: false, todos: [], tasks: [] }])
  t.is((await answers(write))[0].state, 'done')
  t.is(await readFile(join(workspace, 'a.txt'), 'utf8'), 'a')
})

test('a later plan of a session replaces what the one before said', async (t) => {
  const { daemon, run, state, decide } = await start(t, 'default')
  const plan = async (text: string): Promise<any> => {
    await run('/tool enter_plan_mode')
    const waiting = await run(`/tool exit_plan_mode ${JSON.stringify({ plan: text })}`, 'waiting_for_approval')
    await decide(waiting.run_id, waiting.pending_approval_ids[0], 'allow')
    await until(daemon, waiting.run_id, 'completed')
    return (await state()).plan_artifact
  }
  const [first, second] = [await plan('one'), await plan('two')]
  t.deepEqual([second.id, second.created_at_ms, second.content], [first.id, first.created_at_ms, 'two'])
  t.true(second.updated_at_ms >= first.updated_at_ms)
})

test('planning goes on over a restart, and stricter permissions of the next start hold when it ends', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const first = await start(t, 'bypassPermissions', { root })
  await first.run('/tool enter_plan_mode')
  await first.daemon.stop()
  const second = await start(t, 'dontAsk', { root })
  t.is((await second.answers(write))[0].state, 'refused')
  t.like(await second.state(), { plan_mode: true, pre_plan_mode: 'bypassPermissions' })
  const waiting = await second.run('/tool exit_plan_mode {"plan":"x"}', 'waiting_for_approval')
  await second.decide(waiting.run_id, waiting.pending_approval_ids[0], 'allow')
  await until(second.daemon, waiting.run_id, 'completed')
  t.is((await outcomes(second.daemon, waiting.run_id))[0].output.restored_permission_mode, 'dontAsk')
  t.is((await second.answers(write))[0].state, 'refused')
})

test('plan mode that begins again goes on; that ends without having begun is an error', async (t) => {
  const { run, answers, state, daemon, decide } = await start(t, 'default')
  const waiting = await run('/tool exit_plan_mode {"plan":"x"}', 'waiting_for_approval')
  await decide(waiting.run_id, waiting.pending_approval_ids[0], 'allow')
  await until(daemon, waiting.run_id, 'completed')
  t.is((await outcomes(daemon, waiting.run_id))[0].output.error.code, 'plan_mode_not_active')
  t.is(await state(), undefined)
  t.deepEqual(
    (await answers('/tool enter_plan_mode {"note":"one"}\n---\n/tool enter_plan_mode {"note":"two"}')).map(
      ({ output }) => output.pre_plan_mode,
    ),
    ['default', 'default'],
  )
  t.is((await state()).note, 'two')
})

test('a model is told about plan mode as long as it lasts', async (t) => {
  const model = scriptedProvider((_, count) =>
    count === 1 ? [callTool('c1', 'enter_plan_mode'), done('tool_calls')] : [text('Planning.'), done()],
  )
  const { run } = await start(t, 'default', { plugins: [model.plugin], config: model.config })
  await run('Plan.')
  t.deepEqual(
    model.requests.map(({ system }) => system.includes('<plan_mode>')),
    [false, true],
  )
})
