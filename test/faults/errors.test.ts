/** A sample of the places where calls can fail; the long suite tries each. */
import test from 'ava'
import { errorSuite } from './error-suite.js'

test('calls that fail once, in each way, cost nothing that was acknowledged, also after a kill or a power cut', (t) =>
  errorSuite(t, { span: 1, rounds: 4, step: 128, least: 20 }))

test('a disk that fails for a while costs nothing that was acknowledged, also after a kill or a power cut', (t) =>
  errorSuite(t, { span: 12, rounds: 4, step: 176, least: 17 }))
