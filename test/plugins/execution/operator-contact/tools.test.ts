import test from 'ava'
import type { AnyPlugin, Point } from '../../../../core/plugin.js'
import { checkTool } from '../../../conform/tool.js'
import { type ReplyPlugin, ReplyPlugins } from '../../../../plugins/execution/deliveries/contract.js'
import { SessionEndGuards, SessionHolds, Sessions } from '../../../../plugins/execution/sessions/contract.js'
import { ToolRegistry } from '../../../../plugins/execution/tools/contract.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { makeFolder } from '../../../support/tools.js'
import { testPlugin } from '../../../support/plugins.js'
import { createSource, send } from '../../capture/observations/uploading.js'

const pigeon: ReplyPlugin = {
  plugin: 'pigeon',
  address: () => undefined,
  refuse: (address) => (address === 'lost' ? 'must not be lost' : undefined),
  target: () => 'pigeon',
  deliver: () => Promise.resolve({ type: 'delivered' }),
}

/** A plugin that contributes one value, and shows what it is given. */
const extra = <T>(
  point: Point<T>,
  value: T,
  seen: (services: { sessions: Sessions; tools: ToolRegistry }) => void = () => {},
): AnyPlugin =>
  testPlugin('extra', {
    needs: { sessions: Sessions, tools: ToolRegistry },
    register(ctx, services) {
      seen(services)
      ctx.contribute(point, value)
    },
  })

const targets = (...addresses: string[]) => ({
  reply_targets: addresses.map((address) => ({ type: 'raw', plugin: 'pigeon', address })),
})

const called = async (daemon: TestDaemon, name: string, input: object): Promise<any> => {
  const run = await until(
    daemon,
    (await submit(daemon, 's1', `/tool ${name} ${JSON.stringify(input)}`)).run_id,
    'completed',
    'waiting_for_user_question',
  )
  const { body } = await daemon.request('GET', '/v1/sessions/s1/events')
  const outcome = body.session.journal.findLast(({ run_id, type }: any) => run_id === run.run_id && type === 'outcome')
  return { run, outcome: outcome?.entry, outputs: run.outputs ?? [] }
}

test('notify_operator keeps the contract of tools', async (t) => {
  const workspace = await makeFolder(t)
  let found: { sessions: Sessions; tools: ToolRegistry } | undefined
  const daemon = await startTestDaemon(t, {
    plugins: [
      extra(ReplyPlugins, pigeon, (services) => {
        found = services
      }),
    ],
  })
  await openSession(daemon)
  await daemon.request('PUT', '/v1/sessions/s1/reply-targets', targets('north'))
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true })
  const toolOf = (name: string) => found?.tools.find(name) ?? t.fail()
  await checkTool(t, {
    tool: toolOf('notify_operator') as never,
    workspace,
    good: { message: 'Look.' },
    correctable: { message: ' ' },
  })
})

test('a model notifies the operator through the targets of the session, if it may', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [extra(ReplyPlugins, pigeon)] })
  await openSession(daemon)
  const refused = await called(daemon, 'notify_operator', { message: 'x' })
  t.deepEqual([refused.outcome.state, refused.outcome.output.error.code], ['failed', 'operator_contact_off'])
  t.is(
    (await daemon.request('PUT', '/v1/sessions/s1/reply-targets', targets('north', 'south', 'north'))).body
      .reply_targets.length,
    2,
  )
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: false })
  t.is((await called(daemon, 'notify_operator', { message: 'x' })).outcome.output.error.code, 'operator_contact_off')
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true })
  const sent = await called(daemon, 'notify_operator', { message: ' The disk is full. ' })
  t.deepEqual([sent.outcome.state, sent.outcome.output], ['done', { queued: 2 }])
  t.like(sent.outputs[0], { content: 'The disk is full.', source_kind: 'operator_notification' })
  await daemon.request('DELETE', '/v1/sessions/s1/operator')
  t.is((await called(daemon, 'notify_operator', { message: 'x' })).outcome.output.error.code, 'operator_contact_off')
})

test('sessions-34: a model is told of the tools by which it may reach the operator, and of no others', async (t) => {
  let tools: ToolRegistry | undefined
  const seen = extra(ReplyPlugins, pigeon, (services) => {
    tools = services.tools
  })
  const daemon = await startTestDaemon(t, { plugins: [seen] })
  await openSession(daemon)
  const told = () => ['ask_operator', 'notify_operator'].filter((name) => tools?.find(name, 's1') !== undefined)
  t.deepEqual(told(), [])
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: false })
  t.deepEqual(told(), ['ask_operator'])
  await daemon.request('PUT', '/v1/sessions/s1/reply-targets', targets('north'))
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_questions: false })
  t.deepEqual(told(), ['notify_operator'])
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true })
  t.deepEqual(told(), ['ask_operator', 'notify_operator'])
  t.is(tools?.list().filter(({ name }) => name.endsWith('_operator')).length, 2)
})

test('a model asks the operator an ordinary question, if it may, and without any reply target', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const input = { questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }] }
  t.is((await called(daemon, 'ask_operator', input)).outcome.output.error.code, 'operator_contact_off')
  await daemon.request('PUT', '/v1/sessions/s1/operator', {
    enabled: true,
    allow_notify: false,
    allow_questions: false,
  })
  t.is((await called(daemon, 'ask_operator', input)).outcome.output.error.code, 'operator_contact_off')
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: false })
  const { run } = await called(daemon, 'ask_operator', input)
  t.is(run.status, 'waiting_for_user_question')
  const [pending] = (await daemon.request('GET', '/v1/questions')).body
  t.is(pending.request.questions[0].question, 'Which?')
})

test(
  'a target that its plugin refuses by now is not deliverable: the contact cannot be switched on, and a notice is ' +
    'refused',
  async (t) => {
    const root = await makeFolder(t)
    const first = await startTestDaemon(t, { root, plugins: [extra(ReplyPlugins, pigeon)] })
    await openSession(first)
    t.deepEqual(codeOf(await first.request('PUT', '/v1/sessions/s1/reply-targets', targets('lost'))), [
      400,
      'reply_target_invalid',
    ])
    await first.request('PUT', '/v1/sessions/s1/reply-targets', targets('north'))
    await first.request('PUT', '/v1/sessions/s1/operator', { enabled: true })
    await first.stop()
    const second = await startTestDaemon(t, { root })
    t.is((await called(second, 'notify_operator', { message: 'x' })).outcome.output.error.code, 'operator_unreachable')
    t.deepEqual(
      codeOf(await second.request('PUT', '/v1/sessions/s1/operator', { enabled: true, display_name: 'Robin' })),
      [400, 'reply_targets_needed'],
    )
  },
)

test('targets cannot be cleared while the model may notify through them', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: [extra(ReplyPlugins, pigeon)] })
  await openSession(daemon)
  await daemon.request('PUT', '/v1/sessions/s1/reply-targets', targets('north'))
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true })
  t.deepEqual(codeOf(await daemon.request('DELETE', '/v1/sessions/s1/reply-targets')), [400, 'reply_targets_needed'])
  t.deepEqual(codeOf(await daemon.request('PUT', '/v1/sessions/s1/reply-targets', { reply_targets: [] })), [
    400,
    'reply_targets_needed',
  ])
  t.is((await daemon.request('GET', '/v1/sessions/s1/reply-targets')).body.reply_targets.length, 1)
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: false })
  t.is((await daemon.request('DELETE', '/v1/sessions/s1/reply-targets')).status, 200)
})

test('sessions-11: a plugin keeps a session from being idle, with its own words', async (t) => {
  let reason: string | undefined = 'a letter in its mailbox'
  const daemon = await startTestDaemon(t, { plugins: [extra(SessionHolds, { id: 'post', holds: () => reason })] })
  await openSession(daemon)
  const answer = await daemon.request('PUT', '/v1/sessions/s1/capability-scope', {
    capability_scope: { skill_deny: ['*'] },
  })
  t.deepEqual(codeOf(answer), [409, 'session_not_idle'])
  t.regex(answer.body.detail, /it has a letter in its mailbox/u)
  reason = undefined
  t.is(
    (await daemon.request('PUT', '/v1/sessions/s1/capability-scope', { capability_scope: { skill_deny: ['*'] } }))
      .status,
    200,
  )
})

test('sessions-31: a plugin keeps a session from being ended: nothing is changed, and its runs go on', async (t) => {
  let reason: string | undefined = 'it is a member of project p1'
  const daemon = await startTestDaemon(t, {
    plugins: [
      extra(SessionEndGuards, { id: 'club', veto: ({ session_id }) => (session_id === 's1' ? reason : undefined) }),
    ],
  })
  await openSession(daemon)
  const waiting = await until(
    daemon,
    (await submit(daemon, 's1', '/ask Which? | A | B')).run_id,
    'waiting_for_user_question',
  )
  const queued = await submit(daemon, 's1', 'later')
  const before = (await daemon.request('GET', '/v1/sessions/s1')).body
  const answer = await daemon.request('POST', '/v1/sessions/s1/end', { reason: 'x' })
  t.deepEqual(codeOf(answer), [409, 'session_end_refused'])
  t.regex(answer.body.detail, /it is a member of project p1/u)
  t.deepEqual((await daemon.request('GET', '/v1/sessions/s1')).body, before)
  t.is((await daemon.request('GET', `/v1/runs/${waiting.run_id}`)).body.status, 'waiting_for_user_question')
  t.is((await daemon.request('GET', `/v1/runs/${queued.run_id}`)).body.status, 'queued')
  reason = undefined
  t.is((await daemon.request('POST', '/v1/sessions/s1/end', {})).status, 200)
})

test('observations-19: a run whose outputs stay with the daemon sends no notice either', async (t) => {
  let found: { sessions: Sessions; tools: ToolRegistry } | undefined
  const daemon = await startTestDaemon(t, {
    plugins: [
      extra(ReplyPlugins, pigeon, (services) => {
        found = services
      }),
    ],
  })
  await openSession(daemon)
  await daemon.request('PUT', '/v1/sessions/s1/reply-targets', targets('north'))
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true })
  const noticeOf = async (run_id: string): Promise<any> =>
    found?.tools.find('notify_operator')?.run({ message: 'Look.' } as never, { session_id: 's1', run_id } as never)
  const told = async (allow_output_delivery: boolean): Promise<any> => {
    await createSource(daemon, { allow_output_delivery })
    await send(daemon, 1)
    const { body } = await daemon.request('POST', '/v1/observation-materializations', {
      target_session_id: 's1',
      selection: { type: 'latest_from_source', source_id: 'door' },
      request: { content: 'Is the door open?' },
    })
    await until(daemon, body.run_id, 'completed')
    return noticeOf(body.run_id)
  }
  t.like(await told(true), { type: 'result', output: { queued: 1 } })
  const refused = await told(false)
  t.is(refused.output.error.code, 'operator_notice_stays', JSON.stringify(refused))
})
