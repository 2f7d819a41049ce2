import test from 'ava'
import { flipBits } from './golden-flips.js'

test('every bit of a root, flipped, is noticed or changes nothing that can be seen', (t) => flipBits(t, 1))
