/** Starts: the daemon on an empty root beside the floor, and short commands beside a node that does nothing. */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { main, median, startDaemon, startFloor, temporaryRoot, type Bench, type Part } from '../bench.js'
import type { Server } from '../server.js'

const run = promisify(execFile)

interface Start {
  readonly ms: number
  readonly cpu: number
  /** Milliseconds that the plugins took of it: to be imported, to register and to start. */
  readonly plugins: number
}

const pluginSteps = new Set(['load', 'register', 'start'])
const inPlugins = async ({ url }: Server): Promise<number> => {
  const { boot } = (await (await fetch(`${url}/v1/status`)).json()) as {
    boot: { steps: { step: string; ms: number }[] }
  }
  return boot.steps.filter(({ step }) => pluginSteps.has(step)).reduce((sum, { ms }) => sum + ms, 0)
}

const startOnce = async (): Promise<Start> => {
  const root = temporaryRoot()
  const daemon = await startDaemon(root)
  const cpu = daemon.cpu()
  const plugins = await inPlugins(daemon)
  await daemon.stop()
  rmSync(root, { recursive: true })
  return { ms: daemon.startMs, cpu, plugins }
}

const startBare = async (): Promise<Pick<Start, 'ms' | 'cpu'>> => {
  const floor = await startFloor()
  const cpu = floor.cpu()
  await floor.stop()
  return { ms: floor.startMs, cpu }
}

/**
 * With as many plugins again, a start takes the time of all plugins once more; what they share, they then load twice,
 * so it takes a little less.
 */
const compareStarts = async ({ note }: Bench, rounds: number): Promise<void> => {
  const [ours, bare]: [Start[], Pick<Start, 'ms' | 'cpu'>[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await startBare())
    ours.push(await startOnce())
  }
  const floor = median(bare.map(({ ms }) => ms))
  note('cold start, empty root', 'ms', 'less', median(ours.map(({ ms }) => ms)), floor)
  const doubled = ours.map(({ ms, plugins }) => ms + plugins)
  note('cold start with twice the plugins, reckoned', 'ms', 'less', median(doubled), floor)
  const cpu = (starts: readonly Pick<Start, 'cpu'>[]): number => median(starts.map((start) => start.cpu))
  note('CPU of a cold start', 'ms', 'less', cpu(ours), cpu(bare))
}

const timed = async (args: readonly string[]): Promise<number> => {
  const begin = performance.now()
  await run(process.execPath, args)
  return performance.now() - begin
}

const compareCommands = async ({ note }: Bench, rounds: number): Promise<void> => {
  const root = temporaryRoot()
  const daemon = await startDaemon(root)
  const lines = ['--version', '--help', `status --base-url ${daemon.url}`, `runs list --base-url ${daemon.url}`]
  const times = new Map<string, number[]>(lines.map((line) => [line, []]))
  const bare: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await timed(['-e', '0']))
    for (const [line, taken] of times) taken.push(await timed([main, ...line.split(' ')]))
  }
  for (const [line, taken] of times)
    note(`holdfast ${line.replace(/ --base-url .*/u, '')}`, 'ms', 'less', median(taken), median(bare))
  await daemon.stop()
  rmSync(root, { recursive: true })
}

const measure = async (bench: Bench): Promise<void> => {
  const rounds = bench.quick ? 3 : 15
  await compareStarts(bench, rounds)
  await compareCommands(bench, rounds)
}

export const start: Part = { name: 'start', measure }
