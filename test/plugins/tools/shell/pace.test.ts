import test from 'ava'
import { createPace } from '../../../../plugins/tools/shell/pace.js'
import { createClock } from '../../../../core/base/clock.js'

const mebibyte = 1024 * 1024

test('output is taken as it comes up to a burst, then at a bounded rate, and a quiet time gives the burst back', async (t) => {
  let time = 0
  const slept: number[] = []
  const clock = {
    ...createClock(),
    elapsed: () => time,
    sleep: (ms: number) => {
      slept.push(Math.round(ms))
      time += ms
      return Promise.resolve(true)
    },
  }
  const pace = createPace(clock)
  for (let at = 0; at < 16; at += 1) await pace.passed(mebibyte)
  t.deepEqual(slept, [])
  for (let at = 0; at < 3; at += 1) await pace.passed(mebibyte)
  t.deepEqual(slept, [1000, 1000, 1000])
  time += 60_000
  for (let at = 0; at < 16; at += 1) await pace.passed(mebibyte)
  t.is(slept.length, 3)
})
