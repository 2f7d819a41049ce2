/** What would become of a start, how much of the limits is used, and names for people. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf } from '../../../support/runs.js'

const start = async (t: ExecutionContext, config: JsonObject = {}) => {
  const model = scriptedProvider(() => [text('done'), done()])
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, sidechains: config },
  })
  const { agent_id } = (await daemon.request('POST', '/v1/sessions', { session_id: 's1' })).body
  const spawn = (body: JsonObject = {}) => daemon.request('POST', `/v1/agents/${agent_id}/sidechains`, body)
  const explain = (body: JsonObject = {}) => daemon.request('POST', `/v1/agents/${agent_id}/sidechains/explain`, body)
  const count = async (): Promise<number> => (await daemon.request('GET', '/v1/agents/summaries')).body.length
  return Object.assign(daemon, { agent_id, spawn, explain, count })
}

test('agents-17: an explanation says what an agent would be, or why it would not, and starts none', async (t) => {
  const daemon = await start(t, { max_spawns_global_window: 1 })
  const { body } = await daemon.explain({
    permission_mode: 'plan',
    subtask: { name: 'look' },
    tool_surface: { allowlist: ['read_file'] },
  })
  t.like(body, { allowed: true, depth: 1, path: '/look', permission_mode: 'plan' })
  t.deepEqual(body.tool_surface, { allowlist: ['read_file'], denylist: [] })
  t.like((await daemon.explain({ permission_mode: 'bypassPermissions' })).body, {
    allowed: false,
    code: 'agent_widened',
  })
  t.is(await daemon.count(), 1)
  t.is((await daemon.spawn()).status, 200)
  t.like((await daemon.explain()).body, { allowed: false, code: 'rate_limited' })
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/agents/nobody/sidechains/explain', {})), [
    404,
    'agent_not_found',
  ])
})

test('agents-17: the quotas tell the limits, and what of them is used', async (t) => {
  const daemon = await start(t, { max_child_depth: 2 })
  const quotas = async () => (await daemon.request('GET', '/v1/runtime/subagent-policy/quotas')).body
  t.like(await quotas(), { started_in_window: 0, live_sidechains: 0, cost_microusd_in_window: 0 })
  await daemon.spawn()
  await daemon.spawn()
  const used = await quotas()
  t.like(used, { started_in_window: 2, cost_microusd_in_window: 2000, cpu_ms_in_window: 2000 })
  t.like(used.limits, { max_child_depth: 2, max_spawns_per_run: 6 })
  await daemon.request('POST', '/v1/sessions', { session_id: 's2' })
  const { agent_id } = (await daemon.request('GET', '/v1/sessions/s2')).body
  await daemon.request('POST', `/v1/agents/${agent_id}/sidechains`, { agent_type: 'plan' })
  const { profiles_in_window, sessions_in_window } = await quotas()
  t.deepEqual(profiles_in_window, [
    { profile: 'default', started: 2, most: 60 },
    { profile: 'plan', started: 1, most: 60 },
  ])
  t.deepEqual(sessions_in_window, [
    { session_id: 's1', started: 2, most: 60 },
    { session_id: 's2', started: 1, most: 60 },
  ])
  const { out } = await createCommandLine(daemon)('agents', 'quotas')
  for (const told of ['1 of 60 as plan\n', '2 of 60 by session s1\n']) t.true(out.includes(told), out)
})

test('agents-17: the quotas tell the limits that hold, those of rules with them', async (t) => {
  const rules = [
    { selector: {}, limits: { max_child_depth: 3 } },
    { selector: { profile: 'verification' }, limits: { max_spawns_per_profile_window: 1 }, label: 'few checks' },
    { selector: { session_id: 's1' }, limits: { max_spawns_per_session_window: 5 } },
  ]
  const daemon = await start(t, { rules })
  for (const agent_type of ['verification', 'default']) t.is((await daemon.spawn({ agent_type })).status, 200)
  t.deepEqual(codeOf(await daemon.spawn({ agent_type: 'verification' })), [429, 'rate_limited'])
  const { body } = await daemon.request('GET', '/v1/runtime/subagent-policy/quotas')
  t.deepEqual(body.rules, rules)
  t.is(body.limits.max_child_depth, 3, 'this one is for all starts')
  t.deepEqual(body.profiles_in_window, [
    { profile: 'default', started: 1, most: 60 },
    { profile: 'verification', started: 1, most: 1 },
  ])
  t.deepEqual(body.sessions_in_window, [{ session_id: 's1', started: 2, most: 5 }])
  const { out } = await createCommandLine(daemon)('agents', 'quotas')
  const lines = ['1 of 1 as verification', '2 of 5 by session s1', 'be 3 deep']
  for (const told of [...lines, '  few checks, profile verification: max_spawns_per_profile_window 1\n'])
    t.true(out.includes(told), out)
})

test('agents-11, command-line-2: who is refused a start is told to wait only where that helps', async (t) => {
  const daemon = await start(t, { max_spawn_input_tokens_per_request: 10 })
  const line = createCommandLine(daemon)
  const long = await daemon.spawn({ subtask: { name: 'x', content: 'much '.repeat(20) } })
  t.deepEqual(codeOf(long), [429, 'rate_limited'])
  t.is(long.headers['retry-after'], undefined)
  const { err } = await line('agents', 'spawn', daemon.agent_id, 'x', 'much '.repeat(20))
  t.regex(err, /more than 10 tokens[^]*Ask for less, or raise the limit/u)
  const named = await line('agents', 'nickname', daemon.agent_id, 'Root')
  t.regex(named.err, /has no name for people: nobody started it/u)
  await daemon.request('POST', '/v1/sessions', { session_id: 'over' })
  const { agent_id } = (await daemon.request('GET', '/v1/sessions/over')).body
  await daemon.request('POST', '/v1/sessions/over/end', {})
  const closed = await line('agents', 'spawn', agent_id, 'x', 'y')
  t.regex(closed.err, /is closed/u)
  for (const said of [err, named.err, closed.err]) t.notRegex(said, /\bwait\b|\bnow\b|This agent cannot be/iu)
  const few = await start(t, { max_spawns_global_window: 1 })
  await few.spawn()
  const soon = await createCommandLine(few)('agents', 'spawn', few.agent_id, 'x', 'y')
  t.regex(soon.err, /within the window[^]*Wait \d+ (?:s|min) and try again\./u)
})

test('agents-18: a name for people is more than blanks, and only agents that were started have one', async (t) => {
  const daemon = await start(t)
  const child = (await daemon.spawn()).body
  const call = (agent_id: string, nickname: string) =>
    daemon.request('PUT', `/v1/agents/${agent_id}/nickname`, { nickname })
  t.deepEqual(codeOf(await call(child.agent_id, '  ')), [400, 'bad_request'])
  t.deepEqual(codeOf(await daemon.spawn({ nickname: ' ' })), [400, 'bad_request'])
  const refused = await call(daemon.agent_id, 'Root')
  t.deepEqual(codeOf(refused), [409, 'conflict'])
  t.notRegex(refused.body.detail, /started: /u)
})

test('agents-18: people give an agent a name, change it and take it away', async (t) => {
  const daemon = await start(t)
  const child = (await daemon.spawn({ nickname: 'First' })).body.agent_id
  const at = (of: string) => `/v1/agents/${of}/nickname`
  const put = (nickname: string, of = child) => daemon.request('PUT', at(of), { nickname })
  t.is(
    (await daemon.request('PUT', `/v1/agents/${child}/nickname`, { nickname: 'Second' })).body.agent.nickname,
    'Second',
  )
  t.is(
    (await daemon.request('POST', `/v1/agents/${child}/nickname`, { nickname: 'Third' })).body.agent.nickname,
    'Third',
  )
  t.is((await daemon.request('GET', `/v1/agents/${child}`)).body.agent.nickname, 'Third')
  t.is((await daemon.request('DELETE', `/v1/agents/${child}/nickname`)).body.agent.nickname, undefined)
  t.deepEqual(codeOf(await put('')), [400, 'bad_request'])
  t.deepEqual(codeOf(await put('x', 'nobody')), [404, 'agent_not_found'])
  t.deepEqual(codeOf(await put('x', daemon.agent_id)), [409, 'conflict'])
})

test('agents-17: what the session, the route or the scope refuses is told too, and nothing is left', async (t) => {
  const daemon = await start(t)
  const refused: readonly (readonly [JsonObject, string])[] = [
    [{ provider: 'nope' }, 'bad_request'],
    [{ session_id: 's1' }, 'conflict'],
    [{ credential_scope: { route_deny: ['*'] } }, 'route_not_allowed'],
    [{ credential_scope: { route_allow: [' '] } }, 'blank_scope_entry'],
    [{ subtask: { name: 'x', input_items: [{ type: 'asset_reference', asset_id: 'asset_nope' }] } }, 'asset_not_found'],
  ]
  for (const [body, code] of refused) {
    const told = (await daemon.explain(body)).body
    t.like(told, { allowed: false }, JSON.stringify(body))
    const real = await daemon.spawn(body)
    t.is(told.code, real.body.code, code)
  }
  t.is((await daemon.explain({ spawn_request_id: 'r1', subtask: { name: 'x' } })).body.allowed, true)
  t.is(await daemon.count(), 1)
  t.is((await daemon.request('GET', '/v1/runs')).body.length, 0)
  const made = await daemon.spawn({ spawn_request_id: 'r1', subtask: { name: 'x' } })
  t.is(made.status, 200)
  t.like((await daemon.explain({ spawn_request_id: 'r1', subtask: { name: 'x' } })).body, {
    code: 'idempotency_conflict',
  })
})
