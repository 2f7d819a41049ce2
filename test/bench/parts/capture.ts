/** How many screenshots of machines the daemon takes, and what becomes of those that are more. */
import { rmSync } from 'node:fs'
import { startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { drawScreen, startMachines, type Screen } from '../machines.js'
import type { Server } from '../server.js'

interface Rate {
  readonly machines: number
  readonly interval_ms: number
}
/** Together they send more and more; then one sends more than its source is let in with: 120 in a minute. */
const rates: readonly Rate[] = [
  ...[2000, 1000, 500, 250, 125].map((interval_ms) => ({ machines: 4, interval_ms })),
  { machines: 1, interval_ms: 100 },
]
/** Captures of one machine, and machines of one rate, at most. */
const [each, mostMachines] = [1000, 4]

interface Counts {
  readonly accepted: number
  readonly limited: number
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const countsOf = async ({ url }: Server): Promise<Counts> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const count = (outcome: string): number =>
    Number(new RegExp(`^service_observation_uploads_total\\{outcome="${outcome}"\\} (\\d+)`, 'mu').exec(text)?.[1] ?? 0)
  return { accepted: count('accepted'), limited: count('rate_limited') }
}

/** Waits until that many more have come, for half a minute at most. */
const arrived = async (server: Server, from: number, more: number): Promise<void> => {
  for (let waited = 0; waited < 300 && (await countsOf(server)).accepted < from + more; waited += 1) await pause(100)
}

interface Stage extends Counts {
  readonly perSecond: number
  readonly wanted: number
  readonly cpu: number
}

interface Staging extends Rate {
  readonly screen: Screen
  readonly number: number
  readonly seconds: number
  /** Seconds that it goes on for at most, until some are told to come later. */
  readonly longest: number
}

/** Machines of their own, so that no window of a source is half full already. */
const runStage = async (server: Server, staging: Staging): Promise<Stage> => {
  const { screen, number, machines, interval_ms, seconds, longest } = staging
  const before = await countsOf(server)
  const wish = { batch: `stage-${number}`, machines, interval_ms, first: number * mostMachines * each, each }
  const end = await startMachines(server.url, screen, wish)
  await arrived(server, before.accepted, machines * 2)
  const [from, cpu, begin] = [await countsOf(server), server.cpu(), performance.now()]
  let now = from
  for (let waited = 0; waited < seconds || (waited < longest && now.limited === before.limited); waited += 1) {
    await pause(1000)
    now = await countsOf(server)
  }
  const accepted = now.accepted - from.accepted
  const perSecond = (accepted * 1000) / (performance.now() - begin)
  const used = (server.cpu() - cpu) / accepted
  await end()
  const wanted = (machines * 1000) / interval_ms
  return { accepted, limited: now.limited - before.limited, perSecond, wanted, cpu: used }
}

const measure = async ({ note, quick }: Bench): Promise<void> => {
  const [root, folder] = [temporaryRoot(), temporaryRoot()]
  const screen = await drawScreen(folder, rates.length * mostMachines * each)
  const daemon = await startDaemon(root)
  note('a 1080p screenshot', 'MB', 'less', screen.bytes / 1e6)
  const seconds = quick ? 5 : 12
  let most = 0
  for (const [number, rate] of rates.entries()) {
    const resident = daemon.resident()
    const longest = number === rates.length - 1 ? 90 : seconds
    const stage = await runStage(daemon, { ...rate, screen, number, seconds, longest })
    const what = `${rate.machines} machines, a 1080p screenshot each ${rate.interval_ms} ms`
    note(`${what}, taken`, '/s', 'more', stage.perSecond, stage.wanted)
    note('CPU of the daemon for each', 'ms', 'less', stage.cpu)
    note('told to come later (429)', '', 'less', stage.limited)
    note('resident behind it, and before', 'MB', 'less', daemon.resident(), resident)
    most = Math.max(most, stage.perSecond)
  }
  note('1080p screenshots, most that were taken', '/s', 'more', most)
  await daemon.stop()
  for (const made of [root, folder]) rmSync(made, { recursive: true })
}

export const capture: Part = { name: 'capture', measure }
