import test from 'ava'
import { exploreFalls, type FallTally } from './falls.js'
import { loadEngine } from './life.js'

test('a kill or a power cut at any point of a close or a fall of partitions leaves the state before it or behind it', async (t) => {
  const engine = await loadEngine()
  const tally: FallTally = { states: 0, falls: 0, operations: 0 }
  for (let seed = 1; tally.states < 8; seed += 1) await exploreFalls({ engine, seed, steps: 40, every: 29 }, tally)
  t.log(`${tally.states} states at ${tally.operations} operations, with ${tally.falls} falls`)
  t.true(tally.falls >= 1)
})
