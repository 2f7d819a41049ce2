import test from 'ava'
import { afterlifeMs, createAfterlife } from '../../../../core/base/text/guarded.js'
import { createPause } from '../../../support/pause.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'

test('secrets-22: values that were replaced are let go after five minutes, and the oldest earlier where they are large', async (t) => {
  const clock = createLeapingClock({ still: true })
  const gone: string[] = []
  const afterlife = createAfterlife(clock)
  const add = (name: string, size: number): void => afterlife.add(size, () => gone.push(name))
  const most = 4 * 1024 * 1024
  add('first', most / 2)
  add('second', most / 2)
  t.deepEqual(gone, [], 'as many as there may be')
  clock.leap(afterlifeMs / 2)
  add('third', 1)
  t.deepEqual(gone, ['first'])
  clock.leap(afterlifeMs / 2)
  for (const pause = createPause(); gone.length < 2;) await pause()
  t.deepEqual(gone, ['first', 'second'], 'each once')
  add('fourth', most - 1)
  t.deepEqual(gone, ['first', 'second'], 'what is gone takes no room')
  add('fifth', most + 1)
  t.deepEqual(gone, ['first', 'second', 'third', 'fourth', 'fifth'], 'what alone is larger is not kept')
})
