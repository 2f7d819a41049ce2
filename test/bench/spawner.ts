/**
 * A process of the size that its first argument names, MiB, that starts programs by the service and by itself in turns.
 * Prints the medians as one line of JSON.
 */
import { createClock } from '../../core/base/clock.js'
import { createIds } from '../../core/base/ids.js'
import type { Processes } from '../../core/processes/contract.js'
import { startDirectly } from '../../core/processes/direct.js'
import { createProcesses } from '../../core/processes/processes.js'
import { quantile } from './load.js'

export interface Starts {
  /** Until the number of the program is known, ms. */ readonly start: number
  /** Until its end is known, ms. */ readonly end: number
  /** The longest stand-still of the event loop, ms. */ readonly blocked: number
  /** CPU time of this process, ms. */ readonly cpu: number
}

const [size = 0, rounds = 100] = process.argv.slice(2).map(Number)
const step = 8
const ballast = Array.from({ length: size / step }, () => Buffer.alloc(step * 1024 * 1024, 1))

/** Calls itself in every turn of the loop until it is told to end; answers with the longest turn. */
const watchTurns = (): (() => number) => {
  let [longest, last, going] = [0, performance.now(), true]
  const turn = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (going) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    going = false
    turn()
    return longest
  }
}

const wish = { file: '/bin/true', args: [], folder: '/', environment: {} }
const startOne = async ({ start }: Processes): Promise<Omit<Starts, 'cpu'>> => {
  const blocked = watchTurns()
  const began = performance.now()
  const program = await start(wish)
  const started = performance.now() - began
  program.letGo()
  await program.ended
  return { start: started, end: performance.now() - began, blocked: blocked() }
}

const clock = createClock()
const quiet = (): void => {}
const service = createProcesses({
  ids: createIds(clock),
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
})
const ways: readonly Processes[] = [service, { start: startDirectly }]
const samples: Starts[][] = ways.map(() => [])
for (let round = -10; round < rounds; round += 1)
  for (const [way, processes] of ways.entries()) {
    const before = process.cpuUsage()
    const one = await startOne(processes)
    const { user, system } = process.cpuUsage(before)
    if (round >= 0) samples[way]?.push({ ...one, cpu: (user + system) / 1000 })
  }
await service.close()
const middle = (rows: readonly Starts[]): Starts => {
  const pick = (key: keyof Starts): number =>
    quantile(
      rows.map((row) => row[key]),
      0.5,
    )
  return { start: pick('start'), end: pick('end'), blocked: pick('blocked'), cpu: pick('cpu') }
}
process.stdout.write(`${JSON.stringify({ ways: samples.map(middle), ballast: ballast.length })}\n`)
