/** What the tool takes is what the route takes, and neither gives more than the parent has. */
import test, { type ExecutionContext } from 'ava'
import { spawnTool } from '../../../../plugins/agents/sidechains/spawn-tool.js'
import { SpawnSidechainRequest } from '../../../../plugins/agents/sidechains/contract.js'
import { unsafeCast } from '../../../../core/plugin.js'
import { agentOf, call, directed, does, openAgent, resultsIn, settled, spawn, told } from '../../../support/agents.js'
import { board, picture, revise } from '../../../support/boards.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { until } from '../../../support/runs.js'

const scope = {
  capability_scope: { skill_allow: ['one', 'two'] },
  credential_scope: { connector_allow: ['a', 'b'], connector_credential_allow: ['K', 'L'] },
}

const start = async (t: ExecutionContext) => {
  const model = directed()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await daemon.request('POST', '/v1/sessions', { session_id: 's1', ...scope })
  const parent = await openAgent(daemon)
  /** The outputs of these calls, made by one run. */
  const calls = async (...inputs: object[]): Promise<any[]> => {
    await does(daemon, 's1', ...inputs.map((input) => call('spawn_agent', { name: 'x', prompt: '/say hi', ...input })))
    return resultsIn(model.requests.findLast(({ messages }) => JSON.stringify(messages).includes('spawn_agent'))).slice(
      -inputs.length,
    )
  }
  return Object.assign(daemon, { parent, asked: model.requests, calls })
}

test('agents-15: every member of the route has its place in the tool', (t) => {
  const tool = Object.keys(unsafeCast<any>(spawnTool(unsafeCast({}))).input.schema)
  const route = Object.keys(SpawnSidechainRequest.schema)
  const elsewhere: Readonly<Record<string, readonly string[]>> = {
    route_policy: ['provider', 'generation', 'model', 'fallback_model'],
    route_id: ['provider'],
    permission_mode: ['mode'],
    tool_surface: ['allowed_tools', 'blocked_tools'],
    fork_context: ['system_prompt', 'prompt_merge_mode', 'team_name', 'isolation'],
    subtask: ['name', 'description', 'prompt', 'asset_ids', 'input_items'],
    // The call's own key names the request.
    spawn_request_id: [],
  }
  const named = route.flatMap((member) => elsewhere[member] ?? [member])
  for (const member of named) t.true(tool.includes(member), member)
  t.deepEqual(
    tool.filter((member) => !named.includes(member)),
    ['wait', 'run_in_background', 'timeout_ms'],
  )
})

test('agents-5, agents-15: scopes of a call take away, and never give', async (t) => {
  const daemon = await start(t)
  const given = { connector_allow: ['a'], connector_credential_allow: ['K'] }
  const [less, bare, wide, wider] = await daemon.calls(
    { capability_scope: { skill_allow: ['one'] }, credential_scope: given },
    {},
    { capability_scope: { skill_allow: ['three'] } },
    { credential_scope: { connector_allow: ['a', 'c'], connector_credential_allow: ['K'] } },
  )
  t.deepEqual([wide.error.code, wider.error.code], ['agent_widened', 'agent_widened'])
  const session = async (id: string): Promise<any> => (await daemon.request('GET', `/v1/sessions/${id}`)).body
  const { effective_capability_scope, effective_credential_scope } = await session(less.session_id)
  t.deepEqual(effective_capability_scope.skill_allow, ['one'])
  t.like(effective_credential_scope, given)
  const route = (
    await spawn(daemon, daemon.parent, {
      capability_scope: { skill_allow: ['one'] },
      credential_scope: given,
    })
  ).body
  t.deepEqual(effective_capability_scope, route.effective_capability_scope)
  t.deepEqual(effective_credential_scope, route.effective_credential_scope)
  t.deepEqual((await session(bare.session_id)).effective_credential_scope.connector_credential_deny, ['*'])
})

test('agents-3, agents-15: a call says how models are asked, and says it once', async (t) => {
  const daemon = await start(t)
  const [one, same, twice, much] = await daemon.calls(
    { generation: { model: 'demo', max_output_tokens: 77 }, wait: true },
    { generation: { model: 'demo', temperature: 0.5 }, model: 'demo', wait: true },
    { generation: { model: 'demo' }, model: 'other' },
    { generation: { max_output_tokens: 64_001 } },
  )
  t.deepEqual([twice.error.code, much.error.code], ['spawn_conflict', 'rate_limited'])
  t.deepEqual([one.final_output, same.final_output], ['hi', 'hi'])
  const policy = async (id: string): Promise<any> =>
    (await daemon.request('GET', `/v1/sessions/${id}`)).body.route_policy
  t.like((await policy(one.session_id)).generation, { model: 'demo', max_output_tokens: 77 })
  t.like((await policy(same.session_id)).generation, { model: 'demo', temperature: 0.5 })
})

test('agents-14, agents-15: a call that both waits and goes on is refused, and starts none', async (t) => {
  const daemon = await start(t)
  const [both, neither, waits, goes] = await daemon.calls(
    { wait: true, run_in_background: true },
    { wait: false, run_in_background: false },
    { wait: true, run_in_background: false },
    { wait: false },
  )
  for (const { error } of [both, neither]) {
    t.is(error.code, 'spawn_conflict')
    t.regex(error.message, /wait and run_in_background are both (?:true|false)/u)
  }
  t.deepEqual([waits.final_output, waits.run_in_background, goes.run_in_background], ['hi', false, true])
  const agents: any[] = (await daemon.request('GET', '/v1/agents/summaries')).body
  t.is(agents.length, 3)
  t.is((await spawn(daemon, daemon.parent, { wait: true })).body.errors[0].path, 'body.wait', 'the route never waits')
})

test('agents-15: texts, stored files and boards of a call are told behind its prompt', async (t) => {
  const daemon = await start(t)
  const file = { file_name: 'n.txt', media_type: 'text/plain', content_base64: 'Zmlyc3Q=' }
  const { run_id } = (await daemon.request('POST', '/v1/sessions/s1/runs', { content: '/say x', attachments: [file] }))
    .body
  await until(daemon, run_id, 'completed')
  const [{ id: asset_id }] = (await daemon.request('GET', `/v1/runs/${run_id}`)).body.input_attachments
  const input_items = [
    { type: 'text', text: 'from the items' },
    { type: 'asset_reference', asset_id },
    { type: 'board_reference', board_id: 'b' },
  ]
  await board(daemon, 'b')
  await revise(daemon, 'b', { render_asset_id: await picture(daemon) })
  const [told, gone] = await daemon.calls(
    { prompt: '', input_items, wait: true },
    { input_items: [{ type: 'asset_reference', asset_id: 'asset_nope' }] },
  )
  t.is(told.last_run_status, 'completed', JSON.stringify(told))
  t.is(gone.error.code, 'asset_not_found')
  const [run] = (await daemon.request('GET', `/v1/runs?session_id=${told.session_id}`)).body
  t.is(run.input_attachments[0].id, asset_id)
  t.is(run.input_attachments.length, 3, 'the board is a picture and its words')
  t.regex(run.request.text_preview, /from the items/u)
})

test('agents-9, agents-15: a person says what an agent is there for, as a model does', async (t) => {
  const daemon = await start(t)
  const { body } = await spawn(daemon, daemon.parent, { agent_type: 'plan', ...told('/say planned') })
  await settled(daemon, body.agent_id)
  const [row] = (await daemon.request('GET', `/v1/agents/${body.agent_id}/audit`)).body
  t.like(row, { profile: 'plan', permission_mode: 'plan' })
  t.is((await spawn(daemon, daemon.parent, { agent_type: 'wizard' })).status, 400)
  t.is((await agentOf(daemon, body.agent_id)).status, 'completed')
})
