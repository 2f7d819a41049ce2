import test from 'ava'
import { createCommandLine } from '../../../../support/command-line.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { codeOf, openSession, submit, until } from '../../../../support/runs.js'
import { done, fails, scriptedProvider, text } from '../../../../../plugins/providers/scripted/contract.js'

test('runs-31: a run that failed can be made anew, once for each idempotency key, and a completed one cannot', async (t) => {
  const model = scriptedProvider(({ model: name, generation }, count) =>
    count === 1 ? [fails(false)] : [text(`${name} ${generation.temperature}`), done()],
  )
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await openSession(daemon)
  const { body: first } = await daemon.request('POST', '/v1/sessions/s1/runs', {
    content: 'Hello',
    actor_id: 'somebody',
    metadata: { ticket: 7 },
    generation: { model: 'small', temperature: 0.5 },
  })
  await until(daemon, first.run_id, 'failed')
  const ask = (body: unknown, key: string) =>
    daemon.request('POST', `/v1/runs/${first.run_id}/retry`, body, { 'idempotency-key': key })
  const { status, body: again } = await ask({}, 'k1')
  t.is(status, 202)
  t.like(again, {
    retry_of: first.run_id,
    session_id: 's1',
    input_metadata: { ticket: 7 },
    request: { actor_id: 'somebody', model: 'small', text_preview: 'Hello' },
  })
  t.like(await until(daemon, again.run_id, 'completed'), {
    retry_of: first.run_id,
    outputs: [{ content: 'small 0.5' }],
  })
  t.is((await ask({}, 'k1')).body.run_id, again.run_id)
  t.deepEqual(codeOf(await ask({ provider: 'scripted' }, 'k1')), [409, 'idempotency_conflict'])
  const { body: other } = await ask({ provider: 'demo' }, 'k2')
  t.is(other.code, 'bad_request', 'a route that this daemon does not have')
  const refused = await createCommandLine(daemon)('runs', 'retry', again.run_id)
  t.regex(refused.err, /\(run_not_retryable\)\nSubmit a new run with holdfast runs submit s1 TEXT\./u)
  const open = await submit(daemon, 's1', 'x')
  t.is((await daemon.request('POST', `/v1/runs/${open.run_id}/retry`)).body.code, 'run_not_retryable')
  await until(daemon, open.run_id, 'completed')
})
