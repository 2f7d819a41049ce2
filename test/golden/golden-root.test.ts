import test from 'ava'
import { loadEngine } from '../faults/life.js'
import { expected, flipBits, look } from './golden-flips.js'
import { goldenFolder, imageOf } from './golden-root.js'

test('state-6: a root of format 1 opens, and holds what was put into it', async (t) => {
  const { seen, said } = await look(await loadEngine(), imageOf(goldenFolder))
  t.is(said, '')
  t.is(seen, expected)
})

test('state-17: every 41st bit of a root, flipped, is noticed or changes nothing that can be seen', (t) =>
  flipBits(t, 41))
