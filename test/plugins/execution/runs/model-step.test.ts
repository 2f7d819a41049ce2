import test from 'ava'
import { retryDelay } from '../../../../plugins/execution/runs/model-step.js'

test('the wait before another attempt doubles up to its limit, unless the provider asks for a time', (t) => {
  const failure = { class: 'overloaded', retryable: true, message: 'It is busy.' } as const
  const bounds = { base: 500, max: 3000 }
  t.deepEqual(
    [1, 2, 3, 4, 5].map((attempt) => retryDelay(failure, attempt, bounds)),
    [500, 1000, 2000, 3000, 3000],
  )
  t.is(retryDelay({ ...failure, retry_after_ms: 1200 }, 4, bounds), 1200)
  t.is(retryDelay({ ...failure, retry_after_ms: 0 }, 4, bounds), 0)
  t.is(retryDelay({ ...failure, retry_after_ms: 60_000 }, 1, bounds), 3000)
})
