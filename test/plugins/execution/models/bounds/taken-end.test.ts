/** What a provider says at the end of its answer, as it is kept and shown. */
import test from 'ava'
import { mostCounted } from '../../../../../plugins/execution/models/contract.js'
import { countIn } from '../../../../../plugins/providers/streamed/counted.js'
import { scriptedProvider, text } from '../../../../../plugins/providers/scripted/contract.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { openSession, submit, until } from '../../../../support/runs.js'

const key = 'parrot-feathers-4711'

test('models-83: what a provider says of a failure is short and without secrets, and nothing else of it is kept', async (t) => {
  const failure = {
    class: 'bad_request',
    retryable: false,
    message: `It refused ${key}.\nTwice. ${'x'.repeat(5_000_000)}`,
    status: 400,
    more: 'y'.repeat(5_000_000),
  }
  const model = scriptedProvider((): any => [{ type: 'done', outcome: 'failed', failure }])
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config, flags: { 'api-key': key } })
  await openSession(daemon)
  const { run_id } = await submit(daemon, 's1', 'hello')
  const { error } = await until(daemon, run_id, 'failed')
  t.regex(error, /^model_bad_request: It refused \S*redacted\S*\.\\nTwice\. x+$/u)
  for (const path of [
    '/v1/status',
    `/v1/runs/${run_id}`,
    `/v1/runs/${run_id}/events`,
    '/v1/sessions/s1/events?limit=100',
  ]) {
    const answer = await daemon.request('GET', path)
    t.is(answer.status, 200, path)
    t.true(answer.text.length < 100_000, path)
    t.false(answer.text.includes(key), path)
  }
})

test('models-83: parts of what was used are no more than the whole', async (t) => {
  const usage = { input_tokens: 1, output_tokens: 2, cached_input_tokens: 500, reasoning_tokens: 900, more: 7 }
  const model = scriptedProvider((): any => [text('Well.'), { type: 'done', outcome: 'stop', usage }])
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await openSession(daemon)
  const run = await until(daemon, (await submit(daemon, 's1', 'hello')).run_id, 'completed')
  t.like(run.usage, { input_tokens: 1, output_tokens: 2, cached_input_tokens: 1, reasoning_tokens: 2 })
})

test('models-83: what a server counts is bounded', (t) => {
  t.is(countIn(Number.MAX_SAFE_INTEGER), mostCounted)
  t.is(countIn(7.9), 7)
})
