/** Why runs wait: for their turn, a place, the daemon, its storage, and people. */
import test, { type ExecutionContext } from 'ava'
import { createFaultyDisk } from '../../../../core/testing/faulty-disk.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { call } from '../../../support/agents.js'
import { startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { situation } from '../../../support/explanations.js'
import { openSession, submit, until } from '../../../support/runs.js'

const start = async (t: ExecutionContext, options: TestDaemonOptions = {}) => {
  const daemon = await startTestDaemon(t, options)
  const run = async (session_id: string, content: string): Promise<string> => {
    await openSession(daemon, session_id)
    return (await submit(daemon, session_id, content)).run_id
  }
  return Object.assign(daemon, { run })
}
const asks = call('bash', { command: 'true' })

test('explanations-4, explanations-2: a queued run leads to the run that its session executes', async (t) => {
  const daemon = await start(t)
  await daemon.run('s1', '/sleep 3600000')
  const second = await daemon.run('s1', 'hello')
  const third = await daemon.run('s1', 'hello')
  const fourth = await daemon.run('s1', 'hello')
  const told = await situation(t, daemon, 'queued-behind-work', { id: second, codes: ['behind_run', 'model_call'] })
  await situation(t, daemon, 'queued-third', { id: third, codes: ['behind_run', 'model_call', 'queue'] })
  await situation(t, daemon, 'queued-fourth', { id: fourth, codes: ['behind_run', 'model_call', 'queue'] })
  await told.move()
  for (const id of [second, third, fourth]) await until(daemon, id, 'completed')
})

test('explanations-4, explanations-5: what is queued behind a run that asks leads to the lines that decide', async (t) => {
  const daemon = await start(t)
  const asking = await daemon.run('s1', asks)
  const behind = await daemon.run('s1', 'hello')
  await until(daemon, asking, 'waiting_for_approval')
  await situation(t, daemon, 'queued-behind-approval', { id: behind, codes: ['approval', 'behind_run'] })
  const { move } = await situation(t, daemon, 'approval', { id: asking, codes: ['approval'] })
  await move()
  await until(daemon, behind, 'completed')
  const question = await daemon.run('s2', '/ask Which colour? | Red | Blue')
  const later = await daemon.run('s2', 'hello')
  await until(daemon, question, 'waiting_for_user_question')
  await situation(t, daemon, 'queued-behind-question', { id: later, codes: ['behind_run', 'question'] })
  await (await situation(t, daemon, 'question', { id: question, codes: ['question'] })).move()
  await until(daemon, later, 'completed')
})

test('explanations-5: several approvals are told each, with the time when they expire', async (t) => {
  const daemon = await start(t, { config: { runs: { approval_expires_after_ms: 600_000 } } })
  const asking = await daemon.run('s1', [asks, call('bash', { command: 'false' })].join('\n'))
  await until(daemon, asking, 'waiting_for_approval')
  await (await situation(t, daemon, 'approvals', { id: asking, codes: ['approval'] })).move()
})

test('explanations-5: several questions of one call are answered by one line', async (t) => {
  const daemon = await start(t)
  const ask = (header: string, question: string) => ({
    header,
    question,
    options: [{ label: 'Yes' }, { label: 'No', description: 'Not today.' }],
  })
  const questions = [ask('Paint', 'Paint the hull?'), ask('Sail', "Set the skipper's sail?")]
  const id = await daemon.run('s1', call('ask_user_question', { questions }))
  await until(daemon, id, 'waiting_for_user_question')
  await (await situation(t, daemon, 'questions', { id, codes: ['question'] })).move()
  await until(daemon, id, 'completed')
})

test('explanations-4: a run without a place says how many there are', async (t) => {
  const daemon = await start(t, { config: { runs: { max_concurrent_runs: 1 } } })
  const first = await daemon.run('s1', '/sleep 3600000')
  await until(daemon, first, 'running')
  const second = await daemon.run('s2', 'hello')
  await situation(t, daemon, 'no-place', { id: second, codes: ['no_place'] })
})

test('explanations-4, explanations-2: what is queued behind a run without a place leads to that run', async (t) => {
  const daemon = await start(t, { config: { runs: { max_concurrent_runs: 1 } } })
  const first = await daemon.run('s1', '/sleep 3600000')
  await until(daemon, first, 'running')
  await daemon.run('s2', 'hello')
  const { run_id: id } = await submit(daemon, 's2', 'and this')
  await situation(t, daemon, 'behind-no-place', { id, codes: ['behind_run', 'no_place', 'queue'] })
})

test('explanations-4, explanations-9: of a lent place, who has it lent, who waits for one, and who wants it back', async (t) => {
  const clock = createLeapingClock({ still: true })
  const daemon = await start(t, { clock, config: { runs: { max_concurrent_runs: 1 } } })
  const spawns = call('spawn_agent', { name: 'part', prompt: '/sleep 3600000', wait: true, timeout_ms: 30_000 })
  const parent = await daemon.run('s1', spawns)
  await situation(t, daemon, 'lends-its-place', { id: parent, codes: ['agents', 'model_call', 'tool_waits'] })
  const third = await daemon.run('s3', 'hello')
  await situation(t, daemon, 'no-place-behind-lent', { id: third, codes: ['no_place'] })
  clock.leap(30_000)
  await situation(t, daemon, 'wants-its-place-back', { id: parent, codes: ['no_place'] })
})

test('explanations-4: a daemon that holds, or whose storage takes no changes, is the reason', async (t) => {
  const held = await start(t, { flags: { hold: 'true' } })
  const id = await held.run('s1', 'hello')
  await (await situation(t, held, 'daemon-held', { id, codes: ['daemon_held'] })).move()
  await until(held, id, 'completed')

  const { disk, fail, heal } = createFaultyDisk()
  const daemon = await start(t, { disk })
  const running = await daemon.run('s1', '/sleep 3600000')
  await until(daemon, running, 'running')
  await openSession(daemon, 's2')
  fail('full')
  await submit(daemon, 's2', 'hello')
  await situation(t, daemon, 'storage', { id: running, codes: ['model_call', 'storage'] })
  heal()
})
