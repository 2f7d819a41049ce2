/** Hooks that have an agent look before they rule. */
import test, { type ExecutionContext } from 'ava'
import path from 'node:path'
import type { JsonObject } from '../../../../core/plugin.js'
import type { ModelRequest } from '../../../../plugins/execution/models/contract.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { copyRoot } from '../../../support/crash.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { echoing } from '../../../support/interceptors.js'
import { inStatus, publish, startFlow, untilFlow } from '../../../support/flows.js'
import { openSession, submit, until } from '../../../support/runs.js'

const isHook = ({ messages }: ModelRequest): boolean => JSON.stringify(messages[0]).includes('<hook_input>')

/** Runs call echo once; agents of hooks look into the workspace, and then say what the test wants. */
const start = async (t: ExecutionContext, say: () => string, config: JsonObject = {}) => {
  const tool = echoing()
  const model = scriptedProvider((request) => {
    const isFirst = request.messages.at(-1)?.role === 'user'
    if (!isHook(request))
      return isFirst ? [callTool('c1', 'echo', { text: 'plain' }), done('tool_calls')] : [text('Done.'), done()]
    return isFirst ? [callTool('look', 'list_files', {}), done('tool_calls')] : [text(say()), done()]
  })
  const daemon = await startTestDaemon(t, {
    plugins: [tool.plugin, model.plugin],
    config: { ...model.config, ...config },
  })
  await openSession(daemon)
  const set = (executor: object, more: object = {}) =>
    daemon.request('POST', '/v1/runtime/hooks', {
      hooks: { pre_tool_use: [{ name: 'judge', executor: { type: 'agent', ...executor }, ...more }] },
    })
  const run = async () => until(daemon, (await submit(daemon, 's1', 'go')).run_id, 'completed', 'failed')
  const agents = async (): Promise<any[]> =>
    (await daemon.request('GET', '/v1/agents/summaries')).body.filter(({ path }: any) => path !== undefined)
  return Object.assign(daemon, { set, run, agents, made: tool.calls, asked: () => model.requests.filter(isHook) })
}

const template = 'Is this harmless? Look at $ARGUMENTS.'

test('hooks-34: an agent looks with tools that only read, and its last answer is the outcome', async (t) => {
  let say = '{"decision":"block","reason":"not today"}'
  const daemon = await start(t, () => say, { runs: { max_concurrent_runs: 1 } })
  t.is((await daemon.set({ template, tool_surface: { allowlist: ['list_files', 'write_file'] } })).status, 200)
  t.is((await daemon.run()).status, 'completed', 'its place is that of the agent meanwhile')
  t.deepEqual(daemon.made, [])
  const [agent, ...more] = await daemon.agents()
  t.deepEqual(more, [], 'what it does itself is looked at by no agent')
  t.like(agent, { path: '/hook', status: 'completed' })
  t.truthy(agent.closed_at_ms)
  const names = daemon.asked()[0]?.tools.map(({ name }) => name)
  t.deepEqual(names?.toSorted(), ['list_files', 'write_file'])
  await daemon.set({ template })
  await daemon.run()
  const all =
    daemon
      .asked()
      .at(-1)
      ?.tools.map(({ name }) => name) ?? []
  t.true(all.includes('list_files'))
  t.deepEqual(
    all.filter((name) => /^ask_|clarification/u.test(name)),
    [],
    'it asks nobody',
  )
  await daemon.set({ template, tool_surface: { allowlist: ['list_files', 'write_file'] } })
  say = '{}'
  await daemon.run()
  t.is(daemon.made.length, 1)
})

test('hooks-34: an agent that looks at prompts is not what it looks at', async (t) => {
  const daemon = await start(t, () => '{}')
  const hook = { name: 'judge', executor: { type: 'agent', template } }
  await daemon.request('POST', '/v1/runtime/hooks', { hooks: { user_prompt_submit: [hook] } })
  await daemon.run()
  t.is((await daemon.agents()).length, 1)
})

test('hooks-34: an agent that gives no outcome is a hook that failed', async (t) => {
  const daemon = await start(t, () => 'I do not know.')
  await daemon.set({ template }, { failure_policy: { mode: 'closed' } })
  await daemon.run()
  t.deepEqual(daemon.made, [])
  await daemon.set({ template })
  await daemon.run()
  t.is(daemon.made.length, 1, 'open')
  const { dead_letters } = (await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body
  t.regex(dead_letters[0].error, /no JSON object: I do not know\.$/u)
  t.is((await daemon.set({ template, model: { provider: 'nope' } })).body.code, 'invalid_hook_settings')
})

test('hooks-34: an agent that needs more answers than it has is a hook that failed', async (t) => {
  const daemon = await start(t, () => '{"decision":"block","reason":"not today"}')
  const closed = { failure_policy: { mode: 'closed' } }
  for (const max_turns of [0, 1.5, '2']) t.is((await daemon.set({ template, max_turns })).status, 400)
  await daemon.set({ template, max_turns: 1 }, closed)
  await daemon.run()
  const { dead_letters } = (await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body
  t.regex(dead_letters[0].error, /turn_limit: the run used its 1 turns/u)
  t.is(daemon.asked().length, 1)
  await daemon.set({ template, max_turns: 2 }, closed)
  await daemon.run()
  t.is((await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body.dead_letters.length, dead_letters.length)
  t.deepEqual(daemon.made, [])
  t.is((await daemon.request('GET', '/v1/runtime/hooks')).body.hooks.pre_tool_use[0].executor.max_turns, 2)
})

test('hooks-34: when its time is over nothing of the agent goes on', async (t) => {
  const tool = echoing()
  const model = scriptedProvider((request, _, signal) => {
    if (isHook(request)) return slow(signal)
    const isFirst = request.messages.at(-1)?.role === 'user'
    return isFirst ? [callTool('c1', 'echo', { text: 'plain' }), done('tool_calls')] : [text('Done.'), done()]
  })
  const daemon = await startTestDaemon(t, { plugins: [tool.plugin, model.plugin], config: model.config })
  await openSession(daemon)
  const hook = { name: 'judge', executor: { type: 'agent', template, timeout_ms: 300 } }
  const ask = async (more: object): Promise<any> => {
    await daemon.request('POST', '/v1/runtime/hooks', { hooks: { pre_tool_use: [{ ...hook, ...more }] } })
    await until(daemon, (await submit(daemon, 's1', 'go')).run_id, 'completed')
    return (await daemon.request('GET', '/v1/runtime/hooks/dead-letter')).body.dead_letters
  }
  t.is((await ask({ failure_policy: { mode: 'closed' } }))[0].error, 'it took longer than 300 ms')
  t.is(tool.calls.length, 0, 'a guard that must not fail lets nothing pass')
  t.is((await ask({})).length, 2)
  t.is(tool.calls.length, 1)
  for (let n = 0; n < 400; n += 1) {
    const runs: any[] = (await daemon.request('GET', '/v1/runs')).body
    if (runs.every(({ status }) => status === 'completed' || status === 'cancelled')) return t.is(runs.length, 4)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return t.fail('its run goes on')
})

test('hooks-34: after a kill another agent looks, and what the first one did is cancelled', async (t) => {
  const tool = echoing()
  let isLooking = (): void => {}
  const looking = new Promise<void>((resolve) => {
    isLooking = resolve
  })
  const hangs = scriptedProvider((request, _, signal) => {
    if (!isHook(request)) return [callTool('c1', 'echo', { text: 'plain' }), done('tool_calls')]
    isLooking()
    return slow(signal)
  })
  const first = await startTestDaemon(t, { plugins: [tool.plugin, hangs.plugin], config: hangs.config })
  await openSession(first)
  const hook = { name: 'judge', executor: { type: 'agent', template } }
  await first.request('POST', '/v1/runtime/hooks', { hooks: { pre_tool_use: [hook] } })
  const { run_id } = await submit(first, 's1', 'go')
  await looking
  const root = path.join(await freshRoot(), 'root')
  copyRoot(first.root, root)
  await first.stop()
  const answers = scriptedProvider((request) => {
    if (isHook(request)) return [text('{}'), done()]
    const isFirst = request.messages.at(-1)?.role === 'user'
    return isFirst ? [callTool('c1', 'echo', { text: 'plain' }), done('tool_calls')] : [text('Done.'), done()]
  })
  const second = await startTestDaemon(t, { root, plugins: [tool.plugin, answers.plugin], config: answers.config })
  await until(second, run_id, 'completed')
  const agents = (await second.request('GET', '/v1/agents/summaries')).body.filter(({ name }: any) => name === 'hook')
  t.deepEqual(
    agents.map(({ closed_at_ms, has_runtime }: any) => [closed_at_ms !== undefined, has_runtime]),
    [
      [true, false],
      [true, false],
    ],
  )
  const runs: any[] = (await second.request('GET', '/v1/runs')).body
  t.deepEqual(runs.map(({ status }) => status).toSorted(), ['cancelled', 'completed', 'completed'])
  t.is(answers.requests.filter(isHook).length, 1, 'the first one asks no model any more')
})

test('hooks-34: agents of hooks are none that the run started: of its quota, its waits and its flow', async (t) => {
  const tool = echoing()
  let calls = 0
  const model = scriptedProvider((request) => {
    if (isHook(request)) return [text('{}'), done()]
    calls += 1
    if (calls <= 7) return [callTool(`c${calls}`, 'echo', { text: 'plain' }), done('tool_calls')]
    return calls === 8 ? [callTool('wait', 'wait_agent', {}), done('tool_calls')] : [text('Done.'), done()]
  })
  const daemon = await startTestDaemon(t, { plugins: [tool.plugin, model.plugin], config: model.config })
  await openSession(daemon)
  const hook = { name: 'judge', executor: { type: 'agent', template }, failure_policy: { mode: 'closed' } }
  await daemon.request('POST', '/v1/runtime/hooks', { hooks: { pre_tool_use: [hook] } })
  const { flow_id } = (await startFlow(daemon, { playbook_ref: await publish(daemon) })).body
  const flow = await untilFlow(daemon, flow_id, inStatus('succeeded', 'failed', 'cancelled'))
  t.is(flow.status, 'succeeded')
  t.deepEqual([flow.primitive_refs.agent_ids, flow.primitive_refs.run_ids], [[], [flow.run_id]])
  t.is(tool.calls.length, 7, 'a run has more calls looked at than it may start agents')
  const waited = JSON.stringify(model.requests.findLast((request) => !isHook(request))?.messages)
  t.true(waited.includes('"agents":[]'), waited)
})

async function* slow(signal: AbortSignal) {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  yield done()
}
