/**
 * Measures this daemon against the floor, both in one run on one machine, in
 * turns, and prints medians and ratios: `npm run bench [-- --quick] [--only
 * live|deliveries|schedules|storage|memory|worst]`. Writes the figures as JSON to the path after `--json`.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { compareDeliveries } from './deliveries.js'
import { fanOut, quantile, readLoop, send, submitAndComplete, watchRuns, type Sample } from './load.js'
import { measureMemory, plantRecords } from './memory.js'
import { measureSchedules } from './schedules.js'
import { longestOther, send as sendWorst, worstFlags, worstTexts } from '../whole/worst-texts.js'
import { bytesBelow, startServer, type Server } from './server.js'

const quick = process.argv.includes('--quick')
const jsonPath = process.argv[process.argv.indexOf('--json') + 1]
const only = process.argv[process.argv.indexOf('--only') + 1]
const wants = (part: string): boolean => !process.argv.includes('--only') || only === part
const rounds = quick ? 1 : 3
const milliseconds = quick ? 1500 : 4000
const here = import.meta.dirname
const main = resolve(here, '../../core/main.js')

const temporaryRoot = (): string => mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
const startDaemon = (root: string): Promise<Server> =>
  startServer([main, 'serve', '--bind', '127.0.0.1:0', '--state-root', root, '--log-level', 'warn'])
const startFloor = (): Promise<Server> => startServer([join(here, 'floor.js')])

type Row = { what: string; unit: string; floor?: number; holdfast: number; ratio?: number; better: 'more' | 'less' }
const rows: Row[] = []
const median = (values: readonly number[]): number => quantile(values, 0.5)
const note = (what: string, unit: string, better: Row['better'], holdfast: number, floor?: number): void => {
  rows.push({ what, unit, better, holdfast, ...(floor !== undefined && { floor, ratio: holdfast / floor }) })
  const beside = floor === undefined ? '' : `   floor ${floor.toFixed(2)}   ratio ${(holdfast / floor).toFixed(2)}`
  process.stdout.write(`${what.padEnd(48)} ${holdfast.toFixed(2).padStart(10)} ${unit.padEnd(6)}${beside}\n`)
}

const prepare = async (base: string, prefix: string, clients: number): Promise<void> => {
  await Promise.all(
    Array.from({ length: clients }, (_, n) => send(`${base}/v1/sessions`, { session_id: `${prefix}${n}` })),
  )
}

type Measured = Sample & { readonly cpuPerRun: number }
const measureRuns = async (server: Server, options: { clients: number; prefix: string }): Promise<Measured> => {
  const before = server.cpu()
  const sample = await submitAndComplete(server.url, { ...options, milliseconds })
  return { ...sample, cpuPerRun: (server.cpu() - before) / sample.count }
}

/**
 * Both have executed thousands of runs before anything is measured, so that neither is compared while its code is being
 * compiled.
 */
const warmUp = async (servers: readonly Server[]): Promise<void> => {
  for (const { url } of servers)
    await submitAndComplete(url, { clients: 64, milliseconds: 60_000, most: quick ? 3000 : 8000, prefix: 'warm-' })
}

const compareRuns = async (daemon: Server, floor: Server, clients: number): Promise<void> => {
  const ours: Measured[] = []
  const bare: Measured[] = []
  for (let round = 0; round < rounds; round += 1) {
    const prefix = `c${clients}-${round}-`
    await prepare(daemon.url, prefix, clients)
    bare.push(await measureRuns(floor, { clients, prefix }))
    ours.push(await measureRuns(daemon, { clients, prefix }))
  }
  const pick = (samples: readonly Measured[], key: keyof Measured): number =>
    median(samples.map((sample) => sample[key]))
  const both = (what: string, unit: string, better: Row['better'], key: keyof Measured): void =>
    note(`${what}, ${clients} clients`, unit, better, pick(ours, key), pick(bare, key))
  both('detached runs completed', '/s', 'more', 'perSecond')
  both('submit to completed p50', 'ms', 'less', 'p50')
  both('submit to completed p99', 'ms', 'less', 'p99')
  both('submit p50', 'ms', 'less', 'submitP50')
  both('submit p99', 'ms', 'less', 'submitP99')
  both('server CPU per run', 'ms', 'less', 'cpuPerRun')
}

const compareReads = async (daemon: Server, floor: Server): Promise<void> => {
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

const compareFanOut = async (daemon: Server, floor: Server, readers: number): Promise<void> => {
  const runs = quick ? 30 : 200
  const bare = await fanOut(floor.url, readers, runs)
  const ours = await fanOut(daemon.url, readers, runs)
  note(`submit to last of ${readers} SSE readers p50`, 'ms', 'less', ours.p50, bare.p50)
  note(`submit to last of ${readers} SSE readers p99`, 'ms', 'less', ours.p99, bare.p99)
}

const fill = async (url: string, count: number, prefix: string): Promise<void> => {
  await prepare(url, prefix, 64)
  await submitAndComplete(url, { clients: 64, milliseconds: 240_000, most: count, prefix })
}

/** Start-up time, memory and disk with `stored` runs; each start is of a root that was closed cleanly. */
const measureStored = async (root: string, stored: number): Promise<void> => {
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

const measureStorage = async (): Promise<void> => {
  const root = temporaryRoot()
  await measureStored(root, 0)
  let stored = 0
  for (const target of quick ? [2_000] : [10_000, 100_000]) {
    const daemon = await startDaemon(root)
    await fill(daemon.url, target - stored, `fill${target}-`)
    stored = target
    await daemon.stop()
    await measureStored(root, target)
  }
  rmSync(root, { recursive: true })
}

const compareLive = async (): Promise<void> => {
  const root = temporaryRoot()
  const floor = await startFloor()
  const daemon = await startDaemon(root)
  note('cold start, empty root', 'ms', 'less', daemon.startMs, floor.startMs)
  note('resident, idle', 'MB', 'less', daemon.resident(), floor.resident())
  await prepare(daemon.url, 'warm-', 64)
  await warmUp([floor, daemon])
  for (const clients of [1, 16, 64]) await compareRuns(daemon, floor, clients)
  await prepare(daemon.url, 'f', 1)
  await send(`${daemon.url}/v1/sessions`, { session_id: 'fan' })
  await compareReads(daemon, floor)
  for (const readers of [1, 200]) await compareFanOut(daemon, floor, readers)
  note('resident, after the load', 'MB', 'less', daemon.resident(), floor.resident())
  await daemon.stop()
  await floor.stop()
  rmSync(root, { recursive: true })
}

/** The floor is reading all texts for each query, in the bench's own process. */
const compareMemory = async (): Promise<void> => {
  const root = temporaryRoot()
  plantRecords(root)
  const daemon = await startDaemon(root)
  const { p50, p99, build, blocked, readP50 } = await measureMemory(daemon)
  note('memory-search, 10000 records p50', 'ms', 'less', p50, readP50)
  note('memory-search, 10000 records p99', 'ms', 'less', p99, readP50)
  note('memory-search, index of 10000 records', 'ms', 'less', build)
  note('another request meanwhile, longest', 'ms', 'less', blocked)
  await daemon.stop()
  rmSync(root, { recursive: true })
}

/** Each delivery is two changes of state on disk; the posts beside it keep nothing. */
const measureDeliveries = async (): Promise<void> => {
  const root = temporaryRoot()
  const receiver = await startServer([join(here, 'receiver.js')])
  const daemon = await startDaemon(root)
  const samples: Awaited<ReturnType<typeof compareDeliveries>>[] = []
  for (let round = 0; round < rounds; round += 1)
    samples.push(await compareDeliveries(daemon.url, receiver.url, quick ? 1280 : 12_800))
  note(
    'deliveries to 64 targets',
    '/s',
    'more',
    median(samples.map(({ ours }) => ours)),
    median(samples.map(({ direct }) => direct)),
  )
  await daemon.stop()
  await receiver.stop()
  rmSync(root, { recursive: true })
}

const noteSchedules = async (): Promise<void> => {
  const root = temporaryRoot()
  const daemon = await startDaemon(root)
  const { p50, p99, max, blocked } = await measureSchedules(daemon.url, 1000)
  note('schedule dispatch lag at 1000 due p50', 'ms', 'less', p50)
  note('schedule dispatch lag at 1000 due p99', 'ms', 'less', p99)
  note('schedule dispatch of 1000 due, all of them', 'ms', 'less', max)
  note('another request meanwhile p99', 'ms', 'less', blocked)
  await daemon.stop()
  rmSync(root, { recursive: true })
}

/** The longest that another request waits while the daemon works on the worst text for each place. */
const noteWorst = async (): Promise<void> => {
  const [root, workspace] = [temporaryRoot(), temporaryRoot()]
  const flags = ['--bind', '127.0.0.1:0', '--state-root', root, '--log-level', 'error', '--workspace-root', workspace]
  const daemon = await startServer([main, 'serve', ...flags, ...worstFlags])
  let longest = 0
  for (const [n, { prepare, act }] of worstTexts.entries()) {
    const target = { url: daemon.url, workspace, session: `worst-${n}` }
    await sendWorst(target, 'POST', '/v1/sessions', { session_id: target.session })
    await prepare?.(target)
    longest = Math.max(longest, await longestOther(daemon.url, () => act(target)))
  }
  note('worst texts, another request meanwhile, longest', 'ms', 'less', longest)
  await daemon.stop()
  for (const folder of [root, workspace]) rmSync(folder, { recursive: true })
}

process.stdout.write(`node ${process.version}, ${rounds} rounds in turns, medians\n`)
if (wants('live')) await compareLive()
if (wants('deliveries')) await measureDeliveries()
if (wants('schedules')) await noteSchedules()
if (wants('storage')) await measureStorage()
if (wants('memory')) await compareMemory()
if (wants('worst')) await noteWorst()
if (process.argv.includes('--json') && jsonPath !== undefined)
  writeFileSync(jsonPath, `${JSON.stringify(rows, null, 2)}\n`)
process.exit(0)
