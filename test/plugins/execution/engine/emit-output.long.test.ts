/** Outputs with files under a thousand deletions. */
import test from 'ava'
import { deleteInOutputs } from '../../../support/sent-files.js'

test('runs-53: of a thousand deletions in the middle of an output each comes first and fails it, or is refused', (t) =>
  deleteInOutputs(t, 50))
