/** Starts, memory and disk with runs that are stored. */
import { rmSync } from 'node:fs'
import { median, prepare, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { submitAndComplete } from '../load.js'
import { bytesBelow } from '../server.js'

const fill = async (url: string, count: number, prefix: string): Promise<void> => {
  await prepare(url, prefix, 64)
  await submitAndComplete(url, { clients: 64, milliseconds: 240_000, most: count, prefix })
}

/** Start-up time, memory and disk with `stored` runs; each start is of a root that was closed cleanly. */
const measureStored = async ({ note }: Bench, root: string, stored: number): Promise<void> => {
  const times: number[] = []
  let resident = 0
  for (let round = 0; round < 3; round += 1) {
    const daemon = await startDaemon(root)
    times.push(daemon.startMs)
    await new Promise((resolve) => setTimeout(resolve, 1000))
    resident = daemon.resident()
    await daemon.stop()
  }
  note(`cold start, ${stored} stored runs`, 'ms', 'less', median(times))
  note(`resident, ${stored} stored runs`, 'MB', 'less', resident)
  if (stored > 0) note(`disk per run, ${stored} stored runs`, 'B', 'less', bytesBelow(root) / stored)
}

const measure = async (bench: Bench): Promise<void> => {
  const root = temporaryRoot()
  await measureStored(bench, root, 0)
  let stored = 0
  for (const target of bench.quick ? [2_000] : [10_000, 100_000]) {
    const daemon = await startDaemon(root)
    await fill(daemon.url, target - stored, `fill${target}-`)
    stored = target
    await daemon.stop()
    await measureStored(bench, root, target)
  }
  rmSync(root, { recursive: true })
}

export const storage: Part = { name: 'storage', measure }
