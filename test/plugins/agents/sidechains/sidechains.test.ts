/** Starting agents, and what they may, over HTTP. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'
import { callTool, done, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { codeOf, submit, until } from '../../../support/runs.js'
import { openStream } from '../../../support/sse.js'

const says = (said = 'done'): ModelEvent[] => [text(said), done()]
const calls = (name: string, input: JsonObject = {}): ModelEvent[] => [callTool(name, name, input), done('tool_calls')]

const start = async (t: ExecutionContext, play: Play = () => says(), { sidechains = {}, ...more }: any = {}) => {
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, sidechains, ...more.config },
    ...(more.root !== undefined && { root: more.root }),
  })
  const { request } = daemon
  const parent = (await request('POST', '/v1/sessions', { session_id: 's1' })).body.agent_id
  const spawn = (body: JsonObject = {}, of = parent, headers = {}) =>
    request('POST', `/v1/agents/${of}/sidechains`, body, headers)
  const total = async (): Promise<number> => (await request('GET', '/v1/agents/summaries')).body.length
  const finished = async (session_id: string): Promise<any> => {
    const [run] = (await request('GET', `/v1/runs?session_id=${session_id}`)).body
    return until(daemon, run.run_id, 'completed')
  }
  const outcomes = (): string => JSON.stringify(model.requests.at(-1)?.messages)
  return Object.assign(daemon, { parent, spawn, total, finished, outcomes, asked: model.requests })
}

test('agents-1, agents-3, agents-8, agents-13: a child has a session, a parent and work of its own', async (t) => {
  const daemon = await start(t)
  const stream = await openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream' })
  const { status, body } = await daemon.spawn({
    session_id: 'child',
    nickname: 'Nick',
    subtask: { name: 'review', description: 'Look at it.', content: 'Read the change.' },
    fork_context: {
      parent_assistant_message: 'I wrote it.',
      inherited_tool_call_ids: ['c1'],
      system_prompt: 'Be stern.',
    },
  })
  t.is(status, 200)
  t.like(body, { session_id: 'child', reply_targets: undefined })
  const run = await daemon.finished('child')
  t.like(run, { input_metadata: { parent_agent_id: daemon.parent }, request: { source_kind: 'subtask' } })
  const { agent } = (await daemon.request('GET', `/v1/agents/${body.agent_id}`)).body
  t.like(agent, {
    parent: daemon.parent,
    path: '/review',
    nickname: 'Nick',
    retention: 'retain',
    status: 'completed',
    sidechain_session_id: 'child',
  })
  t.deepEqual(agent.subtasks, [{ name: 'review', description: 'Look at it.', input: 'Read the change.' }])
  t.is(agent.settled_at_ms, run.finished_at_ms)
  const { system } = daemon.asked[0] ?? { system: '' }
  t.true(system.startsWith('Be stern.'))
  t.regex(system, /<agent>\nYou are an agent[^]*Your work: review\. Look at it\.[^]*I wrote it\.\n<\/agent>/u)
  const spawned = stream.frames.find(({ data }) => data?.trace?.kind?.type === 'agent_spawned')
  t.is(spawned?.data.trace.kind.agent_id, body.agent_id)
  stream.close()
})

test('agents-8: a prompt that is appended stands beside that of the daemon', async (t) => {
  const daemon = await start(t)
  const fork_context = { parent_assistant_message: '', inherited_tool_call_ids: [], system_prompt: 'Be stern.' }
  await daemon.spawn({
    session_id: 'child',
    subtask: { name: 'a' },
    fork_context: { ...fork_context, prompt_merge_mode: 'append' },
  })
  await daemon.finished('child')
  const { system } = daemon.asked[0] ?? { system: '' }
  t.false(system.startsWith('Be stern.'))
  t.regex(system, /<agent>[^]*Be stern\./u)
})

test('agents-1: what cannot be started is refused by name, and nothing has changed', async (t) => {
  const daemon = await start(t)
  const refused = async (body: JsonObject, of?: string) => codeOf(await daemon.spawn(body, of))
  t.deepEqual(await refused({}, 'nobody'), [404, 'agent_not_found'])
  t.deepEqual(await refused({ session_id: 's1' }), [409, 'conflict'])
  t.deepEqual(await refused({ provider: 'no_route' }), [400, 'bad_request'])
  t.deepEqual(await refused({ permission_mode: 'whatever' }), [400, 'bad_request'])
  t.deepEqual(await refused({ subtask: { name: 'a', content: 'b', input_items: [{ type: 'text', text: 'c' }] } }), [
    400,
    'run_input_conflict',
  ])
  t.deepEqual(await refused({ subtask: { name: 'a', input_items: [{ type: 'asset_reference', asset_id: 'x' }] } }), [
    404,
    'asset_not_found',
  ])
  await daemon.request('POST', '/v1/sessions/s1/end', {})
  t.deepEqual(await refused({}), [409, 'conflict'])
  t.is(await daemon.total(), 1)
})

test('agents-2: a request that is sent again starts nothing, also after a restart', async (t) => {
  const root = await freshRoot()
  const daemon = await start(t, undefined, { root })
  const first = await daemon.spawn({ spawn_request_id: 'k1', subtask: { name: 'a' } })
  const headers = { 'idempotency-key': 'k1' }
  t.is((await daemon.spawn({ subtask: { name: 'a' } }, undefined, headers)).body.session_id, first.body.session_id)
  t.deepEqual(codeOf(await daemon.spawn({ spawn_request_id: 'k1', subtask: { name: 'b' } })), [
    409,
    'idempotency_conflict',
  ])
  t.deepEqual(codeOf(await daemon.spawn({ spawn_request_id: 'k1', subtask: { name: 'a' } }, first.body.agent_id)), [
    409,
    'conflict',
  ])
  t.deepEqual(codeOf(await daemon.spawn({ spawn_request_id: 'k2' }, undefined, headers)), [
    400,
    'invalid_idempotency_key',
  ])
  await daemon.stop()
  const next = await start(t, undefined, { root })
  const again = await next.spawn({ spawn_request_id: 'k1', subtask: { name: 'a' } })
  t.is(again.body.session_id, first.body.session_id)
  t.is(await next.total(), 2)
})

test('agents-3: the older form of a route says the same, or is refused', async (t) => {
  const daemon = await start(t)
  const route = (await daemon.request('GET', '/v1/sessions/s1')).body.route_policy?.provider ?? 'scripted'
  const { body } = await daemon.spawn({ provider: route, generation: { max_output_tokens: 100 } })
  t.deepEqual(body.route_policy, { provider: route, generation: { max_output_tokens: 100 } })
  t.is((await daemon.spawn({ route_id: route, route_policy: { provider: route } })).status, 200)
  t.deepEqual(codeOf(await daemon.spawn({ provider: route, route_policy: { provider: 'demo' } })), [
    400,
    'spawn_conflict',
  ])
  t.deepEqual(codeOf(await daemon.spawn({ provider: route, route_id: 'demo' })), [400, 'spawn_conflict'])
})

test('agents-3: a child speaks as the persona of its parent was when that was bound', async (t) => {
  const daemon = await start(t)
  const persona = (soul: string) => ({ persona_id: 'p', display_name: 'P', soul })
  await daemon.request('POST', '/v1/personas', persona('First soul.'))
  const { agent_id } = (await daemon.request('POST', '/v1/sessions', { session_id: 's2', persona_id: 'p' })).body
  await daemon.request('PUT', '/v1/personas/p', persona('Second soul.'))
  const child = (await daemon.spawn({ subtask: { name: 'a' } }, agent_id)).body
  t.like(child.persona, { persona_id: 'p', persona_version: 1 })
  await daemon.finished(child.session_id)
  t.regex(daemon.asked[0]?.system ?? '', /First soul\./u)
})

test('agents-4: a mode may only narrow, and is kept', async (t) => {
  const daemon = await start(t, undefined, { config: { tools: { permission_mode: 'acceptEdits' } } })
  const effective = async (session_id: string) =>
    (await daemon.request('POST', '/v1/runtime/permissions/check', { tool_name: 'bash', session_id })).body
      .effective_mode
  const inherited = (await daemon.spawn({})).body
  t.is(await effective(inherited.session_id), 'acceptEdits')
  const pinned = (await daemon.spawn({ permission_mode: 'default' })).body
  t.is(await effective(pinned.session_id), 'default')
  t.deepEqual(codeOf(await daemon.spawn({ permission_mode: 'bypassPermissions' })), [400, 'agent_widened'])
  t.deepEqual(codeOf(await daemon.spawn({ permission_mode: 'acceptEdits' }, pinned.agent_id)), [400, 'agent_widened'])
  t.is((await daemon.spawn({ permission_mode: 'plan' }, pinned.agent_id)).status, 200)
})

test('agents-5: scopes narrow, and credentials of connectors are lost unless they are given', async (t) => {
  const daemon = await start(t)
  const { agent_id } = (
    await daemon.request('POST', '/v1/sessions', {
      session_id: 's2',
      capability_scope: { skill_allow: ['a', 'b'], mcp_tool_deny: ['x'] },
      credential_scope: { connector_allow: ['c1', 'c2'], connector_credential_allow: ['K'] },
    })
  ).body
  const plain = (await daemon.spawn({}, agent_id)).body
  t.deepEqual(plain.capability_scope.skill_allow, ['a', 'b'])
  t.deepEqual(plain.credential_scope.connector_deny, ['*'])
  t.deepEqual(plain.credential_scope.mcp_server_deny, ['*'])
  t.deepEqual(plain.credential_scope.route_deny, [])
  const given = (
    await daemon.spawn(
      { capability_scope: { skill_allow: ['a'], skill_deny: ['z'] }, credential_scope: { connector_allow: ['c1'] } },
      agent_id,
    )
  ).body
  t.deepEqual(given.capability_scope.skill_allow, ['a'])
  t.deepEqual(given.capability_scope.mcp_tool_deny, ['x'])
  t.deepEqual(given.credential_scope.connector_allow, ['c1'])
  t.deepEqual(given.credential_scope.connector_credential_allow, ['K'])
  const wide = async (body: JsonObject) => codeOf(await daemon.spawn(body, agent_id))
  t.deepEqual(await wide({ capability_scope: { skill_allow: ['a', 'c'] } }), [400, 'agent_widened'])
  t.deepEqual(await wide({ capability_scope: { skill_allow: ['*'] } }), [400, 'agent_widened'])
  t.deepEqual(await wide({ capability_scope: { mcp_tool_allow: ['x'] } }), [400, 'agent_widened'])
  t.deepEqual(await wide({ credential_scope: { connector_allow: ['c3'] } }), [400, 'agent_widened'])
  t.is((await daemon.spawn({ credential_scope: { connector_allow: ['c1'] } }, plain.agent_id)).status, 400)
  t.is(await daemon.total(), 4)
})

test('agents-6: a child neither sees nor calls what its surface takes away', async (t) => {
  const daemon = await start(t, ({ messages }) =>
    JSON.stringify(messages.at(-1)).includes('go on') ? calls('list_files') : says(),
  )
  const child = (
    await daemon.spawn({
      tool_surface: { allowlist: ['read_file', 'task_*'], denylist: ['task_stop'] },
      subtask: { name: 'a', content: 'go on' },
    })
  ).body
  await daemon.finished(child.session_id)
  const seen = daemon.asked[0]?.tools.map(({ name }) => name) ?? []
  t.true(seen.includes('read_file') && seen.includes('task_list'))
  t.false(seen.includes('task_stop') || seen.includes('bash') || seen.includes('list_files'))
  t.true(daemon.outcomes().includes('"error"'))
  const wide = async (allowlist: string[]) =>
    codeOf(await daemon.spawn({ tool_surface: { allowlist } }, child.agent_id))
  t.deepEqual(await wide(['bash']), [400, 'agent_widened'])
  t.deepEqual(await wide(['task*']), [400, 'agent_widened'])
  const grandchild = (
    await daemon.spawn({ tool_surface: { allowlist: ['task_list'] }, subtask: { name: 'b' } }, child.agent_id)
  ).body
  await daemon.finished(grandchild.session_id)
  t.deepEqual(
    daemon.asked.at(-1)?.tools.map(({ name }) => name),
    ['task_list'],
  )
})

test('agents-7: a session is neither changed nor ended while agents work below it', async (t) => {
  const daemon = await start(t, () => calls('ask_user_question', { questions: [question] }))
  const child = (await daemon.spawn({})).body
  const grandchild = (await daemon.spawn({ subtask: { name: 'a' } }, child.agent_id)).body
  const [run] = (await daemon.request('GET', `/v1/runs?session_id=${grandchild.session_id}`)).body
  await until(daemon, run.run_id, 'waiting_for_user_question')
  const isolate = () => daemon.request('PUT', '/v1/sessions/s1/isolation', { isolation: 'worktree' })
  const end = () => daemon.request('POST', '/v1/sessions/s1/end', {})
  t.deepEqual(codeOf(await isolate()), [409, 'session_not_idle'])
  t.deepEqual(codeOf(await end()), [409, 'session_end_refused'])
  await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`, {})
  t.is((await isolate()).status, 200)
  t.is((await end()).status, 200)
})
const question = { question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }

test('agents-10: no more work at a time than the limits say, and no deeper', async (t) => {
  const waits: Play = () => calls('ask_user_question', { questions: [question] })
  const limits = {
    max_child_depth: 2,
    max_live_children_per_parent: 2,
    max_live_descendants_per_root: 3,
    rules: [
      { selector: { session_id: 's2' }, limits: { max_live_children_per_parent: 0 } },
      { selector: { session_id: 's2' }, limits: { max_live_children_per_parent: 1 }, label: 'later' },
    ],
  }
  const daemon = await start(t, waits, { sidechains: limits })
  const subtask = { name: 'a' }
  const first = (await daemon.spawn({ subtask })).body
  t.is((await daemon.spawn({ subtask })).status, 200)
  t.deepEqual(codeOf(await daemon.spawn({ subtask })), [409, 'conflict'])
  const deep = (await daemon.spawn({ subtask }, first.agent_id)).body
  t.deepEqual(codeOf(await daemon.spawn({ subtask }, first.agent_id)), [409, 'conflict'], 'three below the root')
  t.deepEqual(codeOf(await daemon.spawn({}, deep.agent_id)), [409, 'conflict'], 'too deep')
  const other = (await daemon.request('POST', '/v1/sessions', { session_id: 's2' })).body.agent_id
  t.is((await daemon.spawn({ subtask }, other)).status, 200)
  t.deepEqual(codeOf(await daemon.spawn({ subtask }, other)), [409, 'conflict'])
  const [run] = (await daemon.request('GET', `/v1/runs?session_id=${deep.session_id}`)).body
  await until(daemon, run.run_id, 'waiting_for_user_question')
  await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`, {})
  t.is((await daemon.spawn({ subtask }, first.agent_id)).status, 200, 'one has ended')
})

test('agents-11: no faster than the limits say', async (t) => {
  const daemon = await start(t, undefined, {
    sidechains: {
      max_spawns_per_session_window: 2,
      max_spawns_global_window: 3,
      max_spawn_input_tokens_per_request: 10,
    },
  })
  t.deepEqual(codeOf(await daemon.spawn({ subtask: { name: 'a', content: 'x'.repeat(41) } })), [429, 'rate_limited'])
  t.is((await daemon.spawn({ subtask: { name: 'a', content: 'x'.repeat(40) } })).status, 200)
  t.is((await daemon.spawn({})).status, 200)
  const more = await daemon.spawn({})
  t.deepEqual(codeOf(more), [429, 'rate_limited'])
  t.regex(String(more.headers['retry-after']), /^\d+$/u)
  const other = (await daemon.request('POST', '/v1/sessions', { session_id: 's2' })).body.agent_id
  t.is((await daemon.spawn({}, other)).status, 200)
  t.deepEqual(codeOf(await daemon.spawn({}, other)), [429, 'rate_limited'])
})

test('agents-11: what starts are charged with is bounded too', async (t) => {
  const daemon = await start(t, undefined, { sidechains: { max_spawn_cost_microusd_per_window: 2000 } })
  for (const status of [200, 200, 429]) t.is((await daemon.spawn({})).status, status)
})

test('agents-12: summaries have each agent once, with counts of their scope', async (t) => {
  const daemon = await start(t)
  const child = (await daemon.spawn({ subtask: { name: 'a' } })).body
  await daemon.finished(child.session_id)
  await daemon.spawn({}, child.agent_id)
  await daemon.request('POST', '/v1/sessions', { session_id: 's2' })
  const get = (query: string) => daemon.request('GET', `/v1/agents/summaries${query}`)
  const all = (await get('?page=true')).body
  t.like(all.counts, { total: 4, filtered: 4, idle: 3, completed: 1, with_runtime: 0, without_runtime: 4 })
  const tree = (await get(`?root=${daemon.parent}&page=true&status=completed`)).body
  t.like(tree.counts, { total: 3, filtered: 1, completed: 1 })
  t.deepEqual(
    tree.items.map(({ agent_id }: any) => agent_id),
    [child.agent_id],
  )
  t.like(tree.items[0], { subtask_count: 1, last_output_preview: 'done', queued_run_count: 0 })
  t.is((await get(`?root_agent_id=${child.agent_id}`)).body.length, 2)
  const first = (await get('?limit=3&page=true')).body
  const rest = (await get(`?limit=3&cursor=${first.pagination.next_cursor}`)).body
  t.is(new Set([...first.items, ...rest.items].map(({ agent_id }) => agent_id)).size, 4)
  t.deepEqual(codeOf(await get('?root=nobody')), [404, 'agent_not_found'])
  t.deepEqual(codeOf(await get('?limit=0')), [400, 'invalid_limit'])
  t.deepEqual(codeOf(await get('?cursor=x')), [400, 'invalid_cursor'])
  t.is((await daemon.request('GET', '/v1/agents?limit=2')).body.length, 2)
  t.is((await daemon.request('GET', '/v1/agents')).body.length, 4)
})

test('agents-13: an agent that is to be closed is closed when its work is done', async (t) => {
  const daemon = await start(t)
  const child = (await daemon.spawn({ retention: 'close_on_settle', subtask: { name: 'a' } })).body
  await daemon.finished(child.session_id)
  for (let n = 0; n < 1_000; n += 1) {
    const { agent } = (await daemon.request('GET', `/v1/agents/${child.agent_id}`)).body
    if (agent.closed_at_ms !== undefined) return t.is(agent.status, 'completed')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return t.fail('it is open still')
})

test('agents-14, agents-15: a run starts an agent, waits for it, and reads what it ended with', async (t) => {
  const daemon = await start(t, ({ messages }, count) => {
    const first = JSON.stringify(messages[0])
    if (!first.includes('delegate')) return says('forty-two')
    return count === 1 ? calls('spawn_agent', { name: 'think', prompt: 'What is it?' }) : waited(messages)
  })
  const waited = (messages: readonly unknown[]): ModelEvent[] =>
    JSON.stringify(messages).includes('wait_agent') ? says('done') : calls('wait_agent')
  const { run_id } = await submit(daemon, 's1', 'delegate')
  await until(daemon, run_id, 'completed')
  t.true(daemon.outcomes().includes('forty-two'), daemon.outcomes())
  t.is(await daemon.total(), 2)
  const [child] = (await daemon.request('GET', '/v1/agents/summaries?status=completed')).body.filter(
    ({ name }: any) => name === 'think',
  )
  t.like(child, { spawned_by_run_id: run_id, parent_agent_id: daemon.parent })
})

test('agents-14, runs-55: parents that wait for their children leave them room', async (t) => {
  const daemon = await start(
    t,
    ({ messages }) => {
      const all = JSON.stringify(messages)
      if (!all.includes('delegate')) return says('small')
      if (all.includes('final_output')) return says('done')
      return calls('spawn_agent', { name: 'part', prompt: 'do it', run_in_background: false })
    },
    { config: { runs: { max_concurrent_runs: 2 } } },
  )
  const parents = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      await daemon.request('POST', '/v1/sessions', { session_id: `p${n}` })
      return (await submit(daemon, `p${n}`, 'delegate')).run_id
    }),
  )
  for (const run_id of parents) await until(daemon, run_id, 'completed')
  t.is(await daemon.total(), 41)
})

test('agents-16: an agent of another tree is not there', async (t) => {
  const state = { stranger: '' }
  const daemon = await start(t, ({ messages }) =>
    JSON.stringify(messages).includes('agent_not_found') ? says() : calls('get_agent', { agent_id: state.stranger }),
  )
  state.stranger = (await daemon.request('POST', '/v1/sessions', { session_id: 's2' })).body.agent_id
  const { run_id } = await submit(daemon, 's1', 'look')
  await until(daemon, run_id, 'completed')
  t.true(daemon.outcomes().includes('agent_not_found'))
})

test('agents-9: a profile says how an agent is to bear itself, and a planner plans', async (t) => {
  const daemon = await start(t, ({ messages }) => {
    const all = JSON.stringify(messages)
    if (!all.includes('delegate')) return says('planned')
    return all.includes('final_output')
      ? says()
      : calls('spawn_agent', { name: 'part', prompt: 'do it', agent_type: 'plan', wait: true })
  })
  const { run_id } = await submit(daemon, 's1', 'delegate')
  await until(daemon, run_id, 'completed')
  const child = daemon.asked.find(({ messages }) => !JSON.stringify(messages).includes('delegate'))
  t.regex(child?.system ?? '', /Look at what is there and make a plan; change nothing\./u)
  const { session_id } = (await daemon.request('GET', '/v1/agents/summaries')).body.find(
    ({ name }: any) => name === 'part',
  )
  const check = await daemon.request('POST', '/v1/runtime/permissions/check', { tool_name: 'bash', session_id })
  t.like(check.body, { effective_mode: 'plan', decision: 'deny' })
})
