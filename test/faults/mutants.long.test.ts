import test from 'ava'
import { partOf } from '../support/volume.js'
import { mutants, tryMutant, tryUnchanged } from './mutants.js'

test('the store as it is passes every suite by the way of the mutants', async (t) => {
  for (const { mutant, caught } of await tryUnchanged()) t.is(caught, undefined, mutant)
})

test('a mutant of the store is caught', async (t) => {
  const tried = mutants.filter((_, at) => at % partOf(9, 1) === 0)
  for (const mutant of tried) {
    const verdict = await tryMutant(mutant)
    t.log(
      `${verdict.caught === undefined ? 'SURVIVED' : 'caught'} after ${verdict.seconds.toFixed(1)} s: ` +
        `${mutant.name}${verdict.caught === undefined ? '' : ` (${verdict.caught.split('\n')[0]?.slice(0, 90)})`}`,
    )
    t.not(verdict.caught, undefined, mutant.name)
  }
  t.true(tried.length >= partOf(3, 30))
})
