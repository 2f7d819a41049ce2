import test, { type ExecutionContext } from 'ava'
import { rm } from 'node:fs/promises'
import { createClock } from '../../../../core/base/clock.js'
import { retryDelay } from '../../../../plugins/execution/engine/route-wait.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { openSession, submit, until } from '../../../support/runs.js'
import {
  callTool,
  done,
  fails,
  scriptedProvider,
  text,
  type Play,
} from '../../../../plugins/providers/scripted/contract.js'

const start = async (t: ExecutionContext, play: Play, runs: Record<string, number> = {}, root?: string) => {
  const clock = createLeapingClock()
  const model = scriptedProvider(play)
  const daemon = await startTestDaemon(t, {
    clock,
    plugins: [effectTools(createWorld()), model.plugin],
    config: { ...model.config, runs: { model_retry_base_ms: 1, model_retry_max_ms: 5, ...runs } },
    ...(root !== undefined && { root }),
  })
  await openSession(daemon)
  const waiting = async (run_id: string): Promise<any> => {
    for (;;) {
      const { body } = await daemon.request('GET', `/v1/runs/${run_id}`)
      if (body.waiting_for_model_route !== undefined) return body.waiting_for_model_route
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  return { daemon, clock, model, waiting }
}

/** Asks for a minute before the next attempt. */
const minute = { model_retry_max_ms: 60_000 }
const down = (): ReturnType<Play> => [fails(true, 'It is down.', 60_000)]

test('the wait before another attempt doubles up to its limit, unless the provider asks for a longer one', (t) => {
  const failure = { class: 'overloaded', retryable: true, message: 'It is busy.' } as const
  const bounds = { base: 500, max: 3000 }
  t.deepEqual(
    [1, 2, 3, 4, 5].map((attempt) => retryDelay(failure, attempt, bounds)),
    [500, 1000, 2000, 3000, 3000],
  )
  t.is(retryDelay({ ...failure, retry_after_ms: 1200 }, 1, bounds), 1200)
  t.is(retryDelay({ ...failure, retry_after_ms: 1200 }, 4, bounds), 3000, 'ours is longer than what it asks for')
  t.is(retryDelay({ ...failure, retry_after_ms: 0 }, 1, bounds), 500, 'a server that is busy is not asked at once')
  t.is(retryDelay({ ...failure, retry_after_ms: 60_000 }, 1, bounds), 60_000, 'what it asks for is longer than ours')
  t.is(retryDelay({ ...failure, retry_after_ms: 31_536_000_000 }, 1, bounds), 300_000)
})

test('runs-35: a run that has not acted outlives a route that is down for longer than a few attempts', async (t) => {
  const { daemon, model } = await start(t, (_, count) => (count < 9 ? [fails(true)] : [text('back'), done()]))
  const run = await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'completed')
  t.is(run.outputs[0].content, 'back')
  t.is(run.waiting_for_model_route, undefined)
  t.is(model.requests.length, 9)
})

test('runs-35: a run that waits for its route says so, with the time of the next attempt, and can be cancelled', async (t) => {
  const { daemon, clock, waiting } = await start(t, down, minute)
  const { run_id } = await submit(daemon, 's1', 'x')
  const seen = await waiting(run_id)
  t.like(seen, { attempts: 1, code: 'overloaded', message: 'It is down.' })
  t.is(seen.next_attempt_at_ms, seen.since_ms + 60_000)
  clock.leap(60_000)
  while ((await waiting(run_id)).attempts < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  const { body } = await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  t.is(body.status, 'cancelled')
  t.is(body.waiting_for_model_route, undefined)
})

test('a run that waits for its route stops with the daemon at once and waits on in its next life', async (t) => {
  const root = await freshRoot()
  const first = await start(t, down, minute, root)
  const { run_id } = await submit(first.daemon, 's1', 'x')
  const before = await first.waiting(run_id)
  const clock = createClock()
  const began = clock.elapsed()
  await first.daemon.stop()
  t.true(clock.elapsed() - began < 4000, 'the stop waited for a step that only waits')
  const second = await start(t, () => [text('back'), done()], minute, root)
  t.deepEqual(await second.waiting(run_id), before)
  t.is(second.model.requests.length, 0)
  second.clock.leap(60_000)
  t.like(await until(second.daemon, run_id, 'completed'), { outputs: [{ content: 'back' }] })
  await second.daemon.stop()
  await rm(root, { recursive: true, force: true })
})

test('patience has an end: the run fails with the reason of the last attempt', async (t) => {
  const { daemon, model, clock, waiting } = await start(t, down, { ...minute, model_patience_ms: 150_000 })
  const { run_id } = await submit(daemon, 's1', 'x')
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    while (model.requests.length < attempt) await new Promise((resolve) => setTimeout(resolve, 5))
    if (attempt === 4) break
    while ((await waiting(run_id)).attempts < attempt) await new Promise((resolve) => setTimeout(resolve, 5))
    clock.leap(60_000)
  }
  t.is((await until(daemon, run_id, 'failed')).error, 'model_retries_exhausted: It is down.')
  t.is(model.requests.length, 4)
})

test('a run that has acted, or whose model answers nonsense, keeps to the few attempts', async (t) => {
  const { daemon, model } = await start(t, ({ messages }) => {
    if (JSON.stringify(messages.at(-1)).includes('nonsense')) return [text('no end')]
    return messages.length === 1 ? [callTool('c1', 'pay'), done('tool_calls')] : [fails(true)]
  })
  await until(daemon, (await submit(daemon, 's1', 'x')).run_id, 'failed')
  t.is(model.requests.length, 4)
  await openSession(daemon, 's2')
  await until(daemon, (await submit(daemon, 's2', 'nonsense')).run_id, 'failed')
  t.is(model.requests.length, 7)
})
