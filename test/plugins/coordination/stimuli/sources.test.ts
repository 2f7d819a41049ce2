/** What the runs of a channel make works for its threads, and tells its results there. */
import test from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { checkTool } from '../../../conform/tool.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { ToolRegistry } from '../../../../plugins/execution/tools/contract.js'
import { testPlugin } from '../../../support/plugins.js'
import { codeOf } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'
import { startTalk } from './talk.js'

/** Calls a tool when it is asked in the channel, and says something by emit_output when a schedule asks. */
const scripted = (name: string, input: JsonObject) =>
  scriptedProvider((request) => {
    const asked = JSON.stringify(request.messages.at(-1))
    if (request.messages.at(-1)?.role !== 'user') return [text('ok'), done()]
    if (asked.includes('the report'))
      return [callTool('e1', 'emit_output', { content: 'All is well.' }), done('tool_calls')]
    return [callTool('t1', name, input), done('tool_calls')]
  })

test('stimuli-13, stimuli-16: a schedule that a run of a thread makes is bound to it, and its result is told there', async (t) => {
  const model = scripted('wake_after', { delay_seconds: 1, message: 'Give the report.' })
  const daemon = await startTalk(t, { plugins: [model.plugin], config: model.config })
  const root = (await daemon.post('A: report to us')).message_id
  const [work] = await daemon.eventually(
    () => daemon.work(),
    (all) => all.length > 0,
  )
  t.like(work, { thread_root_message_id: root, topic_kind: 'human', status: work.status })
  t.like(work.bindings[0], { binding_kind: 'schedule' })
  const said = await daemon.eventually(
    () => daemon.messages(),
    (all) => all.some(({ metadata }) => metadata?.stimulus_kind === 'schedule_result'),
  )
  const result = said.find(({ metadata }) => metadata?.stimulus_kind === 'schedule_result')
  t.like(result, { output: { content: 'All is well.' }, thread_root_message_id: root, sender: { id: 'system' } })
  const [stimulus] = await daemon.stimuli()
  const schedule_id = stimulus.source_ref
  t.like(stimulus, {
    source_kind: 'schedule',
    dedupe_key: `schedule:${schedule_id}`,
    progress_key: `schedule:${schedule_id}:latest`,
    metadata: { schedule_id, status: 'completed' },
  })
  const [{ bindings }] = await daemon.work()
  const bound = bindings.find(({ binding_ref }: any) => binding_ref === schedule_id)
  t.like(bound, { binding_kind: 'schedule', latest_stimulus_id: stimulus.stimulus_id })
})

test('stimuli-13: an agent that a run of a thread starts is bound to it', async (t) => {
  const model = scripted('spawn_agent', { name: 'helper', prompt: 'the report' })
  const daemon = await startTalk(t, { plugins: [model.plugin], config: model.config })
  await daemon.post('A: get help')
  const [work] = await daemon.eventually(
    () => daemon.work(),
    (all) => all.length > 0,
  )
  t.like(work, { topic_kind: 'human', status: 'proposed' })
  const { body } = await daemon.request('GET', '/v1/agents/summaries?limit=100')
  const agents = body.items ?? body
  const child = agents.find(({ parent_agent_id }: any) => parent_agent_id !== undefined)
  t.like(work.bindings[0], { binding_kind: 'sidechain_agent' })
  t.true(
    work.bindings.some(({ binding_ref }: any) => binding_ref === child?.agent_id),
    JSON.stringify(body).slice(0, 400),
  )
})

test('stimuli-17: a model has something said in channels that its session is a member of, and in no others', async (t) => {
  const workspace = await makeFolder(t)
  let tools: ToolRegistry | undefined
  const seen = testPlugin('seen', {
    needs: { tools: ToolRegistry },
    register(_, services) {
      tools = services.tools
    },
  })
  const daemon = await startTalk(t, { plugins: [seen] })
  const tool = tools?.find('create_channel_stimulus') as never
  await checkTool(t, { tool, good: { channel_id: 'garden', content: 'x' }, workspace })
  await daemon.request('POST', '/v1/sessions', { session_id: 'stranger' })
  const call = async (session_id: string, input: object): Promise<any> => {
    const content = `/tool create_channel_stimulus ${JSON.stringify(input)}`
    const { body } = await daemon.request('POST', `/v1/sessions/${session_id}/runs`, { content })
    await daemon.eventually(
      async () => (await daemon.request('GET', `/v1/runs/${body.run_id}`)).body,
      ({ status }) => status === 'completed',
    )
    const { session } = (await daemon.request('GET', `/v1/sessions/${session_id}/events`)).body
    return { run_id: body.run_id, ...session.journal.findLast(({ type }: any) => type === 'outcome').entry }
  }
  const kept = await call('A', { channel_id: 'garden', content: 'An idea of mine.' })
  t.is(kept.state, 'done')
  const [stimulus] = await daemon.stimuli()
  t.like(stimulus, {
    kind: 'agent_idea',
    scope: 'channel',
    sender_session_id: 'A',
    source_kind: 'agent_idea',
    source_ref: kept.run_id,
    metadata: { requested_by_session_id: 'A', requested_by_run_id: kept.run_id },
  })
  for (const input of [
    { channel_id: 'garden', content: 'x' },
    { channel_id: 'none', content: 'x' },
  ])
    t.is((await call('stranger', input)).output.error.code, 'channel_not_found')
  t.is(
    (await call('A', { channel_id: 'garden', content: 'x', scope: 'thread' })).output.error.code,
    'channel_invalid_request',
  )
  t.is((await daemon.stimuli()).length, 1)
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/channels/none/stimuli')), [404, 'channel_not_found'])
})
