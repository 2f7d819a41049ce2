import test from 'ava'
import { partOf } from '../support/volume.js'
import { firstSeed } from './crash-suite.js'
import { exploreFalls, type FallTally } from './falls.js'
import { fallMutants, fallsOf } from './fall-mutants.js'
import { loadEngine } from './life.js'
import { tryMutant } from './mutants.js'
import type { FaultKind } from './simulated-disk.js'

const kinds: readonly FaultKind[] = ['ENOSPC', 'EIO', 'EMFILE', 'short']

test('a kill or a power cut at every other point of lives with partitions leaves the state before what went on or behind it', async (t) => {
  const engine = await loadEngine()
  const tally: FallTally = { states: 0, falls: 0, operations: 0 }
  for (let seed = firstSeed(); tally.states < partOf(200, 3000); seed += 1)
    await exploreFalls({ engine, seed, steps: 60, every: 2 }, tally)
  t.log(`${tally.states} states at ${tally.operations} operations, with ${tally.falls} falls`)
  t.true(tally.falls > 0)
})

test('a disk that fails or is full in the middle of a close or a fall of partitions costs nothing that is kept', async (t) => {
  const engine = await loadEngine()
  const tally: FallTally = { states: 0, falls: 0, operations: 0 }
  for (let at = 40; at < 400; at += partOf(72, 9)) {
    const span = at % 2 === 0 ? 1 : 12
    const kind = kinds[at % kinds.length] ?? 'ENOSPC'
    const fail = ({ number }: { readonly number: number }): FaultKind | undefined =>
      number >= at && number < at + span ? kind : undefined
    await exploreFalls({ engine, seed: firstSeed() + (at % 5), steps: 50, every: 61, fail }, tally)
  }
  t.log(`${tally.states} states at ${tally.operations} operations, with ${tally.falls} falls`)
  t.true(tally.falls > partOf(15, 30))
})

test('a store whose partitions fall carelessly is caught', async (t) => {
  t.is((await tryMutant({ name: 'unchanged' }, fallsOf)).caught, undefined)
  for (const mutant of fallMutants.filter((_, at) => at % partOf(6, 1) === 0)) {
    const { caught, seconds } = await tryMutant(mutant, fallsOf)
    t.log(`${caught === undefined ? 'SURVIVED' : 'caught'} after ${seconds.toFixed(1)} s: ${mutant.name}`)
    t.not(caught, undefined, mutant.name)
  }
})
