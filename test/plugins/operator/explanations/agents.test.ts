/** Why agents do nothing, or wait: for work, for agents, for their parent, for mail. */
import test, { type ExecutionContext } from 'ava'
import { rmSync } from 'node:fs'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { call, does, endless, openAgent, spawn, told } from '../../../support/agents.js'
import { freshRoot, startTestDaemon, type Reachable, type TestDaemonOptions } from '../../../support/daemon.js'
import { situation } from '../../../support/explanations.js'
import { rewriteRecord } from '../../../support/rewrite.js'
import { openSession, submit, until } from '../../../support/runs.js'

const asks = call('bash', { command: 'true' })
const spawns = (prompt: string, more: object = {}): string => call('spawn_agent', { name: 'part', prompt, ...more })

const start = async (t: ExecutionContext, options: TestDaemonOptions = {}) => {
  const daemon = await startTestDaemon(t, options)
  return Object.assign(daemon, { parent: await openAgent(daemon) })
}

test('explanations-8: an agent without work says what its last run came to', async (t) => {
  const daemon = await start(t)
  const { parent } = daemon
  await (await situation(t, daemon, 'agent-without-run', { id: parent, codes: ['no_run'] })).move({ TEXT: '/say hi' })
  const { move } = await situation(t, daemon, 'agent-idle-by-session', { id: 's1', codes: ['idle'] })
  await move({ TEXT: '/fail fatal No such model.' })
  const failed = await situation(t, daemon, 'agent-failed', { id: parent, codes: ['last_run', 'not_completed'] })
  await failed.move()
  const { run_id } = await submit(daemon, 's1', '/sleep 3600000')
  await until(daemon, run_id, 'running')
  await situation(t, daemon, 'agent-works', { id: parent, codes: ['model_call'] })
  await daemon.request('POST', '/v1/sessions/s1/interrupt', {})
  await situation(t, daemon, 'agent-interrupted', { id: parent, codes: ['last_run', 'not_completed'] })
  await daemon.request('POST', '/v1/sessions/s1/end', {})
  await (await situation(t, daemon, 'agent-closed', { id: parent, codes: ['closed'] })).move()
})

test('explanations-8, explanations-5: an agent and its session lead to what its run asks', async (t) => {
  const daemon = await start(t)
  const { run_id } = await submit(daemon, 's1', asks)
  await until(daemon, run_id, 'waiting_for_approval')
  await situation(t, daemon, 'agent-asks', { id: daemon.parent, codes: ['approval'] })
  await submit(daemon, 's1', 'hello')
  await submit(daemon, 's1', 'hello')
  const codes = ['approval', 'behind_run', 'queue']
  await (await situation(t, daemon, 'session-asks-and-has-more', { id: 's1', codes })).move()
})

test('explanations-8: agents below one that has nothing to do are told', async (t) => {
  const daemon = await start(t)
  await spawn(daemon, daemon.parent, endless)
  const codes = ['agents_below', 'model_call', 'no_run']
  await situation(t, daemon, 'agent-below', { id: daemon.parent, codes })
  await spawn(daemon, daemon.parent, told(asks))
  await does(daemon, 's1', '/say hi')
  const more = ['agents_below', 'approval', 'idle', 'model_call']
  await situation(t, daemon, 'agents-below', { id: daemon.parent, codes: more })
})

test('explanations-9, explanations-2: a run that waits for agents leads down to what the last of them asks', async (t) => {
  const daemon = await start(t)
  const script = spawns(spawns(asks, { wait: true }), { wait: true })
  const { run_id } = await submit(daemon, 's1', script)
  const codes = ['agents', 'approval', 'tool_waits']
  const { move } = await situation(t, daemon, 'waits-for-grandchild', { id: run_id, codes })
  await situation(t, daemon, 'agent-waits-for-grandchild', { id: daemon.parent, codes })
  await move()
  await until(daemon, run_id, 'completed')
})

test('explanations-9: for all agents, or for any of them, and until when', async (t) => {
  const daemon = await start(t)
  const [slow, asking] = [
    await spawn(daemon, daemon.parent, endless),
    await spawn(daemon, daemon.parent, told('/ask Go on? | Yes | No', 'ask')),
  ].map(({ body }) => body.agent_id)
  const agent_ids = [slow, asking]
  const codes = ['agents', 'model_call', 'question', 'tool_waits']
  const all = (await submit(daemon, 's1', call('wait_agent', { agent_ids, timeout_ms: 60_000 }))).run_id
  await situation(t, daemon, 'waits-for-all', { id: all, codes })
  await daemon.request('POST', `/v1/runs/${all}/cancel`)
  const any = (await submit(daemon, 's1', call('wait_agent', { agent_ids, mode: 'any', timeout_ms: 60_000 }))).run_id
  await situation(t, daemon, 'waits-for-any', { id: any, codes })
})

test('explanations-11: an agent that asks its parent leads to the question in the session of the parent', async (t) => {
  const daemon = await start(t)
  const questions = [{ header: 'Colour', question: 'Which colour?', options: [{ label: 'red' }, { label: 'blue' }] }]
  const { body } = await spawn(daemon, daemon.parent, told(call('request_parent_clarification', { questions })))
  const codes = ['asks_parent', 'question']
  await situation(t, daemon, 'asks-its-parent', { id: body.agent_id, codes })
  const { run_id } = await submit(daemon, 's1', call('wait_agent', { agent_ids: [body.agent_id] }))
  const above = ['agents', 'asks_parent', 'question', 'tool_waits']
  await (await situation(t, daemon, 'waits-for-one-that-asks', { id: run_id, codes: above })).move()
  await until(daemon, run_id, 'completed')
})

test('explanations-10: mail waits behind a run, and for its next attempt', async (t) => {
  const clock = createLeapingClock({ still: true })
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const daemon = await start(t, { clock, root })
  const other = await openAgent(daemon, 's2')
  const post = ({ request }: Reachable = daemon) =>
    request('POST', '/v1/mailboxes', {
      from_agent_id: other,
      to_agent_id: daemon.parent,
      subject: 'hello',
      payload: { text: 'How are you?' },
    })
  const { run_id } = await submit(daemon, 's1', '/sleep 3600000')
  await until(daemon, run_id, 'running')
  await post()
  await situation(t, daemon, 'mail-behind-run', { id: daemon.parent, codes: ['mail', 'model_call'] })
  await post()
  const { move } = await situation(t, daemon, 'mails-behind-run', { id: daemon.parent, codes: ['mail', 'model_call'] })
  await move()
  await situation(t, daemon, 'mail-was-read', { id: daemon.parent, codes: ['idle'] })
  await daemon.stop()
  const held = await start(t, { clock, root, flags: { hold: 'true' } })
  const { message_id } = (await post(held)).body
  await held.stop()
  // As an earlier version took it.
  rewriteRecord(root, { collection: 'mailbox_messages', id: message_id }, (message) => ({
    ...message,
    payload: { asset_ids: ['asset_nope'] },
  }))
  const last = await start(t, { clock, root })
  await last.request('POST', '/v1/release')
  const paused = await situation(t, last, 'mail-in-its-pause', { id: daemon.parent, codes: ['mail'] })
  await paused.move()
})

test('explanations-10: mail that was never read is told while it is kept', async (t) => {
  const daemon = await start(t)
  const [from_agent_id, to_agent_id] = [await openAgent(daemon, 's2'), daemon.parent]
  await daemon.request('POST', '/v1/sessions/s1/end', {})
  const post = () =>
    daemon.request('POST', '/v1/mailboxes', { from_agent_id, to_agent_id, subject: 'hello', payload: {} })
  const { message_id } = (await post()).body
  const codes = ['closed', 'dead_letters']
  await situation(t, daemon, 'dead-mail', { id: to_agent_id, codes })
  await post()
  await situation(t, daemon, 'dead-mails', { id: to_agent_id, codes })
  t.is((await daemon.request('POST', `/v1/agents/${to_agent_id}/mailbox/${message_id}/ack`)).status, 200)
  await situation(t, daemon, 'dead-mail', { id: to_agent_id, codes })
})

test('explanations-10: a daemon that holds reads no mail', async (t) => {
  const daemon = await start(t, { flags: { hold: 'true' } })
  const other = await openAgent(daemon, 's2')
  const [from_agent_id, to_agent_id] = [other, daemon.parent]
  await daemon.request('POST', '/v1/mailboxes', { from_agent_id, to_agent_id, subject: 'hello', payload: {} })
  await openSession(daemon, 's3')
  await situation(t, daemon, 'mail-while-held', { id: daemon.parent, codes: ['daemon_held', 'mail'] })
})
