/** Outputs with files through twenty kills. */
import test from 'ava'
import { killInOutputs } from '../../../support/sent-files.js'

test('deliveries-36: twenty kills in the middle of outputs with files leave each whole or absent, and lose no file', (t) =>
  killInOutputs(t, 20))
