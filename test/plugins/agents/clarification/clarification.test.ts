/** Questions of agents to those who started them, over HTTP. */
import test, { type ExecutionContext } from 'ava'
import type { AnyPlugin, JsonObject } from '../../../../core/plugin.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { freshRoot, startTestDaemon, type Reachable } from '../../../support/daemon.js'
import { situation } from '../../../support/explanations.js'
import { createPause } from '../../../support/pause.js'
import { lender } from '../../../support/plugins.js'
import { codeOf, submit, until } from '../../../support/runs.js'
import { Mailboxes } from '../../../../plugins/agents/mailboxes/contract.js'

const says = (said = 'done'): ModelEvent[] => [text(said), done()]
const question = {
  header: 'Colour',
  question: 'Which colour?',
  options: [{ label: 'red' }, { label: 'blue' }],
}

/** A child that asks in its first run, as often as it is told, and reads what it is answered. */
const start = async (t: ExecutionContext, { asks = {}, times = 1, beside = [], more = {} }: Options = {}) => {
  let asked = 0
  const model = scriptedProvider(({ messages }) => {
    const last = JSON.stringify(messages.at(-1))
    if (last.includes('ask the user'))
      return [callTool('ask', 'ask_user_question', { questions: [question] }), done('tool_calls')]
    if (!last.includes('ask your parent')) return says(last.includes('clarification_answer') ? 'read' : 'done')
    asked += 1
    const calls = Array.from({ length: times }, (_, n) =>
      callTool(`ask_${asked}_${n}`, 'request_parent_clarification', { questions: [question], ...asks }),
    )
    return [...calls, done('tool_calls')]
  })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin, ...beside], config: model.config, ...more })
  const parent = (await daemon.request('POST', '/v1/sessions', { session_id: 's1' })).body.agent_id
  const child = (
    await daemon.request('POST', `/v1/agents/${parent}/sidechains`, {
      subtask: { name: 'paint', content: 'ask your parent' },
    })
  ).body
  const runsOf = async (session_id: string): Promise<any[]> =>
    (await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body
  const [first] = await runsOf(child.session_id)
  await until(daemon, first.run_id, 'completed')
  const questions = async (): Promise<any[]> => (await daemon.request('GET', '/v1/questions')).body
  const status = async (agent_id = child.agent_id): Promise<string> =>
    (await daemon.request('GET', `/v1/agents/${agent_id}`)).body.agent.status
  const answered = async (): Promise<any> => {
    for (let n = 0; n < 2_000; n += 1) {
      const found = (await runsOf(child.session_id)).find(({ kind }) => kind === 'mailbox_delivery')
      if (found?.status === 'completed') return found
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    throw new Error('the child was not told')
  }
  const told = (): string => JSON.stringify(model.requests.at(-1)?.messages)
  const { plugin, config } = model
  return Object.assign(daemon, {
    plugin,
    config,
    parent,
    child,
    asked: model.requests,
    questions,
    status,
    runsOf,
    answered,
    told,
  })
}
const join = async (daemon: Pick<Reachable, 'request'>, project_id: string, session_id: string): Promise<void> => {
  const member = { member_id: 'm', member_kind: 'session', display_name: 'M', session_id }
  await daemon.request('POST', '/v1/projects', { project_id, display_name: project_id, members: [member] })
}

interface Options {
  readonly asks?: JsonObject
  readonly times?: number
  readonly beside?: readonly AnyPlugin[]
  readonly more?: object
}

test('clarification-1, clarification-2, clarification-3, clarification-4: the answer of a question comes to the child as a message', async (t) => {
  const daemon = await start(t)
  const [open] = await daemon.questions()
  t.like(open, {
    session_id: 's1',
    agent_id: daemon.parent,
    run_kind: 'parent_clarification',
    requester_agent_id: daemon.child.agent_id,
    requester_session_id: daemon.child.session_id,
    requester_tool_call_id: 'ask_1_0',
  })
  t.is(await daemon.status(), 'waiting_for_user_input')
  t.false('requester_project_ids' in open)
  await join(daemon, 'p', 's1')
  await join(daemon, 'q', daemon.child.session_id)
  const members = [{ member_id: 's1', member_kind: 'session', display_name: 'One' }]
  const channel = { title: 'Talk', members }
  const { channel_id } = (await daemon.request('POST', '/v1/channels', channel)).body
  const [joined] = await daemon.questions()
  t.like(joined, { parent_project_ids: ['p'], parent_channel_ids: [channel_id], requester_project_ids: ['q'] })
  t.false('requester_channel_ids' in joined)
  const summaries: any[] = (await daemon.request('GET', '/v1/agents/summaries')).body
  t.like(
    summaries.find(({ agent_id }) => agent_id === daemon.parent),
    { pending_parent_clarification_count: 1, pending_parent_clarification_run_ids: [open.run_id], status: 'idle' },
  )
  t.true(summaries.find(({ agent_id }) => agent_id === daemon.child.agent_id).has_runtime)

  const { run_id } = await submit(daemon, 's1', 'something else')
  await until(daemon, run_id, 'completed')
  const held = await daemon.request('PUT', '/v1/sessions/s1/isolation', { isolation: 'worktree' })
  t.deepEqual(codeOf(held), [409, 'session_not_idle'])

  const request_id = open.request.id
  const resolution = { request_id, answers: [{ question_id: 'q1', selected_option_ids: ['o2'] }] }
  const answer = await daemon.request('POST', `/v1/runs/${open.run_id}/questions`, { resolution })
  t.like(answer, { status: 202, body: { status: 'completed', kind: 'parent_clarification' } })
  await daemon.answered()
  t.true(daemon.told().includes('parent_clarification_answer'))
  t.true(daemon.told().includes('blue'))
  t.is(await daemon.status(), 'completed')
  const events: any[] = (await daemon.request('GET', `/v1/runs/${open.run_id}/events`)).body
  t.like(
    events.map(({ event }) => event).find(({ type }) => type === 'parent_clarification_resolved'),
    { requester_agent_id: daemon.child.agent_id, request_id, declined: false },
  )
  t.deepEqual(await daemon.questions(), [])
  const again = await daemon.request('POST', `/v1/runs/${open.run_id}/questions`, { resolution })
  t.is(again.status, 202, 'the same again is no fault')
})

test('clarification-1: who has no parent, or asks already, asks nothing', async (t) => {
  const daemon = await start(t, { times: 2 })
  t.is((await daemon.questions()).length, 1)
  t.true(JSON.stringify(daemon.asked.map(({ messages }) => messages)).includes('already_asking'))
  const { run_id } = await submit(daemon, 's1', 'ask your parent')
  await until(daemon, run_id, 'completed')
  t.true(daemon.told().includes('no_parent'))
  t.is((await daemon.questions()).length, 1)
})

const cancelled = async (t: ExecutionContext, how: (daemon: any, open: any) => Promise<unknown>): Promise<void> => {
  const daemon = await start(t)
  const [open] = await daemon.questions()
  await how(daemon, open)
  await daemon.answered()
  t.true(daemon.told().includes('\\"declined\\":true'), daemon.told())
  t.is(await daemon.status(), 'completed')
  t.deepEqual(await daemon.questions(), [])
}

test('clarification-4: a question that is cancelled is told as declined', (t) =>
  cancelled(t, (daemon, { run_id, request }) =>
    daemon.request('POST', `/v1/runs/${run_id}/questions/${request.id}/cancel`, { justification: 'not now' }),
  ))

test('clarification-5: so is one whose run is cancelled', (t) =>
  cancelled(t, (daemon, { run_id }) => daemon.request('POST', `/v1/runs/${run_id}/cancel`, {})))

test('clarification-5: so is one whose session ends', async (t) => {
  const daemon = await start(t)
  const end = (session_id: string) => daemon.request('POST', `/v1/sessions/${session_id}/end`, {})
  t.deepEqual(codeOf(await end('s1')), [409, 'session_end_refused'], 'it has a working agent')
  t.is((await end(daemon.child.session_id)).status, 200)
  t.is((await end('s1')).status, 200)
  t.deepEqual(await daemon.questions(), [])
  const dead = (await daemon.request('GET', `/v1/agents/${daemon.child.agent_id}/mailbox/dead-letter`)).body
  t.like(dead[0]?.payload, { declined: true, justification: 'the session of the parent was ended' })
})

test('clarification-4: a question whose time is over is told as declined', async (t) => {
  const clock = createLeapingClock()
  const daemon = await start(t, { asks: { expires_after_ms: 60_000 }, more: { clock } })
  clock.leap(60_001)
  await daemon.answered()
  t.true(daemon.told().includes('timeout'))
  t.deepEqual(await daemon.questions(), [])
})

test('clarification-4: the answer for a closed child is among its dead letters', async (t) => {
  const daemon = await start(t)
  const [open] = await daemon.questions()
  t.is((await daemon.request('POST', `/v1/sessions/${daemon.child.session_id}/end`, {})).status, 200)
  const resolution = { request_id: open.request.id, declined: true }
  await daemon.request('POST', `/v1/runs/${open.run_id}/questions`, { resolution })
  const dead = (await daemon.request('GET', `/v1/agents/${daemon.child.agent_id}/mailbox/dead-letter`)).body
  t.like(dead[0], { subject: 'clarification_answer', payload: { declined: true } })
})

test('clarification-4, explanations-11: what a closed child asked is told with the lines that settle it', async (t) => {
  const daemon = await start(t)
  t.is((await daemon.request('POST', `/v1/sessions/${daemon.child.session_id}/end`, {})).status, 200)
  const [{ run_id }] = await daemon.questions()
  const isolate = () => daemon.request('PUT', '/v1/sessions/s1/isolation', { isolation: 'shared' })
  const refused = await isolate()
  t.deepEqual(codeOf(refused), [409, 'session_not_idle'])
  const [answer, decline] = [`holdfast questions answer --option 1 ${run_id}`, `holdfast questions decline ${run_id}`]
  t.true(refused.body.detail.includes(`${answer}, or ${decline}`), refused.body.detail)
  t.regex(refused.body.action, /answer what is asked/u)
  const { move } = await situation(t, daemon, 'asked-by-closed', {
    id: daemon.parent,
    codes: ['asked_by_closed', 'no_run', 'question'],
  })
  await move({}, /questions decline/u)
  t.is((await isolate()).status, 200)
})

test('runs-56, clarification-2: a restart leaves the question, and the run that waits beside it', async (t) => {
  const root = await freshRoot()
  const first = await start(t, { more: { root } })
  const { run_id } = await submit(first, 's1', 'ask the user')
  await until(first, run_id, 'waiting_for_user_question')
  const before = await first.questions()
  t.is(before.length, 2)
  await first.stop()
  const daemon = await startTestDaemon(t, { root, plugins: [first.plugin], config: first.config })
  t.deepEqual((await daemon.request('GET', '/v1/questions')).body, before)
  const open = before.find(({ run_kind }) => run_kind === 'parent_clarification')
  const resolution = { request_id: open.request.id, declined: true }
  t.is((await daemon.request('POST', `/v1/runs/${open.run_id}/questions`, { resolution })).body.status, 'completed')
  t.is((await daemon.request('GET', `/v1/runs/${run_id}`)).body.status, 'waiting_for_user_question')
})

test('clarification-4: an answer is told however long it is, and however full the mailbox', async (t) => {
  const lending = lender({ mailboxes: Mailboxes })
  const daemon = await start(t, {
    asks: { questions: [1, 2, 3, 4].map((n) => ({ ...question, header: `${n}` })) },
    beside: [lending.plugin],
  })
  const [open] = await daemon.questions()
  const { id: request_id, questions } = open.request
  const answers = questions.map(({ id }: any) => ({ question_id: id, freeform_answer: 'ä'.repeat(20_000) }))
  const letter = { from_agent_id: daemon.parent, to_agent_id: daemon.child.agent_id, subject: 's', payload: {} }
  const { mailboxes } = lending.services()
  await lending.context().state.commit((tx) => {
    for (let n = 0; n < 1_000; n += 1) mailboxes.post(tx, letter)
  })
  const answer = await daemon.request('POST', `/v1/runs/${open.run_id}/questions`, {
    resolution: { request_id, answers },
  })
  t.is(answer.status, 202, JSON.stringify(answer.body).slice(0, 300))
  // Messages that came before it may be read in runs of their own.
  const isTold = (): boolean =>
    daemon.asked.some(({ messages }) => JSON.stringify(messages).includes('ä'.repeat(20_000)))
  const pause = createPause()
  for (let n = 0; n < 500 && !isTold(); n += 1) await pause()
  t.true(isTold())
})

test('clarification-2: it is answered in the session of the parent too, the same again is no fault, another answer is', async (t) => {
  const daemon = await start(t)
  const [open] = await daemon.questions()
  const request_id = open.request.id
  const answered = (option: string) => ({ request_id, answers: [{ question_id: 'q1', selected_option_ids: [option] }] })
  const inSession = await daemon.request('POST', '/v1/sessions/s1/questions', { resolution: answered('o1') })
  t.is(inSession.status, 200, JSON.stringify(inSession.body))
  await daemon.answered()
  const again = (option: string) =>
    daemon.request('POST', `/v1/runs/${open.run_id}/questions`, { resolution: answered(option) })
  t.like(await again('o1'), { status: 202, body: { status: 'completed' } })
  t.deepEqual(codeOf(await again('o2')), [409, 'question_resolution_conflict'])
  t.is((await daemon.runsOf(daemon.child.session_id)).filter(({ kind }) => kind === 'mailbox_delivery').length, 1)
})

test('clarification-2, clarification-4: a cancellation is a decline: again it is no fault, and an answer behind it is one', async (t) => {
  const daemon = await start(t)
  const [{ run_id, request }] = await daemon.questions()
  const cancel = (more = {}) =>
    daemon.request('POST', `/v1/runs/${run_id}/questions/${request.id}/cancel`, { justification: 'no time', ...more })
  const answer = (resolution: object) =>
    daemon.request('POST', `/v1/runs/${run_id}/questions`, { resolution: { request_id: request.id, ...resolution } })
  t.like(await cancel(), { status: 200, body: { status: 'completed' } })
  await daemon.answered()
  t.like(await cancel(), { status: 200, body: { status: 'completed' } })
  t.like(await answer({ declined: true }), { status: 202, body: { status: 'completed' } })
  const answers = [{ question_id: 'q1', selected_option_ids: ['o1'] }]
  t.deepEqual(codeOf(await answer({ answers })), [409, 'question_resolution_conflict'])
  t.is((await daemon.runsOf(daemon.child.session_id)).filter(({ kind }) => kind === 'mailbox_delivery').length, 1)
})

test('agents-12: a question of a child is no run of its parent: what that said and how it ended stays', async (t) => {
  const daemon = await start(t)
  const row = async () =>
    (await daemon.request('GET', '/v1/agents/summaries')).body.find(({ agent_id }: any) => agent_id === daemon.parent)
  t.is((await row()).status, 'idle')
  const { run_id } = await submit(daemon, 's1', 'something')
  await until(daemon, run_id, 'completed')
  t.like(await row(), { status: 'completed', last_output_preview: 'done' })
  const [open] = await daemon.questions()
  const resolution = { request_id: open.request.id, declined: true }
  await daemon.request('POST', `/v1/runs/${open.run_id}/questions`, { resolution })
  await daemon.answered()
  t.like(await row(), { status: 'completed', last_output_preview: 'done' })
})
