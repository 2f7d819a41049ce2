/** How much of what comes and goes reaches the old heap of V8, where it stays until all of that is collected. */
import { execFileSync } from 'node:child_process'

/**
 * Bytes that collections copied into the old heap of a process while things came and went. `make` is code that declares
 * `enter(key, thing)`, which returns what lets the thing go. Those that are there first get old, and what holds them
 * with them.
 */
export const promoted = (make: string): number => {
  const script = `${make}
    const allocate = () => {
      for (let n = 0; n < 100; n += 1) globalThis.last = new Array(150).fill(n)
    }
    const thingOf = (n) => Array.from({ length: 100 }, (_, at) => ({ at, of: [n, at, 0.5] }))
    const leaving = []
    for (let n = 0; n < 8; n += 1) leaving.push(enter('first' + n, thingOf(n)))
    for (let n = 0; n < 1000; n += 1) allocate()
    for (let n = 0; n < 20000; n += 1) {
      leaving.push(enter(String(n), thingOf(n)))
      leaving.shift()()
      allocate()
    }`
  const flags = ['--trace-gc-nvp', '--max-semi-space-size=4', '--input-type=module']
  const told = execFileSync(process.execPath, [...flags, '-e', script], { encoding: 'utf8', env: {} })
  return [...told.matchAll(/ promoted=(\d+)/gu)].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
}
