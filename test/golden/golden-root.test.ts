import test from 'ava'
import { loadEngine } from '../faults/life.js'
import { expected, flipBits, look } from './golden-flips.js'
import { noTables } from '../../core/state/pages/table-set.js'
import { goldenFolder, imageOf, oneIndexFolder } from './golden-root.js'

test('state-6: a root of format 1 opens, and holds what was put into it', async (t) => {
  const { seen, said } = await look(await loadEngine(), imageOf(goldenFolder))
  t.is(said, '')
  t.is(seen, expected)
})

test('state-6: a root of format 1 with one index for each collection opens, and has tables from then on', async (t) => {
  const { seen, said } = await look(await loadEngine(), imageOf(oneIndexFolder))
  t.is(
    said,
    JSON.stringify({ quarantined: [], rebuilt: ['items', 'journal'].map((of) => `index of ${of}: ${noTables}`) }),
  )
  t.is(seen, expected)
})

test('state-17: every 97th bit of a root, flipped, is noticed or changes nothing that can be seen', (t) =>
  flipBits(t, 97))
