/** Outputs with files through kills. */
import test from 'ava'
import { killInOutputs } from '../../../support/sent-files.js'
import { partOf } from '../../../support/volume.js'

test('deliveries-36: kills in the middle of outputs with files leave each whole or absent, and lose no file', (t) =>
  killInOutputs(t, partOf(8, 20)))
