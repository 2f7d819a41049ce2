import test, { type ExecutionContext } from 'ava'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { openSession, submit } from '../../../support/runs.js'
import { done, scriptedProvider, text, type Play } from '../../../support/scripted-provider.js'
import { openStream, type Frame, type SseClient } from '../../../support/sse.js'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'

const says = (said: string): ModelEvent => ({ type: 'text_delta', text: said })

const start = async (t: ExecutionContext, play: Play): Promise<TestDaemon> => {
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, runs: { model_retry_base_ms: 1, stop_grace_ms: 100, drain_ms: 10 } },
  })
  await openSession(daemon)
  return daemon
}

const portOf = ({ url }: TestDaemon): number => Number(new URL(url).port)

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2))

const follow = async (t: ExecutionContext, daemon: TestDaemon, path: string): Promise<SseClient> => {
  const stream = openStream({ port: portOf(daemon), path })
  t.teardown(stream.close)
  while (stream.head() === '') await pause()
  return stream
}

/** Resolves when a frame fits. */
const seen = async ({ frames }: SseClient, fits: (frame: Frame) => boolean): Promise<void> => {
  while (!frames.some(fits)) await pause()
}

const kindOf = ({ event, data }: Frame): any => (event === 'trace' ? data.trace.kind : { type: '' })
const isDelta = (frame: Frame): boolean => kindOf(frame).type.endsWith('_delta')
const isEnd = ({ event, data }: Frame): boolean => event === 'run_updated' && data.run.finished_at_ms !== undefined
const deltasOf = ({ frames }: SseClient): any[] => frames.filter(isDelta).map(kindOf)

/** A door that a script waits at until the test opens it. */
const door = () => {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

test('events-23: what a model says is shown before it goes on, without an id', async (t) => {
  const [first, second] = [door(), door()]
  const daemon = await start(t, async function* () {
    yield says('Once ')
    await first.opened
    yield says('upon ')
    await second.opened
    yield says('a time.')
    yield text('Once upon a time.')
    yield done()
  })
  const stream = await follow(t, daemon, '/v1/sessions/s1/stream?include=deltas')
  const run = await submit(daemon, 's1', 'Tell')
  await seen(stream, (frame) => kindOf(frame).text === 'Once ')
  first.open()
  await seen(stream, (frame) => kindOf(frame).text === 'upon ')
  second.open()
  await seen(stream, isEnd)
  t.deepEqual(
    deltasOf(stream),
    ['Once ', 'upon ', 'a time.'].map((said) => ({ type: 'model_text_delta', turn: 1, attempt: 1, text: said })),
  )
  for (const frame of stream.frames.filter(isDelta)) {
    t.is(frame.id, undefined)
    t.like(frame.data, { type: 'trace', trace: { session_id: 's1', agent_id: run.agent_id, run_id: run.run_id } })
  }
  const names = stream.frames.map((frame) => kindOf(frame).type).filter((type) => type.startsWith('model_'))
  t.deepEqual([names[0], names.at(-1)], ['model_attempt_started', 'model_attempt_finished'])
})
