import test from 'ava'
import { mutants, tryMutant, tryUnchanged } from './mutants.js'

test('the store as it is passes every suite by the way of the mutants', async (t) => {
  for (const { mutant, caught } of await tryUnchanged()) t.is(caught, undefined, mutant)
})

test('every mutant of the store is caught', async (t) => {
  let caught = 0
  for (const mutant of mutants) {
    const verdict = await tryMutant(mutant)
    t.log(
      `${verdict.caught === undefined ? 'SURVIVED' : 'caught'} after ${verdict.seconds.toFixed(1)} s: ` +
        `${mutant.name}${verdict.caught === undefined ? '' : ` (${verdict.caught.split('\n')[0]?.slice(0, 90)})`}`,
    )
    t.not(verdict.caught, undefined, mutant.name)
    if (verdict.caught !== undefined) caught += 1
  }
  t.true(caught >= 12)
})
