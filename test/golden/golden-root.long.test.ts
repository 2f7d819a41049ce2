import test from 'ava'
import { partOf } from '../support/volume.js'
import { flipBits } from './golden-flips.js'

// Not by a divisor of eight, so that each bit of a byte is among them.
test('any bit of a root, flipped, is noticed or changes nothing that can be seen', (t) => flipBits(t, partOf(13, 1)))
