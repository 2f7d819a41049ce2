/** What agents may that others started, and how runs wait for them, over HTTP. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'
import { callTool, done, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf, submit, until } from '../../../support/runs.js'

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
