import test from 'ava'
import { crashSuite } from './crash-suite.js'
import { fallMutants } from './fall-mutants.js'
import { misplaced, mutants } from './mutants.js'

test('state-8: a power cut after any operation of short lives with any end loses nothing that was acknowledged', async (t) => {
  await crashSuite(t, { states: 800, ends: ['close', 'kill', 'power'], rounds: 6, images: 2 })
})

test('the text that each mutant of the long tests changes is there once', (t) => {
  t.deepEqual(misplaced([...mutants, ...fallMutants]), [])
})
