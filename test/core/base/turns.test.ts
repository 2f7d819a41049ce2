import test from 'ava'
import { createShare } from '../../../core/base/turns.js'

/** A clock of one worker: it moves while that works and while it sleeps; others may hold it for longer. */
const createWorkClock = (lateMs = 0) => {
  const spent = { work: 0, rest: 0, longest: 0 }
  let [at, slice] = [0, 0]
  return {
    spent,
    elapsed: () => at,
    work(ms: number) {
      at += ms
      spent.work += ms
      slice += ms
      spent.longest = Math.max(spent.longest, slice)
    },
    async sleep(ms: number) {
      const rested = ms + lateMs
      at += rested
      spent.rest += rested
      slice = 0
      return true
    },
  }
}

const { signal } = new AbortController()

for (const lateMs of [0, 3, 12])
  test(`state-31: a share of the time is that share where others are ${lateMs} ms late`, async (t) => {
    const clock = createWorkClock(lateMs)
    const pause = createShare(clock, { part: 0.2, signal })
    for (let step = 0; step < 10_000; step += 1) {
      clock.work(0.2)
      await pause()
    }
    const { work, rest, longest } = clock.spent
    t.true(Math.abs(work / (work + rest) - 0.2) < 0.02, `${work} of ${work + rest} ms`)
    t.true(longest <= 50 / 4 + 2.2, `${longest} ms at a time`)
  })

test('state-31: a share of the time of a clock that stands still leaves turns to others', async (t) => {
  const pause = createShare({ elapsed: () => 0, sleep: () => Promise.resolve(true) }, { part: 0.2, signal })
  let turns = 0
  for (let step = 0; step < 640; step += 1) {
    const others = pause()
    if (others !== undefined) turns += 1
    await others
  }
  t.is(turns, 10)
})
