/** Providers that say nothing, and those that do not end when they are told to. */
import test from 'ava'
import { createLeapingClock } from '../../../../../core/testing/leaping-clock.js'
import type { ModelConnection, ModelEvent } from '../../../../../plugins/execution/models/contract.js'
import { flagWords } from '../../../../../plugins/execution/models/file/route-words.js'
import { limitedRoute } from '../../../../../plugins/execution/models/limited-route.js'
import { watchedRoute } from '../../../../../plugins/execution/models/route-health.js'
import { createRoutePace } from '../../../../../plugins/execution/models/route-pace.js'
import { scriptedProvider } from '../../../../../plugins/providers/scripted/contract.js'
import { startTestDaemon } from '../../../../support/daemon.js'
import { ask, requestOf, unwatched, userText } from '../../../../support/models.js'
import { openSession, submit, until } from '../../../../support/runs.js'

const never = new Promise<never>(() => {})
const delta: ModelEvent = { type: 'text_delta', text: 'Well' }
const done: ModelEvent = { type: 'done', outcome: 'stop', usage: { input_tokens: 1, output_tokens: 1 } }
const turns = async (): Promise<void> => {
  for (let at = 0; at < 10; at += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** A route with room for one call, whose provider is this one and may be silent for 8 s. */
const routeOf = (stream: ModelConnection['stream']) => {
  const clock = createLeapingClock({ still: true })
  const broken: unknown[] = []
  const pace = createRoutePace(clock, () => {})
  const watch = { ...unwatched, broke: (_: string, wrong: unknown) => void broken.push(wrong) }
  const parts = { ...watch, provider: 'test', clock, words: flagWords, pace, idle_timeout_ms: 8_000 }
  const watched = watchedRoute({ readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }), stream }, parts)
  const leap = async (seconds: number): Promise<void> => {
    for (let at = 0; at < seconds; at += 1) {
      clock.leap(1_000)
      await new Promise((resolve) => setTimeout(resolve, 3))
      await turns()
    }
  }
  const asked = (signal?: AbortSignal) => ask(limitedRoute(watched, 1, pace), requestOf([userText('hi')]), signal)
  return { asked, leap, broken }
}

test('models-15: a provider that waits for ever has failed after the idle limit, at once or amid its answer, and is told to end', async (t) => {
  for (const before of [0, 1, 40]) {
    let isTold = false
    const { asked, leap, broken } = routeOf(async function* (_, signal) {
      for (let at = 0; at < before; at += 1) yield delta
      signal.addEventListener('abort', () => (isTold = true))
      await never
    })
    const answer = asked()
    await turns()
    await leap(7)
    t.false(isTold)
    await leap(4)
    const { done: end } = await answer
    t.like(end, { outcome: 'failed', failure: { class: 'timeout', retryable: true } })
    t.true(isTold)
    t.deepEqual(broken, [])
    await leap(11)
    t.deepEqual(broken, ['its stream did not end within 10000 ms of being told to'])
  }
})

test('models-15: one that is slow, whose reader is slow, or that ends when it is told to is charged with nothing', async (t) => {
  const slow = routeOf(async function* () {
    for (let at = 0; at < 3; at += 1) {
      await new Promise<void>((resolve) => (go = resolve))
      yield delta
    }
    yield done
  })
  let go = (): void => {}
  const answer = slow.asked()
  for (let at = 0; at < 3; at += 1) {
    await slow.leap(7)
    go()
  }
  t.is((await answer).done?.outcome, 'stop')
  const obedient = routeOf(async function* (_, signal) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    yield done
  })
  const silent = obedient.asked()
  await obedient.leap(11)
  t.like((await silent).done, { failure: { class: 'timeout' } })
  await obedient.leap(11)
  t.deepEqual([...slow.broken, ...obedient.broken], [])
})

test('models-15: a provider that does not obey its signal is charged, and its answer and its place are over', async (t) => {
  const { asked, leap, broken } = routeOf(async function* () {
    yield delta
    await never
  })
  const controller = new AbortController()
  const answer = asked(controller.signal)
  await turns()
  controller.abort()
  await leap(11)
  t.like((await answer).done, { failure: { class: 'aborted', retryable: false } })
  t.is(broken.length, 1)
})

test('models-15: a run whose provider waits for ever is asked again and fails as one that was silent', async (t) => {
  const model = scriptedProvider((): any => [{ type: 'text_delta', text: 'Well' }, never])
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, runs: { model_attempts: 2, model_retry_base_ms: 1, model_patience_ms: 0 } },
    flags: { 'provider-idle-timeout-ms': '200' },
  })
  await openSession(daemon)
  const { error } = await until(daemon, (await submit(daemon, 's1', 'hello')).run_id, 'failed')
  t.is(error, 'model_retries_exhausted: The provider scripted was silent for too long.')
  t.is(model.requests.length, 2)
})
