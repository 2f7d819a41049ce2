/** Runs, reads and events under load, beside the floor. */
import { rmSync } from 'node:fs'
import {
  measureRuns,
  median,
  prepare,
  startDaemon,
  startFloor,
  temporaryRoot,
  type Bench,
  type Measured,
  type Part,
} from '../bench.js'
import { fanOut, readLoop, send, submitAndComplete, watchRuns } from '../load.js'
import type { Server } from '../server.js'

interface Pair {
  readonly daemon: Server
  readonly floor: Server
}

/**
 * Both have executed thousands of runs before anything is measured, so that neither is compared while its code is being
 * compiled.
 */
const warmUp = async ({ quick }: Bench, servers: readonly Server[]): Promise<void> => {
  for (const { url } of servers)
    await submitAndComplete(url, { clients: 64, milliseconds: 60_000, most: quick ? 3000 : 8000, prefix: 'warm-' })
}

const compareRuns = async (
  { note, rounds, milliseconds }: Bench,
  { daemon, floor }: Pair,
  clients: number,
): Promise<void> => {
  const ours: Measured[] = []
  const bare: Measured[] = []
  for (let round = 0; round < rounds; round += 1) {
    const prefix = `c${clients}-${round}-`
    await prepare(daemon.url, prefix, clients)
    bare.push(await measureRuns(floor, { clients, prefix, milliseconds }))
    ours.push(await measureRuns(daemon, { clients, prefix, milliseconds }))
  }
  const pick = (samples: readonly Measured[], key: keyof Measured): number =>
    median(samples.map((sample) => sample[key]))
  const both = (what: string, unit: string, better: 'more' | 'less', key: keyof Measured): void =>
    note(`${what}, ${clients} clients`, unit, better, pick(ours, key), pick(bare, key))
  both('detached runs completed', '/s', 'more', 'perSecond')
  both('submit to completed p50', 'ms', 'less', 'p50')
  both('submit to completed p99', 'ms', 'less', 'p99')
  both('submit p50', 'ms', 'less', 'submitP50')
  both('submit p99', 'ms', 'less', 'submitP99')
  both('server CPU per run', 'ms', 'less', 'cpuPerRun')
}

const compareReads = async ({ note, milliseconds }: Bench, { daemon, floor }: Pair): Promise<void> => {
  const ids = await Promise.all(
    [daemon, floor].map(async ({ url }) => {
      const watch = await watchRuns(url)
      const { run_id } = await send(`${url}/v1/sessions/fan/runs`, { content: 'hello' })
      await watch.completed(run_id)
      watch.close()
      return run_id
    }),
  )
  const bare = await readLoop(`${floor.url}/v1/runs/${ids[1]}`, 64, milliseconds)
  const ours = await readLoop(`${daemon.url}/v1/runs/${ids[0]}`, 64, milliseconds)
  note('GET of a run, 64 clients', '/s', 'more', ours.perSecond, bare.perSecond)
  note('GET of a run p99', 'ms', 'less', ours.p99, bare.p99)
  const list = await readLoop(`${daemon.url}/v1/runs?page=true&limit=50`, 16, milliseconds)
  note('list, page of 50, 16 clients', '/s', 'more', list.perSecond)
}

const compareFanOut = async ({ note, quick }: Bench, { daemon, floor }: Pair, readers: number): Promise<void> => {
  const runs = quick ? 30 : 200
  const bare = await fanOut(floor.url, readers, runs)
  const ours = await fanOut(daemon.url, readers, runs)
  note(`submit to last of ${readers} SSE readers p50`, 'ms', 'less', ours.p50, bare.p50)
  note(`submit to last of ${readers} SSE readers p99`, 'ms', 'less', ours.p99, bare.p99)
}

const measure = async (bench: Bench): Promise<void> => {
  const { note } = bench
  const root = temporaryRoot()
  const floor = await startFloor()
  const daemon = await startDaemon(root)
  const pair = { daemon, floor }
  note('resident, idle', 'MB', 'less', daemon.resident(), floor.resident())
  await prepare(daemon.url, 'warm-', 64)
  await warmUp(bench, [floor, daemon])
  for (const clients of [1, 16, 64]) await compareRuns(bench, pair, clients)
  await prepare(daemon.url, 'f', 1)
  await send(`${daemon.url}/v1/sessions`, { session_id: 'fan' })
  await compareReads(bench, pair)
  for (const readers of [1, 200]) await compareFanOut(bench, pair, readers)
  note('resident, after the load', 'MB', 'less', daemon.resident(), floor.resident())
  await daemon.stop()
  await floor.stop()
  rmSync(root, { recursive: true })
}

export const live: Part = { name: 'live', measure }
