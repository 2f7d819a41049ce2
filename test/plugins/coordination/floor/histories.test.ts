/** Invariants of the floor under short random histories. */
import test from 'ava'
import fc from 'fast-check'
import { History, play } from './histories.js'

test('floor-17: no floor without a run, no turn without the floor, never too many speakers or messages', async (t) => {
  t.timeout(600_000)
  const sums = { said: 0, turns: 0 }
  await fc.assert(
    fc.asyncProperty(History(12), async (history) => {
      const { said, turns } = await play(t, history)
      sums.said += said
      sums.turns += turns
    }),
    { numRuns: 6, endOnFailure: true },
  )
  t.log(sums)
  t.true(sums.turns > 0)
})
