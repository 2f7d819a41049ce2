import test from 'ava'
import { backoff, chance } from '../../../core/base/backoff.js'
import { createClock } from '../../../core/base/clock.js'
import { createIds } from '../../../core/base/ids.js'
import { within } from '../../../core/base/within.js'

const clock = createClock()

test('work that ends in time is waited for and leaves no timer; a rejection in time is passed on', async (t) => {
  const waiting = new Set<() => void>()
  const watched: typeof clock = {
    ...clock,
    after: (ms, act) => {
      const cancel = clock.after(ms, act)
      waiting.add(cancel)
      return () => {
        waiting.delete(cancel)
        cancel()
      }
    },
  }
  t.true(await within(watched, 60_000, Promise.resolve('done')))
  await t.throwsAsync(within(watched, 60_000, Promise.reject(new RangeError('no'))), { message: 'no' })
  await new Promise(setImmediate)
  t.is(waiting.size, 0)
})

test('work that is late is left alone, and what it rejects with then is nobody else’s', async (t) => {
  let reject: (error: Error) => void = () => {}
  const work = new Promise<never>((_, no) => {
    reject = no
  })
  const keep = setTimeout(() => {}, 60_000)
  t.false(await within(clock, 1, work))
  clearTimeout(keep)
  reject(new RangeError('late'))
  await t.throwsAsync(work, { message: 'late' })
})

test('a wait doubles up to its longest, for any number of attempts', (t) => {
  const waits = [1, 2, 3, 4, 41, 1e9].map((attempt) => backoff({ base: 100, max: 500 }, attempt))
  t.deepEqual(waits, [100, 200, 400, 500, 500, 500])
  const ids = createIds(clock)
  for (let n = 0; n < 100; n += 1) t.true(chance(ids) >= 0 && chance(ids) < 1)
})
