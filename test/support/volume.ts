/** Numbers that a test takes for volume's sake: a long test file that imports a short one runs it with all of them. */
import test from 'ava'

const isLong = test.meta.file.endsWith('.long.test.js')

export const volume = (sample: number, whole: number): number => (isLong ? whole : sample)
