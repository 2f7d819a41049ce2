import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import type { FailureClass, ModelEvent } from '../../../../plugins/execution/models/contract.js'
import { flagWords } from '../../../../plugins/execution/models/file/route-words.js'
import { watchedRoute } from '../../../../plugins/execution/models/route-health.js'
import { createRoutePace } from '../../../../plugins/execution/models/route-pace.js'
import { ask, requestOf, unwatched, userText } from '../../../support/models.js'

test('models-12: a route is a warning from a call that failed until one that succeeds, unless the question was at fault', async (t) => {
  let next: ModelEvent = { type: 'done', outcome: 'stop', usage: { input_tokens: 1, output_tokens: 1 } }
  const success = next
  const clock = createClock()
  const route = watchedRoute(
    {
      readiness: () => ({ state: 'ok', code: 'ready', message: 'Ready.' }),
      async *stream() {
        yield next
      },
    },
    { provider: 'test', ...unwatched, clock, words: flagWords, pace: createRoutePace(clock, () => {}) },
  )
  const fails = async (cls: FailureClass): Promise<string> => {
    next = { type: 'done', outcome: 'failed', failure: { class: cls, retryable: false, message: `It is ${cls}.` } }
    await ask(route, requestOf([userText('hi')]))
    return route.readiness().message
  }
  t.is(route.readiness().state, 'ok')
  for (const cls of ['aborted', 'context_length'] as const) t.is(await fails(cls), 'Ready.')
  t.is(await fails('network'), 'The last call failed. It is network.')
  for (const [n, cls] of (['auth', 'truncated', 'invalid_output'] as const).entries())
    t.is(await fails(cls), `The last ${n + 2} calls failed. It is ${cls}.`)
  t.like(route.readiness(), { state: 'warning', code: 'route_failing' })
  t.is(route.readiness().action, flagWords.check)
  t.is(await fails('provider_fault'), 'The last 5 calls failed. It is provider_fault.')
  t.regex(route.readiness().action ?? '', /^See the fault of the plugin test with: holdfast plugins list\./u)
  await fails('network')
  t.is(route.readiness().action, flagWords.check)
  next = success
  await ask(route, requestOf([userText('hi')]))
  t.is(route.readiness().state, 'ok')
})
