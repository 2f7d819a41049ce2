/** Invariants of the floor under long random histories. */
import test from 'ava'
import fc from 'fast-check'
import { History, play } from './histories.js'

test('floor-17: they hold in long histories, too', async (t) => {
  t.timeout(3_600_000)
  const sums = { said: 0, turns: 0 }
  await fc.assert(
    fc.asyncProperty(History(60), async (history) => {
      const { said, turns } = await play(t, history)
      sums.said += said
      sums.turns += turns
    }),
    { numRuns: 40, endOnFailure: true },
  )
  t.log(sums)
  t.true(sums.said > 100)
})
