/** Agents that are started: in one commit, once for a name, as what their parent was at that moment. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import {
  agentOf,
  call,
  directed,
  does,
  endless,
  openAgent,
  rowsOf,
  settled,
  spawn,
  told,
  untilAgent,
} from '../../../support/agents.js'
import { startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { freshRoot } from '../../../support/folders.js'
import { watcher } from '../../../support/interceptors.js'
import { refusing } from '../../../support/refusing.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { openStream } from '../../../support/sse.js'

const start = async (
  t: ExecutionContext,
  config: JsonObject = {},
  { plugins = [], ...more }: TestDaemonOptions = {},
) => {
  const model = directed()
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin, ...plugins],
    config: { ...model.config, ...(Object.keys(config).length > 0 && { sidechains: config }) },
    ...more,
  })
  return Object.assign(daemon, { asked: model.requests, parent: await openAgent(daemon) })
}
const count = async (daemon: Parameters<typeof rowsOf>[0]): Promise<number> => (await rowsOf(daemon)).length

test('agents-1: an agent is a session of its own with its first run, and is told to its parent', async (t) => {
  const daemon = await start(t)
  const stream = await openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream' })
  const { status, body } = await spawn(daemon, daemon.parent, { ...told('/say hi', 'look/up'), nickname: 'Nick' })
  t.is(status, 200)
  t.deepEqual(body.outputs, [])
  const agent = await settled(daemon, body.agent_id)
  t.like(agent, {
    parent: daemon.parent,
    name: 'look/up',
    path: '/look-up',
    nickname: 'Nick',
    status: 'completed',
    retention: 'retain',
    sidechain_session_id: body.session_id,
    subtasks: [{ name: 'look/up', description: '', input: '/say hi' }],
  })
  const [run] = (await daemon.request('GET', `/v1/runs?session_id=${body.session_id}`)).body
  t.like(run, { kind: 'input', status: 'completed', request: { source_plugin: 'agents', source_kind: 'subtask' } })
  t.is(run.request.actor_id, daemon.parent)
  const spawned = () => stream.frames.find(({ data }) => data?.trace?.kind?.type === 'agent_spawned')
  const shown = () =>
    stream.frames.find(({ data }) => data?.type === 'session_snapshot' && data.session_id === body.session_id)
  const isTold = () => spawned() !== undefined && shown() !== undefined
  for (let n = 0; n < 10_000 && !isTold(); n += 1) await new Promise((resolve) => setTimeout(resolve, 5))
  stream.close()
  t.like(spawned()?.data.trace, { agent_id: daemon.parent, kind: { agent_id: body.agent_id } })
  const events = stream.frames.flatMap(({ data }) => (data?.session_id === body.session_id ? [data] : []))
  t.true(events.some(({ type, status: now }) => type === 'session_state_changed' && now === 'running'))
  t.like(events.find(({ type }) => type === 'session_snapshot')?.snapshot.agent, {
    parent: daemon.parent,
    subtasks: [{ name: 'look/up' }],
    fork_context: null,
    sidechain_session_id: body.session_id,
  })
  const bare = await spawn(daemon, daemon.parent)
  t.like(await agentOf(daemon, bare.body.agent_id), { status: 'idle', path: '/agent', subtasks: [] })
})

test('agents-1: what cannot be started leaves nothing', async (t) => {
  const daemon = await start(t)
  const before = await count(daemon)
  const refused = async (body: object, agent = daemon.parent) => codeOf(await spawn(daemon, agent, body))
  t.deepEqual(await refused({}, 'agent_nobody'), [404, 'agent_not_found'])
  t.deepEqual(await refused({ session_id: 's1' }), [409, 'conflict'])
  t.deepEqual(await refused({ session_id: '..' }), [400, 'invalid_session_id'])
  t.deepEqual(await refused({ permission_mode: 'anything' }), [400, 'bad_request'])
  t.deepEqual(await refused({ route_policy: { provider: 'nobody' } }), [400, 'bad_request'])
  t.deepEqual(await refused({ subtask: { name: ' ', content: 'a' } }), [400, 'bad_request'])
  t.deepEqual(await refused({ tool_surface: { allowlist: [' '] } }), [400, 'bad_request'])
  t.deepEqual(await refused({ subtask: { name: 'x', content: 'a', input_items: [{ type: 'text', text: 'b' }] } }), [
    400,
    'run_input_conflict',
  ])
  t.deepEqual(
    await refused({
      subtask: { name: 'x', input_items: [{ type: 'asset_reference', asset_id: 'asset_nothing' }] },
    }),
    [404, 'asset_not_found'],
  )
  await daemon.request('POST', '/v1/sessions/s1/end', {})
  t.deepEqual(await refused(told('/say hi')), [409, 'conflict'])
  t.is(await count(daemon), before)
  t.is((await daemon.request('GET', '/v1/runs')).body.length, 0)
})

test('agents-2: one name of a request starts one agent, also at once, also as a header and over a restart', async (t) => {
  const root = await freshRoot()
  const daemon = await start(t, {}, { root })
  const wanted = { ...told('/say hi'), spawn_request_id: 'once' }
  const all = await Promise.all(Array.from({ length: 8 }, () => spawn(daemon, daemon.parent, wanted)))
  const ids = new Set(all.map(({ body }) => body.agent_id))
  t.deepEqual([ids.size, await count(daemon)], [1, 2])
  const [id] = ids
  t.is((await spawn(daemon, daemon.parent, told('/say hi'), { 'idempotency-key': 'once' })).body.agent_id, id)
  t.is((await spawn(daemon, daemon.parent, wanted, { 'idempotency-key': 'once' })).body.agent_id, id)
  t.deepEqual(codeOf(await spawn(daemon, daemon.parent, wanted, { 'idempotency-key': 'twice' })), [
    400,
    'invalid_idempotency_key',
  ])
  t.deepEqual(codeOf(await spawn(daemon, daemon.parent, { ...wanted, ...told('/say ho') })), [
    409,
    'idempotency_conflict',
  ])
  const other = await openAgent(daemon, 's2')
  t.deepEqual(codeOf(await spawn(daemon, other, wanted)), [409, 'conflict'])
  t.is((await agentOf(daemon, id ?? '')).spawn_request_id, 'once')
  await daemon.request('POST', '/v1/sessions/s1/end', {})
  t.is((await spawn(daemon, daemon.parent, wanted)).body.agent_id, id, 'it is told of its agent also when it is ended')
  await daemon.stop()
  const again = await start(t, {}, { root })
  t.is((await spawn(again, again.parent, wanted)).body.agent_id, id)
  t.is(await count(again), 3)
})

test('agents-3: the older form says the same as route_policy, or says it alone', async (t) => {
  const daemon = await start(t)
  const policyOf = async (body: object) => {
    const { body: made } = await spawn(daemon, daemon.parent, body)
    return made.route_policy ?? made
  }
  const route_policy = { provider: 'scripted', generation: { temperature: 0.5 } }
  t.deepEqual(await policyOf({ route_policy }), route_policy)
  t.deepEqual(await policyOf({ provider: 'scripted', generation: { temperature: 0.5 } }), route_policy)
  t.deepEqual(await policyOf({ route_id: 'scripted' }), { provider: 'scripted' })
  t.deepEqual(await policyOf({ route_policy, provider: 'scripted', generation: { temperature: 0.5 } }), route_policy)
  for (const body of [
    { route_policy, provider: 'other' },
    { route_policy, generation: { temperature: 1 } },
    { provider: 'scripted', route_id: 'other' },
  ])
    t.deepEqual(codeOf(await spawn(daemon, daemon.parent, body)), [400, 'spawn_conflict'])
  const context = { parent_assistant_message: '', inherited_tool_call_ids: [], system_prompt: '' }
  for (const [body, at] of [
    [{ provider: 'z' }, 'body.provider'],
    [{ route_id: 'z' }, 'body.route_id'],
    [{ route_policy: { provider: 'z' } }, 'body.route_policy.provider'],
    [{ fork_context: { ...context, provider: 'z' } }, 'body.fork_context.provider'],
    [{ subtask: { name: 'x', content: 'a', input_items: [{ type: 'text', text: 'b' }] } }, 'body.subtask.input_items'],
  ] as const)
    t.is((await spawn(daemon, daemon.parent, body)).body.errors[0].path, at, 'under the name that was sent')
  await daemon.request('PUT', '/v1/sessions/s1/route-policy', { route_policy })
  t.deepEqual(await policyOf({}), route_policy)
})

test('agents-3: a child has the persona as its parent had it, whatever becomes of it', async (t) => {
  const daemon = await start(t)
  await daemon.request('POST', '/v1/personas', {
    persona_id: 'p',
    display_name: 'Pia',
    soul: 'The first soul.',
    capability_scope: { skill_allow: ['a', 'b'] },
  })
  const { body } = await daemon.request('POST', '/v1/sessions', { session_id: 's2', persona_id: 'p' })
  await daemon.request('PUT', '/v1/personas/p', { soul: 'The second soul.', capability_scope: {} })
  const child = await spawn(daemon, body.agent_id, told('/say hi'))
  t.like(child.body, { persona: { persona_id: 'p' }, effective_capability_scope: { skill_allow: ['a', 'b'] } })
  await settled(daemon, child.body.agent_id)
  t.regex(daemon.asked.at(-1)?.system ?? '', /The first soul/u)
  t.notRegex(daemon.asked.at(-1)?.system ?? '', /The second soul/u)
})

test('agents-7: while agents work below it a session keeps its settings and is not ended', async (t) => {
  const daemon = await start(t)
  const child = await spawn(daemon, daemon.parent)
  const deep = await spawn(daemon, child.body.agent_id, endless)
  const change = () => daemon.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: {} })
  t.deepEqual(codeOf(await change()), [409, 'session_not_idle'])
  for (const id of ['s1', child.body.session_id])
    t.deepEqual(codeOf(await daemon.request('POST', `/v1/sessions/${id}/end`, {})), [409, 'session_end_refused'])
  const [run] = (await daemon.request('GET', `/v1/runs?session_id=${deep.body.session_id}`)).body
  await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`, {})
  await until(daemon, run.run_id, 'cancelled')
  t.is((await change()).status, 200)
  t.is((await daemon.request('POST', '/v1/sessions/s1/end', {})).status, 200)
})

test('agents-8: an agent is told what it is, and its system prompt stands in place of that of the daemon or beside it', async (t) => {
  const daemon = await start(t)
  const systemOf = async (fork: object) => {
    const fork_context = { parent_assistant_message: '', inherited_tool_call_ids: [], system_prompt: '', ...fork }
    const { body } = await spawn(daemon, daemon.parent, { fork_context, ...told('/say hi', 'review') })
    await settled(daemon, body.agent_id)
    t.deepEqual((await agentOf(daemon, body.agent_id)).fork_context, fork_context)
    return daemon.asked.at(-1)?.system ?? ''
  }
  await does(daemon, 's1', '/say hello')
  const plain = daemon.asked.at(-1)?.system ?? ''
  const usual = plain.split('\n')[0] ?? '-'
  t.notRegex(plain, /another agent started/u)
  const bare = await systemOf({})
  t.true(bare.startsWith(usual))
  t.regex(bare, /<agent>\nYou are an agent that another agent started/u)
  t.regex(bare, /Your work: review\./u)
  const replaced = await systemOf({
    system_prompt: 'You judge.',
    team_name: 'red',
    parent_assistant_message: 'Be kind.',
  })
  t.true(replaced.startsWith('You judge.'))
  t.false(replaced.includes(usual))
  t.regex(replaced, /Your team: red/u)
  t.regex(replaced, /said:\nBe kind\./u)
  const beside = await systemOf({ system_prompt: 'You judge.', prompt_merge_mode: 'append' })
  t.true(beside.startsWith(usual))
  t.regex(beside, /You judge\./u)
  await daemon.request('POST', '/v1/runtime/system-prompt', { settings: { override_prompt: 'The operator says.' } })
  t.true((await systemOf({ system_prompt: 'You judge.' })).startsWith('The operator says.'))
})

test('agents-8: long texts of a fork context are told whole and shown in part', async (t) => {
  const daemon = await start(t)
  const system_prompt = '🌱'.repeat(5_000)
  const fork_context = { parent_assistant_message: 'x', inherited_tool_call_ids: ['call_1'], system_prompt }
  const { body } = await spawn(daemon, daemon.parent, { fork_context, ...told('/say hi') })
  await settled(daemon, body.agent_id)
  t.true(daemon.asked.at(-1)?.system.startsWith(system_prompt))
  const shown = (await agentOf(daemon, body.agent_id)).fork_context.system_prompt
  t.is(shown, '🌱'.repeat(2_000))
})

test('agents-9: the profile of an agent is its bearing; one that plans changes nothing', async (t) => {
  const daemon = await start(t)
  for (const [agent_type, bearing] of [
    ['plan', /change nothing/u],
    ['verification', /Check what others say/u],
    ['coordinator', /Give the work to agents/u],
  ] as const) {
    const prompt = agent_type === 'plan' ? call('write_file', { path: 'made.txt', content: 'x' }) : '/say hi'
    await does(daemon, 's1', call('spawn_agent', { name: agent_type, agent_type, prompt, wait: true }))
    const told_ = daemon.asked.filter(({ system }) => bearing.test(system))
    t.true(told_.length > 0, agent_type)
    if (agent_type === 'plan') t.regex(JSON.stringify(told_.at(-1)?.messages), /permission mode plan/u)
  }
})

test('hooks-16, agents-9: hooks are told of the start and of the end of an agent', async (t) => {
  const eyes = watcher()
  Object.assign(eyes.rules, { subagent_start: () => undefined, subagent_stop: () => undefined })
  const model = directed()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin, eyes.plugin], config: model.config })
  await openSession(daemon)
  const run = await does(
    daemon,
    's1',
    call('spawn_agent', { name: 'x', agent_type: 'verification', prompt: '/say y', wait: true }),
  )
  t.is(run.status, 'completed')
  const told_ = eyes.seen.filter(({ event }) => event.startsWith('subagent'))
  t.deepEqual(
    told_.map(({ event, subject }) => [event, subject]),
    [
      ['subagent_start', 'verification'],
      ['subagent_stop', 'verification'],
    ],
  )
  t.like(told_[0]?.payload, { agent_type: 'verification', parent_agent_id: run.agent_id })
})

test('agents-13: an agent that is to be closed is, when its work and that below it is done, also over a restart', async (t) => {
  const root = await freshRoot()
  const daemon = await start(t, {}, { root })
  const wanted = { retention: 'close_on_settle' }
  const closed = async (on: typeof daemon, id: string) => {
    for (let n = 0; n < 2_000; n += 1) {
      const { closed_at_ms } = await agentOf(on, id)
      if (closed_at_ms !== undefined) return true
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return false
  }
  const first = await spawn(daemon, daemon.parent, { ...wanted, ...told('/say hi') })
  t.true(await closed(daemon, first.body.agent_id))
  t.deepEqual(codeOf(await spawn(daemon, first.body.agent_id)), [409, 'conflict'])
  const waits = await spawn(daemon, daemon.parent, wanted)
  const above = await spawn(daemon, daemon.parent, {
    ...wanted,
    ...told(call('spawn_agent', { name: 'deep', prompt: '/sleep 6000' })),
  })
  await settled(daemon, above.body.agent_id)
  t.is((await agentOf(daemon, above.body.agent_id)).closed_at_ms, undefined, 'an agent works below it')
  t.true(await closed(daemon, above.body.agent_id), 'the one below it is done')
  t.is((await agentOf(daemon, waits.body.agent_id)).closed_at_ms, undefined, 'it has not begun')
  const over = await spawn(daemon, daemon.parent, { ...wanted, ...told('/sleep 500\n/say late') })
  const kept = await spawn(daemon, daemon.parent, told('/say hi'))
  await settled(daemon, kept.body.agent_id)
  await daemon.stop()
  const again = await start(t, {}, { root })
  t.true(await closed(again, over.body.agent_id))
  t.is((await agentOf(again, waits.body.agent_id)).closed_at_ms, undefined)
  t.is((await agentOf(again, kept.body.agent_id)).closed_at_ms, undefined)
  const { run_id } = await submit(again, waits.body.session_id, '/say now')
  await until(again, run_id, 'completed')
  t.true(await closed(again, waits.body.agent_id))
  t.deepEqual(
    again.log.filter(({ fact }) => /could not be closed/u.test(String(fact))),
    [],
  )
})

test('agents-13: an agent that is to be closed is when somebody takes the last message from its mailbox', async (t) => {
  const { plugin, refuse } = refusing()
  const daemon = await start(t, {}, { plugins: [plugin] })
  const child = (await spawn(daemon, daemon.parent, { retention: 'close_on_settle', ...told('/sleep 5000\n/say hi') }))
    .body
  const letter = { from_agent_id: daemon.parent, to_agent_id: child.agent_id, subject: 'hello' }
  const { message_id } = (await daemon.request('POST', '/v1/mailboxes', { ...letter, payload: {} })).body
  refuse(child.session_id)
  const waiting = call('wait_agent', { agent_ids: [child.agent_id], timeout_ms: 100_000 })
  const { run_id } = await submit(daemon, 's1', waiting)
  await untilAgent(daemon, child.agent_id, ({ status }) => status === 'completed')
  t.is((await agentOf(daemon, child.agent_id)).closed_at_ms, undefined, 'a message waits for it')
  const taken = await daemon.request('POST', `/v1/agents/${child.agent_id}/mailbox/${message_id}/ack`)
  t.is(taken.status, 200)
  await untilAgent(daemon, child.agent_id, ({ closed_at_ms }) => closed_at_ms !== undefined)
  await until(daemon, run_id, 'completed')
})

test('agents-3: who names a model alone stays on the route of the parent', async (t) => {
  const daemon = await start(t)
  const route = { route_policy: { provider: 'scripted', generation: { model: 'own' } } }
  await daemon.request('PUT', '/v1/sessions/s1/route-policy', route)
  for (const body of [{ generation: { model: 'zz' } }, { route_policy: { generation: { model: 'zz' } } }]) {
    const { session_id } = (await spawn(daemon, daemon.parent, body)).body
    const { route_policy } = (await daemon.request('GET', `/v1/sessions/${session_id}`)).body
    t.like(route_policy, { provider: 'scripted', generation: { model: 'zz' } })
  }
})

test('agents-1: a session id that is none is refused as sessions refuse it', async (t) => {
  const daemon = await start(t)
  for (const session_id of ['', ' ', '..', 'a/b'])
    t.deepEqual(codeOf(await spawn(daemon, daemon.parent, { session_id })), [400, 'invalid_session_id'])
})

test('agents-7: a session is not idle while messages wait for an agent below it', async (t) => {
  const { plugin, refuse } = refusing()
  const daemon = await start(t, {}, { plugins: [plugin] })
  const child = (await spawn(daemon, daemon.parent)).body
  refuse(child.session_id)
  const letter = { from_agent_id: child.agent_id, to_agent_id: child.agent_id, subject: 'x' }
  t.is((await daemon.request('POST', '/v1/mailboxes', { ...letter, payload: {} })).status, 202)
  const change = () => daemon.request('PUT', '/v1/sessions/s1/isolation', { isolation: 'worktree' })
  t.deepEqual(codeOf(await change()), [409, 'session_not_idle'])
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/end')), [409, 'session_end_refused'])
})

test('agents-1, hooks-8: what a person tells an agent at its start is looked at like any prompt', async (t) => {
  const guard = watcher()
  guard.rules.user_prompt_submit = ({ payload }) =>
    String(payload['prompt']).includes('secret') ? { block: 'no' } : { updated_input: '/say changed' }
  const daemon = await startTestDaemon(t, { plugins: [guard.plugin] })
  const parent = await openAgent(daemon)
  t.deepEqual(codeOf(await spawn(daemon, parent, told('/say secret'))), [403, 'hook_blocked'])
  t.is((await rowsOf(daemon)).length, 1)
  const child = (await spawn(daemon, parent, told('/say hi'))).body
  await settled(daemon, child.agent_id)
  t.is((await rowsOf(daemon))[1].last_output_preview, 'changed')
})
