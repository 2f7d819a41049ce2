import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import {
  callTool,
  done,
  fails,
  scriptedProvider,
  text,
  type Play,
} from '../../../../plugins/providers/scripted/contract.js'
import { openStream, type Frame, type SseClient } from '../../../support/sse.js'
import type { ModelEvent } from '../../../../plugins/execution/models/contract.js'

const thinks = (said: string): ModelEvent => ({ type: 'reasoning_delta', text: said })
const says = (said: string): ModelEvent => ({ type: 'text_delta', text: said })

const start = async (t: ExecutionContext, play: Play, models: JsonObject = {}): Promise<TestDaemon> => {
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: {
      models: { ...model.config.models, ...models },
      runs: { model_retry_base_ms: 1, stop_grace_ms: 100, drain_ms: 10 },
    },
  })
  await openSession(daemon)
  return daemon
}

const portOf = ({ url }: TestDaemon): number => Number(new URL(url).port)

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2))

const follow = async (t: ExecutionContext, daemon: TestDaemon, path: string): Promise<SseClient> => {
  const stream = openStream({ port: portOf(daemon), path })
  t.teardown(stream.close)
  await holds(() => stream.head() !== '')
  return stream
}

/** Resolves when it holds. */
const holds = async (what: () => boolean): Promise<void> => {
  for (let tries = 0; !what(); tries += 1) {
    if (tries > 5000) throw new Error('it does not come')
    await pause()
  }
}
/** Resolves when a frame fits. */
const seen = ({ frames }: SseClient, fits: (frame: Frame) => boolean): Promise<void> => holds(() => frames.some(fits))

const kindOf = ({ event, data }: Frame): any => (event === 'trace' ? data.trace.kind : { type: '' })
const isDelta = (frame: Frame): boolean => kindOf(frame).type.endsWith('_delta')
const isEnd = ({ event, data }: Frame): boolean => event === 'run_updated' && data.run.finished_at_ms !== undefined
const deltasOf = ({ frames }: SseClient): any[] => frames.filter(isDelta).map(kindOf)

const textOf = (kinds: readonly any[]): string => kinds.map((kind) => kind.text).join('')

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

test('events-23: what another kind of stream shows, and what comes later, has nothing of it', async (t) => {
  const daemon = await start(t, () => [thinks('Hm. '), says('Yes.'), text('Yes.'), done()])
  const paths = ['/v1/events/stream', '/v1/sessions/s1/stream', '/v1/events/stream?session_id=s1']
  const plain = await Promise.all(paths.map((path) => follow(t, daemon, path)))
  const asking = await Promise.all(
    paths.map((path) => follow(t, daemon, `${path}${path.includes('?') ? '&' : '?'}include=deltas`)),
  )
  const run = await submit(daemon, 's1', 'Say')
  await Promise.all([...plain, ...asking].map((stream) => seen(stream, isEnd)))
  for (const [at, stream] of asking.entries()) {
    t.deepEqual(
      deltasOf(stream).map(({ type, text: said }) => [type, said]),
      [
        ['model_reasoning_delta', 'Hm. '],
        ['model_text_delta', 'Yes.'],
      ],
    )
    t.deepEqual(
      stream.frames.filter((frame) => !isDelta(frame)),
      plain[at]?.frames,
      'the rest is what the others get, with its ids',
    )
  }
  const first = plain[0]?.frames[0]?.id ?? ''
  const late = await follow(t, daemon, `/v1/runs/${run.run_id}/stream?include=deltas&cursor=0`)
  const again = openStream({
    port: portOf(daemon),
    path: '/v1/events/stream?include=deltas',
    headers: { 'last-event-id': first },
  })
  t.teardown(again.close)
  for (const stream of [late, again]) {
    await seen(stream, isEnd)
    t.deepEqual(deltasOf(stream), [])
  }
})

test('events-23: an unknown word of include is refused and nothing begins', async (t) => {
  const daemon = await start(t, () => [done()])
  const run = await submit(daemon, 's1', 'Say')
  for (const path of ['/v1/events/stream', '/v1/sessions/s1/stream', `/v1/runs/${run.run_id}/stream`])
    for (const query of ['include=delta', 'include=', 'include=deltas&include=deltas', 'include=deltas,deltas']) {
      const answer = await daemon.request('GET', `${path}?${query}`)
      t.deepEqual(codeOf(answer), [400, 'bad_request'], query)
      t.deepEqual(
        answer.body.errors.map((error: any) => error.path),
        ['query.include'],
      )
    }
  await until(daemon, run.run_id, 'completed')
})

test('events-25: each attempt begins anew under its number, each turn too, and all of it before what ends it', async (t) => {
  const daemon = await start(t, (_, count) => {
    if (count === 1) return [says('Wro'), fails(true)]
    if (count === 2) return [says('Look'), says('ing'), text('Looking'), callTool('c1', 'nothing'), done('tool_calls')]
    return [says('Found'), text('Found'), done()]
  })
  const stream = await follow(t, daemon, '/v1/events/stream?include=deltas')
  await submit(daemon, 's1', 'Search')
  await seen(stream, isEnd)
  const told = stream.frames
    .map(kindOf)
    .filter(({ type }) => type.startsWith('model_') || type === 'permission_evaluated')
  t.deepEqual(
    told.map(({ type, turn, attempt, text: said }) => [type, turn, attempt, said].filter((it) => it !== undefined)),
    [
      ['model_attempt_started', 1, 1],
      ['model_text_delta', 1, 1, 'Wro'],
      ['model_attempt_finished', 1, 1],
      ['model_retry_scheduled', 1, 2],
      ['model_attempt_started', 1, 2],
      ['model_text_delta', 1, 2, 'Looking'],
      ['model_attempt_finished', 1, 2],
      ['permission_evaluated'],
      ['model_attempt_started', 2, 1],
      ['model_text_delta', 2, 1, 'Found'],
      ['model_attempt_finished', 2, 1],
    ],
  )
  t.true(stream.frames.findIndex(isEnd) > stream.frames.findLastIndex(isDelta))
})

test('events-25: a run that was cancelled says nothing more, whatever its provider goes on to say', async (t) => {
  const late = door()
  const ended = door()
  const daemon = await start(t, async function* (_, count, signal) {
    if (count === 2) return yield done()
    yield says('Before')
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    yield says(', meanwhile')
    await late.opened
    yield says(', too late')
    ended.open()
  })
  const stream = await follow(t, daemon, '/v1/events/stream?include=deltas')
  const run = await submit(daemon, 's1', 'Talk')
  await seen(stream, isDelta)
  await daemon.request('POST', `/v1/runs/${run.run_id}/cancel`)
  await seen(stream, isEnd)
  late.open()
  await ended.opened
  const next = await submit(daemon, 's1', 'Next')
  await seen(stream, (frame) => isEnd(frame) && frame.data.run.run_id === next.run_id)
  t.is(textOf(deltasOf(stream)), 'Before, meanwhile')
  t.true(stream.frames.findIndex(isEnd) > stream.frames.findLastIndex(isDelta))
})

test('events-26: a client that does not read loses deltas, is told how many, and gets every event', async (t) => {
  const resumed = door()
  const page = 'x'.repeat(30_000)
  const pages = 700
  const daemon = await start(t, async function* () {
    for (let n = 0; n < pages; n += 1) {
      yield says(page)
      await new Promise((resolve) => setImmediate(resolve))
    }
    yield says('Pause.')
    yield text('Long.')
    await resumed.opened
    yield says('Once more.')
    yield done()
  })
  const [slow, quick] = [
    await follow(t, daemon, '/v1/events/stream?include=deltas'),
    await follow(t, daemon, '/v1/sessions/s1/stream?include=deltas'),
  ]
  slow.pause()
  const run = await submit(daemon, 's1', 'Talk')
  const length = (stream: SseClient): number => textOf(deltasOf(stream)).length
  await seen(quick, (frame) => isDelta(frame) && kindOf(frame).text.endsWith('Pause.'))
  t.is((await daemon.request('GET', '/v1/status')).body.events.stream_lagged_event_count, 0)
  slow.resume()
  await seen(slow, (frame) => kindOf(frame).type === 'model_deltas_dropped')
  resumed.open()
  await Promise.all([slow, quick].map((stream) => seen(stream, isEnd)))
  const dropped = slow.frames.filter((frame) => kindOf(frame).type === 'model_deltas_dropped')
  t.deepEqual([dropped.length, dropped[0]?.id, dropped[0]?.data.trace.run_id], [1, undefined, run.run_id])
  const { count, chars } = kindOf(dropped[0] ?? t.fail())
  t.is(length(slow) + chars, length(quick))
  t.true(chars > (count - 2) * page.length && count > 1)
  t.is(deltasOf(slow).at(-1).text, 'Once more.')
  const events = ({ frames }: SseClient): (string | undefined)[] => frames.flatMap(({ id }) => id ?? [])
  t.deepEqual(events(slow), events(quick))
})

test('events-27: what a model says is the same in its deltas and in its output, also a secret and half a sign', async (t) => {
  const whole = 'The key is sk-not-to-be-shown. \ud800z'
  const daemon = await start(
    t,
    () => [says(whole.slice(0, 18)), says(whole.slice(18, -1)), says('z'), text(whole), done()],
    { api_key: 'sk-not-to-be-shown' },
  )
  const stream = await follow(t, daemon, '/v1/events/stream?include=deltas')
  const { run_id } = await submit(daemon, 's1', 'Which key?')
  await seen(stream, isEnd)
  const { outputs } = await until(daemon, run_id, 'completed')
  t.is(outputs[0].content, 'The key is sk-not-to-be-shown. \ufffdz')
  t.is(textOf(deltasOf(stream)), outputs[0].content)
})

test('events-24: two hundred clients of one run get the whole text, each in its order', async (t) => {
  const go = door()
  const words = Array.from({ length: 60 }, (_, n) => `word ${n}, `)
  const daemon = await start(t, async function* () {
    await go.opened
    for (const word of words) {
      yield says(word)
      await pause()
    }
    yield done()
  })
  const run = await submit(daemon, 's1', 'Talk')
  const clients = await Promise.all(
    Array.from({ length: 200 }, () => follow(t, daemon, `/v1/runs/${run.run_id}/stream?include=deltas`)),
  )
  go.open()
  await Promise.all(clients.map((client) => seen(client, isEnd)))
  for (const client of clients) {
    t.is(textOf(deltasOf(client)), words.join(''))
    t.true(deltasOf(client).length <= words.length)
  }
})
