/** Programs that the daemon starts, at a small and at a large size: by the starter, and as the floor by itself. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { programOf, type Bench, type Part } from '../bench.js'
import type { Starts } from '../spawner.js'

const run = promisify(execFile)

const startsAt = async (size: number, rounds: number): Promise<readonly Starts[]> => {
  const { stdout } = await run(process.execPath, [programOf('spawner'), String(size), String(rounds)])
  return JSON.parse(stdout).ways
}

const measure = async ({ note, quick }: Bench): Promise<void> => {
  for (const size of [0, 600]) {
    const [ours, direct] = await startsAt(size, quick ? 50 : 300)
    if (ours === undefined || direct === undefined) return
    const at = size === 0 ? 'small' : `${size} MiB more`
    note(`start of a program, ${at} p50`, 'ms', 'less', ours.start, direct.start)
    note(`start to end of a program, ${at} p50`, 'ms', 'less', ours.end, direct.end)
    note(`loop blocked by a start, ${at} p50`, 'ms', 'less', ours.blocked, direct.blocked)
  }
}

export const spawn: Part = { name: 'spawn', measure }
