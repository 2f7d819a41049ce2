import test from 'ava'
import { partOf } from '../support/volume.js'
import { crashSuite } from './crash-suite.js'

test(
  'a power cut after any operation of lives that end in closes, kills and power cuts loses nothing that was ' +
    'acknowledged',
  async (t) => {
    await crashSuite(t, { states: partOf(3_000, 68_000), ends: ['close', 'kill', 'power'], rounds: 20, images: 3 })
  },
)
