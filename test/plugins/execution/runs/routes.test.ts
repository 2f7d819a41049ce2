import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { codeOf, eventTypes, openSession, submit, until } from '../../../support/runs.js'

test('runs-1: a detached run is accepted, executed and shows its output', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const accepted = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Hello', metadata: { a: 1 } })
  t.is(accepted.status, 202)
  const run = await until(daemon, accepted.body.run_id, 'completed')
  t.like(run, {
    session_id: 's1',
    kind: 'input',
    input_metadata: { a: 1 },
    outputs: [{ content: 'You said: Hello', source_kind: 'assistant_text' }],
  })
  t.deepEqual(await eventTypes(daemon, run.run_id), ['accepted', 'queued', 'started', 'output', 'completed'])
  const events = await daemon.request('GET', `/v1/runs/${run.run_id}/events`)
  t.deepEqual(
    events.body.map((entry: any) => entry.event.run?.status),
    ['queued', 'queued', 'running', undefined, 'completed'],
  )
})

test('an inline run answers with the session when it has ended', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const { status, body } = await daemon.request('POST', '/v1/sessions/s1/input', { content: 'Hi' })
  t.is(status, 200)
  t.like(body, {
    session_id: 's1',
    snapshot: { last_assistant_message: 'You said: Hi', last_error: null, agent: { status: 'completed' } },
    outputs: [{ content: 'You said: Hi' }],
  })
})

test('runs-4: runs of a session are executed one after the other in order of submission', async (t) => {
  const daemon = await startTestDaemon(t)
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', '/sleep 60000')
  const second = await submit(daemon, 's1', 'two')
  const third = await submit(daemon, 's1', 'three')
  t.is(second.status, 'queued')
  t.is(third.queued_position, 2)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/input', { content: 'x' })), [409, 'session_busy'])
  const first = (await daemon.request('POST', `/v1/runs/${run_id}/cancel`)).body
  const last = await until(daemon, third.run_id, 'completed')
  const before = await until(daemon, second.run_id, 'completed')
  t.true(first.finished_at_ms <= before.started_at_ms)
  t.true(before.finished_at_ms <= last.started_at_ms)
})
