/** Permission rules that hooks give to sessions, and who else gives modes. */
import test, { type ExecutionContext } from 'ava'
import type { Json, JsonObject } from '../../../../core/plugin.js'
import type { PermissionMode } from '../../../../plugins/execution/tools/contract.js'
import { SessionModes } from '../../../../plugins/execution/tools/contract.js'
import { HookCallbacks } from '../../../../plugins/operator/hooks/contract.js'
import { freshRoot } from '../../../support/folders.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { echoing, watcher } from '../../../support/interceptors.js'
import { testPlugin } from '../../../support/plugins.js'
import { openSession, submit, until } from '../../../support/runs.js'

const hooks = { pre_tool_use: [{ name: 'court', executor: { type: 'callback', name: 'judge' } }] }
const rule = (behavior: string, more: JsonObject = {}): JsonObject => ({
  scope: 'session',
  tool_name_pattern: 'echo',
  behavior,
  reason: 'by the court',
  ...more,
})

const start = async (t: ExecutionContext, answers: readonly Json[], root?: string) => {
  const tool = echoing('ask')
  const left = [...answers]
  const judge = testPlugin('lends', {
    register(ctx) {
      ctx.contribute(HookCallbacks, { name: 'judge', call: async () => left.shift() })
    },
  })
  const made = root ?? (await freshRoot())
  const daemon = await startTestDaemon(t, { plugins: [tool.plugin, judge], root: made })
  await openSession(daemon)
  await daemon.request('POST', '/v1/runtime/hooks', { settings: { hooks } })
  const run = async (session = 's1') => {
    const { run_id } = await submit(daemon, session, '/tool echo {"text":"plain"}')
    return until(daemon, run_id, 'completed', 'failed', 'waiting_for_approval')
  }
  const check = async (session_id = 's1') =>
    (await daemon.request('POST', '/v1/runtime/permissions/check', { tool_name: 'echo', session_id })).body
  return Object.assign(daemon, { run, check, calls: tool.calls, root: made })
}

test('hooks-14, hooks-20: a rule that a hook gives counts from the call on, for its session alone, over a restart, until the session ends', async (t) => {
  const first = await start(t, [{ updated_permissions: [rule('allow')] }])
  t.like(await first.run(), { status: 'completed' })
  t.is(first.calls.length, 1)
  t.like(await first.check(), {
    decision: 'allow',
    matched_rule: { tool_name_pattern: 'echo', reason: 'by the court' },
    matched_rule_origin: 'hook_update',
    audit_preview: { matched_rule_origin: 'hook_update' },
  })
  await openSession(first, 's2')
  t.like(await first.check('s2'), { decision: 'ask', matched_rule_origin: 'static' })
  t.like(await first.run('s2'), { status: 'waiting_for_approval' })
  await first.stop()
  const second = await start(t, [{ updated_permissions: [rule('deny')] }], first.root)
  t.like(await second.check(), { decision: 'allow' })
  await second.run()
  t.is(second.calls.length, 0, 'the newest rule of a pattern counts')
  t.like(await second.check(), { decision: 'deny' })
  await second.request('POST', '/v1/sessions/s1/end')
  for (let n = 0; n < 400 && (await second.check()).decision === 'deny'; n += 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
  t.like(await second.check(), { decision: 'ask' })
})

test('runs-21, hooks-20: the steps of a run tell which hook gave its session rules, also where it said nothing else', async (t) => {
  const daemon = await start(t, [
    { updated_permissions: [rule('allow')] },
    { permission: 'deny', reason: 'no', updated_permissions: [rule('deny')] },
    { permission: 'allow', updated_permissions: [rule('allow', { scope: 'user' })] },
  ])
  const steps = async (): Promise<any[]> => {
    const { run_id } = await daemon.run()
    const { body } = await daemon.request('GET', `/v1/runs/${run_id}/events?steps=true`)
    return body.flatMap(({ event }: any) => (event.type === 'intercepted' ? [[event.by, event.did]] : []))
  }
  t.deepEqual(await steps(), [['court', ['rules']]])
  t.deepEqual(await steps(), [['court', ['deny', 'rules']]])
  t.deepEqual(await steps(), [['court', ['failed']]], 'what is a failure gives nothing')
})

test('hooks-20: of an outcome with a rule beyond the session nothing counts, and it is a failure of the hook', async (t) => {
  const daemon = await start(t, [
    { permission: 'allow', updated_permissions: [rule('allow'), rule('allow', { scope: 'user' })] },
  ])
  t.like(await daemon.run(), { status: 'waiting_for_approval' })
  t.like(await daemon.check(), { decision: 'ask' })
  const [letter] = (await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body.dead_letters
  t.regex(letter.error, /updated_permissions\.1\.scope/u)
  const { hooks: told } = (await daemon.request('GET', '/v1/status')).body
  t.is(told.dead_letter_store_path, `${daemon.root}/data/hook_dead_letters`)
})

test('hooks-20: two hundred rules of a session stay, and none that denies or asks makes room', async (t) => {
  const many = (behavior: string, from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => rule(behavior, { tool_name_pattern: `${behavior}_${from + at}` }))
  const give = (rules: readonly Json[]): Json => ({ permission: 'allow', updated_permissions: rules })
  const daemon = await start(t, [
    give([rule('deny', { tool_name_pattern: 'held' }), ...many('allow', 0, 49)]),
    ...[49, 99, 149].map((from) => give(many('allow', from, from + 50))),
    give(many('allow', 199, 201)),
    ...[0, 50, 100].map((from) => give(many('deny', from, from + 50))),
    give(many('ask', 0, 49)),
    give(many('allow', 300, 301)),
  ])
  const behaviorOf = async (tool_name: string) => {
    const { body } = await daemon.request('POST', '/v1/runtime/permissions/check', { tool_name, session_id: 's1' })
    return body.matched_rule_origin === 'hook_update' ? body.matched_rule.behavior : undefined
  }
  for (let at = 0; at < 5; at += 1) t.like(await daemon.run(), { status: 'completed' })
  t.is(await behaviorOf('held'), 'deny')
  t.deepEqual(await Promise.all(['allow_0', 'allow_200'].map(behaviorOf)), ['allow', 'allow'])
  t.is(await behaviorOf('allow_47'), undefined, 'of equally old ones the last')
  for (let at = 0; at < 4; at += 1) t.like(await daemon.run(), { status: 'completed' })
  t.deepEqual(await Promise.all(['held', 'deny_0', 'ask_0'].map(behaviorOf)), ['deny', 'deny', 'ask'])
  t.is(await behaviorOf('allow_200'), undefined)
  t.like(await daemon.run(), { status: 'waiting_for_approval' }, 'nothing of the outcome counts')
  t.deepEqual(await Promise.all(['held', 'deny_0', 'allow_300'].map(behaviorOf)), ['deny', 'deny', undefined])
  const [letter] = (await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body.dead_letters
  t.regex(letter.error, /no room for its permission rules/u)
})

test('hooks-10: tasks that are made and done, and what became of a question, are told', async (t) => {
  const watched = watcher()
  for (const event of ['task_created', 'task_completed', 'elicitation_result'] as const)
    watched.rules[event] = () => undefined
  const daemon = await startTestDaemon(t, { plugins: [watched.plugin] })
  await openSession(daemon)
  const todo = '/tool task_create {"title":"Dig","description":"A hole."}'
  await until(daemon, (await submit(daemon, 's1', todo)).run_id, 'completed')
  const [{ id }] = (await daemon.request('GET', '/v1/sessions/s1/tasks')).body
  const done = `/tool task_update {"task_id":"${id}","status":"completed"}`
  await until(daemon, (await submit(daemon, 's1', done)).run_id, 'completed')
  const question = { header: 'A', question: 'B?', options: [{ label: 'x' }, { label: 'y' }], multi_select: false }
  const ask = `/tool ask_user_question ${JSON.stringify({ questions: [question] })}`
  const { run_id } = await submit(daemon, 's1', ask)
  const run = await until(daemon, run_id, 'waiting_for_user_question')
  await daemon.request('POST', `/v1/runs/${run_id}/questions/${run.pending_question_ids[0]}/cancel`, {})
  for (let n = 0; n < 400 && watched.seen.length < 3; n += 1) await new Promise((resolve) => setTimeout(resolve, 5))
  t.like(watched.seen[0], { event: 'task_created', subject: 'Dig', session_id: 's1', payload: { task_id: id } })
  t.like(watched.seen[1], { event: 'task_completed', payload: { task_id: id, status: 'completed' } })
  t.like(watched.seen[2], { event: 'elicitation_result', run_id, payload: { outcome: 'cancelled' } })
  t.is(watched.seen.length, 3)
})

test('tools-34: of several modes of a session the strictest holds, and their rules count together', async (t) => {
  const gives = (id: string, mode: PermissionMode | undefined, tool_name_pattern: string) =>
    testPlugin(id, {
      register(ctx) {
        ctx.contribute(SessionModes, {
          id,
          mode: () => mode,
          rules: () => [{ scope: 'session', tool_name_pattern, behavior: 'deny' }],
        })
      },
    })
  const plugins = [
    gives('one', 'bypassPermissions', 'bash'),
    gives('two', 'dontAsk', 'todo_write'),
    gives('three', undefined, 'x'),
  ]
  const daemon = await startTestDaemon(t, { plugins })
  const { request } = daemon
  await openSession(daemon)
  const check = async (tool_name: string) =>
    (await request('POST', '/v1/runtime/permissions/check', { tool_name, session_id: 's1' })).body
  t.like(await check('write_file'), { effective_mode: 'dontAsk', decision: 'deny' })
  t.like(await check('bash'), { matched_rule: { tool_name_pattern: 'bash', behavior: 'deny' } })
  t.like(await check('todo_write'), { matched_rule: { tool_name_pattern: 'todo_write' } })
})
