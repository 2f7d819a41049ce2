import test from 'ava'
import { unsafeCast } from '../../../../core/base/schema.js'
import type { Portions } from '../../../../core/base/turns.js'
import { createCapture, type CaptureParts } from '../../../../plugins/execution/debug/capture.js'
import type { Observed } from '../../../../plugins/execution/engine/contract.js'

const observed: Observed = unsafeCast({
  kind: 'model',
  name: 'demo',
  run_id: 'run_1',
  session_id: 's1',
  request: 'asked',
  answer: 'answered',
})

test('debug-16: a stop gives up what is not cleaned in time, and tells how much', async (t) => {
  let now = 0
  let portions = 0
  const lines: string[] = []
  function* endless(): Portions<string> {
    for (;;) {
      portions += 1
      now += 1000
      yield
    }
  }
  const capture = createCapture(
    unsafeCast<CaptureParts>({
      clock: { elapsed: () => now },
      log: { warn: (fact: string, details: object) => void lines.push(JSON.stringify({ fact, ...details })) },
      level: () => 'redacted',
      known: endless,
    }),
  )
  for (let piece = 0; piece < 3; piece += 1) capture.observe(observed)
  await capture.end(5000)
  t.is(portions, 5)
  t.is(lines.length, 1)
  t.like(JSON.parse(lines[0] ?? ''), { fact: 'evidence that still waited at the stop was given up', pieces: 3 })
})
