/** All of it is, together with the crash suites, more than 200,000 states. */
import test from 'ava'
import { partOf } from '../support/volume.js'
import { errorSuite } from './error-suite.js'

test('a call that fails once, in each way, costs nothing that was acknowledged, also after a kill or a power cut', (t) =>
  errorSuite(t, { span: 1, rounds: 11, step: partOf(30, 1), least: partOf(2_500, 42_000) }))

test('at any call a disk that fails for a while costs nothing that was acknowledged, also after a kill or a power cut', (t) =>
  errorSuite(t, { span: 12, rounds: 10, step: partOf(40, 1), least: partOf(1_800, 23_000) }))
