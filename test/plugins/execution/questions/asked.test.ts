import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { callTool, done, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'
import { openStream } from '../../../support/sse.js'

const input = { questions: [{ question: 'Go on?', options: [{ label: 'Yes' }, { label: 'No' }] }] }

test('questions-7: an answer is recorded under the tool that asked, and each call that started is seen to finish', async (t) => {
  const model = scriptedProvider((_, count) =>
    count === 1
      ? [callTool('c1', 'ask_operator', input), callTool('c2', 'no_such_tool'), done('tool_calls')]
      : [text('end'), done()],
  )
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await openSession(daemon)
  await daemon.request('PUT', '/v1/sessions/s1/operator', { enabled: true, allow_notify: false })
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/events/stream?cursor=0' })
  t.teardown(() => stream.close())
  const { run_id } = await submit(daemon, 's1', 'x')
  const { pending_questions } = await until(daemon, run_id, 'waiting_for_user_question')
  const answers = [{ question_id: 'q1', selected_option_ids: ['o1'] }]
  await daemon.request('POST', `/v1/runs/${run_id}/questions`, {
    resolution: { request_id: pending_questions[0].id, answers },
  })
  await until(daemon, run_id, 'completed')
  const { journal } = (await daemon.request('GET', '/v1/sessions/s1/events')).body.session
  t.deepEqual(
    journal.flatMap(({ type, entry }: any) => (type === 'outcome' ? [[entry.tool_call_id, entry.tool_name]] : [])),
    [
      ['c2', 'no_such_tool'],
      ['c1', 'ask_operator'],
    ],
  )
  const results: any = model.requests[1]?.messages.at(-1)
  t.deepEqual(
    results.content.map(({ name }: any) => name),
    ['ask_operator', 'no_such_tool'],
  )
  while (!stream.frames.some(({ data }) => data.run?.status === 'completed'))
    await stream.until(stream.frames.length + 1)
  const traced = (type: string): string[] =>
    stream.frames.flatMap(({ data }) => (data.trace?.kind.type === type ? [data.trace.kind.call_id] : []))
  t.deepEqual(traced('tool_started'), ['c1'])
  t.deepEqual(traced('tool_finished'), ['c1'])
})

test('the problems of answering are those that an answer can have, and the settings name the system prompt', async (t) => {
  const daemon = await startTestDaemon(t, { config: { runs: { system_prompt: 'You are a test.' } } })
  const { paths } = (await daemon.request('GET', '/v1/openapi.json')).body
  const document = JSON.stringify([
    paths['/v1/sessions/{session_id}/questions'].post,
    paths['/v1/runs/{run_id}/questions'].post,
  ])
  t.true(document.includes('question_answer_missing'))
  t.false(document.includes('question_expiry_'))
  t.is((await daemon.request('GET', '/v1/runtime')).body.system_prompt.configured_prompt, 'You are a test.')
})
