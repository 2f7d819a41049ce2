/** Together with the crash suites more than 200,000 states. */
import test from 'ava'
import { errorSuite } from './error-suite.js'

test('every call that fails once, in each way, costs nothing that was acknowledged, also after a kill or a power cut', (t) =>
  errorSuite(t, { span: 1, rounds: 11, step: 1, least: 42_000 }))

test('at every call a disk that fails for a while costs nothing that was acknowledged, also after a kill or a power cut', (t) =>
  errorSuite(t, { span: 12, rounds: 10, step: 1, least: 23_000 }))
