/**
 * Numbers that a test takes for volume's sake, and tests that are dear by nature: a long test file that imports a short
 * one runs it with all of them.
 */
import test, { type TestFn } from 'ava'
import { unsafeCast } from '../../core/base/schema.js'

const isLong = test.meta.file.endsWith('.long.test.js')

export const volume = (sample: number, whole: number): number => (isLong ? whole : sample)

/** A part of what takes hours together: `HOLDFAST_TEST_ALL=1 npm run test:long` takes all. */
export const partOf = (part: number, all: number): number => (process.env['HOLDFAST_TEST_ALL'] === '1' ? all : part)

const undeclared: TestFn = unsafeCast(Object.assign(() => {}, { serial: () => {} }))

/** Declares a test for the short suite alone: what nothing of it would add to in the long one. */
export const shortOnly = (declare: TestFn): TestFn => (isLong ? undeclared : declare)
