/**
 * What the turn of a file costs: `HOLDFAST_TEST_COSTS=FILE npm test` adds a line for each to a file, milliseconds of CPU
 * time first, those of programs that have ended included.
 */
import { appendFileSync, readFileSync } from 'node:fs'

const file = process.env['HOLDFAST_TEST_COSTS']

/** Milliseconds of a tick of the clock that /proc counts by. */
const tickMs = 10

/** CPU time of this process and of programs that it had run, ms. */
export const spent = (): number => {
  if (file === undefined) return 0
  const [user = 0, system = 0, ofUser = 0, ofSystem = 0] = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /su, '')
    .split(' ')
    .slice(11, 15)
    .map(Number)
  return (user + system + ofUser + ofSystem) * tickMs
}

export const noteCost = (name: string, before: number): void => {
  if (file !== undefined) appendFileSync(file, `${String(spent() - before).padStart(7)} ${name}\n`)
}
