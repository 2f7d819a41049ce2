/**
 * Runs at a steady rate, until there are many: `node dist/test/bench/soak.js [--runs N] [--clients N] [--rate N]
 * [--root FOLDER]`. The rate is 70 % of the peak of the same daemon, if no other is given. Tells of each minute, and at
 * the end how the last compares with the first. A root that is given, such as one with years of history, grows and
 * stays: what a run costs behind it is that of the first minutes.
 */
import { rmSync } from 'node:fs'
import { prepare, startDaemon, temporaryRoot } from './bench.js'
import { numberOf, valueOf } from './flags.js'
import { quantile, send, submitAndComplete, watchRuns } from './load.js'
import type { Server } from './server.js'

interface Minute {
  /** Runs that were completed by its end, since the beginning. */
  readonly done: number
  readonly perSecond: number
  /** From when the run was due to when it was completed. Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Milliseconds of the daemon's CPU time for each run. */
  readonly cpu: number
  /** MiB at its end. */
  readonly resident: number
}

const share = 0.7
const sessions = 256
/** Runs that are under way at once, at most: behind these the rate is not kept, and the figures show it. */
const mostOpen = 1024

/** The rate at which as many clients as there are finish runs, once the daemon is warm. Runs per second. */
const findPeak = async ({ url }: Server, clients: number): Promise<number> => {
  await prepare(url, 'peak-', clients)
  await submitAndComplete(url, { clients, milliseconds: 60_000, most: 5000, prefix: 'peak-' })
  return (await submitAndComplete(url, { clients, milliseconds: 10_000, prefix: 'peak-' })).perSecond
}

interface Drive {
  readonly daemon: Server
  readonly runs: number
  /** Runs per second. */
  readonly rate: number
  readonly told: (minute: Minute) => void
}

const until = (at: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, Math.max(0, at - performance.now()))
  })

/** Runs are due one after another, whatever became of those before, as far as `mostOpen`: a daemon that is slow is not spared. */
const drive = async ({ daemon, runs, rate, told }: Drive): Promise<Minute[]> => {
  const watch = await watchRuns(daemon.url)
  const begin = performance.now()
  const minutes: Minute[] = []
  let [done, before, times, spent] = [0, begin, [] as number[], daemon.cpu()]
  const one = async (number: number, due: number): Promise<void> => {
    const { run_id } = await send(`${daemon.url}/v1/sessions/soak-${number % sessions}/runs`, { content: 'hello' })
    await watch.completed(run_id)
    times.push(performance.now() - due)
    done += 1
  }
  const close = (): void => {
    const now = performance.now()
    const perSecond = times.length / ((now - before) / 1000)
    const all = daemon.cpu()
    const minute = {
      done,
      perSecond,
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      cpu: (all - spent) / times.length,
      resident: daemon.resident(),
    }
    ;[before, times, spent] = [now, [], all]
    minutes.push(minute)
    told(minute)
  }
  const open = new Set<Promise<void>>()
  for (let number = 0; number < runs; number += 1) {
    const due = begin + (number / rate) * 1000
    if (due > performance.now()) await until(due)
    if (performance.now() - before >= 60_000) close()
    if (open.size >= mostOpen) await Promise.race(open)
    const running: Promise<void> = one(number, due).finally(() => open.delete(running))
    open.add(running)
  }
  await Promise.all(open)
  // What is left of a minute says as much as a whole one only if it is long enough.
  if (performance.now() - before >= 30_000 || minutes.length === 0) close()
  watch.close()
  return minutes
}

/** MiB for each 100,000 runs: the straight line through the minutes that is nearest to all of them. */
const slopeOf = (minutes: readonly Minute[]): number => {
  const mean = (of: (minute: Minute) => number): number =>
    minutes.reduce((sum, minute) => sum + of(minute), 0) / minutes.length
  const [done, resident] = [mean((one) => one.done), mean((one) => one.resident)]
  const spread = mean((one) => (one.done - done) ** 2)
  return spread === 0 ? 0 : (mean((one) => (one.done - done) * (one.resident - resident)) / spread) * 100_000
}

const line = (text: string): void => void process.stdout.write(`${text}\n`)

const tell = ({ done, perSecond, p50, p99, cpu, resident }: Minute): void =>
  line(
    `${String(done).padStart(9)} runs  ${perSecond.toFixed(0).padStart(6)} runs/s  p50 ${p50.toFixed(1)} ms  ` +
      `p99 ${p99.toFixed(1)} ms  ${cpu.toFixed(2)} ms CPU a run  ${resident.toFixed(0)} MiB`,
  )

const verdict = (minutes: readonly Minute[]): void => {
  const [first, last] = [minutes[0], minutes.at(-1)]
  if (first === undefined || last === undefined || first === last) return line('too short: there is nothing to compare')
  line(`runs/s of the last minute to the first: ${(last.perSecond / first.perSecond).toFixed(3)} (aim: 0.95 or more)`)
  line(`p99 of the last minute to the first: ${(last.p99 / first.p99).toFixed(2)} (aim: 1.2 or less)`)
  line(`resident for each 100,000 runs: ${slopeOf(minutes).toFixed(2)} MiB (aim: 1 or less)`)
}

const aboutMinutes = (rate: number): string => `about ${(runs / rate / 60).toFixed(0)} minutes`

/** What the daemon is driven at: what was asked for, or a share of its peak. */
const rateOf = async (daemon: Server): Promise<number> => {
  const asked = numberOf('--rate')
  if (asked !== undefined) {
    line(`driven at ${asked} runs/s: ${aboutMinutes(asked)}`)
    return asked
  }
  const peak = await findPeak(daemon, numberOf('--clients') ?? 64)
  line(`peak ${peak.toFixed(0)} runs/s, driven at ${(peak * share).toFixed(0)}: ${aboutMinutes(peak * share)}`)
  return peak * share
}

const runs = numberOf('--runs') ?? 1_000_000
const given = valueOf('--root')
const root = given ?? temporaryRoot()
const daemon = await startDaemon(root)
await prepare(daemon.url, 'soak-', sessions)
verdict(await drive({ daemon, runs, rate: await rateOf(daemon), told: tell }))
await daemon.stop()
if (given === undefined) rmSync(root, { recursive: true })
process.exit(0)
