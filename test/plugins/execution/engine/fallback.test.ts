import test, { type ExecutionContext } from 'ava'
import path from 'node:path'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { copyRoot } from '../../../support/crash.js'
import { createCommandLine } from '../../../support/command-line.js'
import { openSession, until } from '../../../support/runs.js'
import { done, fails, scriptedProvider, text, type Play } from '../../../../plugins/providers/scripted/contract.js'
import { openStream } from '../../../support/sse.js'

const start = async (t: ExecutionContext, play: Play, root?: string) => {
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, runs: { model_retry_base_ms: 1, stop_grace_ms: 100, drain_ms: 10 } },
    ...(root !== undefined && { root }),
  })
  if (root === undefined) await openSession(daemon)
  const models = (from = 0): string[] => model.requests.slice(from).map((request) => request.model)
  const send = async (content: string): Promise<any> =>
    (
      await daemon.request('POST', '/v1/sessions/s1/runs', {
        content,
        generation: { model: 'small', fallback_model: 'large' },
      })
    ).body
  return { daemon, models, send }
}

test('models-9: a fallback model takes over once, on the same route, when the first one fails for good', async (t) => {
  const { daemon, models, send } = await start(t, ({ model, messages }) => {
    const said = JSON.stringify(messages)
    if (model === 'small') return [fails(said.includes('busy'))]
    return said.includes('both') ? [fails(false)] : [text(`from ${model}`), done()]
  })
  const stream = openStream({ port: Number(new URL(daemon.url).port), path: '/v1/sessions/s1/stream' })
  t.teardown(stream.close)
  while (stream.head() === '') await new Promise((resolve) => setTimeout(resolve, 2))
  const accepted = await send('one')
  t.like(accepted.request, { model: 'small', fallback_model: 'large' })
  t.like(await until(daemon, accepted.run_id, 'completed'), {
    outputs: [{ content: 'from large' }],
    request: { provider: 'scripted', model: 'large', fallback_model: 'large' },
  })
  t.deepEqual(models(), ['small', 'large'])
  const kinds = (type: string): any[] =>
    stream.frames.flatMap(({ event, data }) =>
      event === 'trace' && data.trace.kind.type === type ? [data.trace.kind] : [],
    )
  const scheduled = () => kinds('model_retry_scheduled').map(({ reason }) => reason)
  while (scheduled().length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  t.deepEqual(scheduled(), ['fallback_model'])
  const attempts = (from: number) =>
    kinds('model_attempt_started')
      .slice(from)
      .map(({ turn, attempt }) => [turn, attempt])
  t.deepEqual(attempts(0), [
    [1, 1],
    [1, 2],
  ])
  t.deepEqual(
    kinds('model_retry_scheduled').map(({ attempt }) => attempt),
    [2],
  )
  const { run_id } = await until(daemon, (await send('busy')).run_id, 'completed')
  const { body: steps } = await daemon.request('GET', `/v1/runs/${run_id}/events?steps=true`)
  const failures = steps.map(({ event }: any) => event).filter(({ type }: any) => /_failed$|fallback/u.test(type))
  t.deepEqual(
    failures.map(({ attempt, code, message, from, to }: any) => [attempt, code, message, from, to]),
    [
      [1, 'overloaded', 'It is busy.', undefined, undefined],
      [2, 'overloaded', 'It is busy.', undefined, undefined],
      [3, 'overloaded', 'It is busy.', 'small', 'large'],
    ],
  )
  const shown = await createCommandLine(daemon)('runs', 'events', run_id)
  t.regex(shown.out, /model_fallback {2}large in place of small, overloaded: It is busy\./u)
  while (attempts(2).length < 4) await new Promise((resolve) => setTimeout(resolve, 2))
  t.deepEqual(
    attempts(2),
    [1, 2, 3, 4].map((attempt) => [1, attempt]),
  )
  t.deepEqual(models(2), ['small', 'small', 'small', 'large'])
  t.is((await until(daemon, (await send('both')).run_id, 'failed')).error, 'model_bad_request: It is busy.')
  t.deepEqual(models(6), ['small', 'small', 'small', 'large'])
})

test('models-9: a run whose model was changed goes on with the new one after a death', async (t) => {
  let reached = (): void => {}
  const entered = new Promise<void>((resolve) => {
    reached = resolve
  })
  const first = await start(t, async function* ({ model }, _, signal) {
    if (model === 'small') return void (yield fails(false))
    reached()
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    yield done()
  })
  const { run_id } = await first.send('go')
  await entered
  const root = path.join(await freshRoot(), 'root')
  copyRoot(first.daemon.root, root)
  const second = await start(t, ({ model }) => [text(`from ${model}`), done()], root)
  t.is((await until(second.daemon, run_id, 'completed')).outputs[0].content, 'from large')
  t.deepEqual(second.models(), ['large'])
})
