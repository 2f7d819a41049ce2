/** Runs that ask a model over HTTP, which costs the model nothing to answer. */
import { rmSync } from 'node:fs'
import {
  measureRuns,
  median,
  prepare,
  programOf,
  startDaemon,
  startFloor,
  temporaryRoot,
  type Bench,
  type Measured,
  type Part,
} from '../bench.js'
import { quantile, submitAndComplete } from '../load.js'
import { startServer, type Server } from '../server.js'
import { daemonSpeakers, directSpeakers, type Speakers } from '../speakers.js'

interface Trio {
  readonly real: Server
  readonly demo: Server
  readonly floor: Server
}

const compareRuns = async ({ note, rounds, milliseconds }: Bench, trio: Trio, clients: number): Promise<void> => {
  const samples: Record<keyof Trio, Measured[]> = { real: [], demo: [], floor: [] }
  for (let round = 0; round < rounds; round += 1) {
    const prefix = `m${clients}-${round}-`
    for (const name of ['floor', 'real', 'demo'] as const) {
      if (name !== 'floor') await prepare(trio[name].url, prefix, clients)
      samples[name].push(await measureRuns(trio[name], { clients, prefix, milliseconds }))
    }
  }
  const pick = (name: keyof Trio, key: keyof Measured): number => median(samples[name].map((sample) => sample[key]))
  const [perSecond, cpu] = [pick('real', 'perSecond'), pick('real', 'cpuPerRun')]
  note(`runs with a real route, ${clients} clients`, '/s', 'more', perSecond, pick('floor', 'perSecond'))
  note(`the same beside the demo route, ${clients} clients`, '/s', 'more', perSecond, pick('demo', 'perSecond'))
  note(`server CPU per run, real route, ${clients} clients`, 'ms', 'less', cpu, pick('floor', 'cpuPerRun'))
  note(`the same beside the demo route, ${clients} clients`, 'ms', 'less', cpu, pick('demo', 'cpuPerRun'))
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

interface Spoken {
  /** Microseconds of CPU time for each delta. */
  readonly cpuPerDelta: number
  /** Of one core. */
  readonly share: number
  readonly p99: number
}

/** Many speak at once; what they begin and end with is not counted. */
const hearMany = async (speakers: Speakers, many: number, pace_ms: number): Promise<Spoken> => {
  const lengthMs = 6000
  const name = `${Math.round(lengthMs / pace_ms)}@${pace_ms}`
  const spoken = Array.from({ length: many }, async (_, n) => {
    // Not all in one instant: what comes alone is to come alone.
    await pause((n / many) * 500)
    await speakers.speak(n, name)
  })
  await pause(2000)
  speakers.lags()
  const [cpu, count, from] = [speakers.cpu(), speakers.count(), performance.now()]
  await pause(3000)
  const used = speakers.cpu() - cpu
  const spokenMs = performance.now() - from
  const lags = speakers.lags()
  const heard = speakers.count() - count
  await Promise.all(spoken)
  return { cpuPerDelta: (used * 1000) / heard, share: used / spokenMs, p99: quantile(lags, 0.99) }
}

/**
 * How long the first delta of each answer was under way, while so many models speak and are asked again when they have
 * said 25 things: the processes rest half of the time, so what is measured is the way and not a queue.
 */
const hearFirst = async (speakers: Speakers, many: number, milliseconds: number): Promise<number[]> => {
  const deadline = performance.now() + milliseconds
  speakers.firstLags()
  await Promise.all(
    Array.from({ length: many }, async (_, n) => {
      await pause((n / many) * 500)
      while (performance.now() < deadline) await speakers.speak(n, '25@20')
    }),
  )
  return speakers.firstLags()
}

const compareDeltas = async ({ note, rounds, milliseconds }: Bench, ours: Speakers, bare: Speakers): Promise<void> => {
  const alone: [Spoken, Spoken][] = []
  const many: Spoken[] = []
  const first: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    alone.push([await hearMany(ours, 40, 40), await hearMany(bare, 40, 40)])
    many.push(await hearMany(ours, 200, 20))
    first[0].push(...(await hearFirst(ours, 16, milliseconds)))
    first[1].push(...(await hearFirst(bare, 16, milliseconds)))
  }
  const [own, direct] = [alone.map(([one]) => one.cpuPerDelta), alone.map(([, other]) => other.cpuPerDelta)]
  note('CPU of a delta that arrives alone', 'us', 'less', median(own), median(direct))
  note('200 streams of 50 deltas a second', 'core', 'less', median(many.map(({ share }) => share)))
  note('a delta of theirs at its follower p99', 'ms', 'less', median(many.map(({ p99 }) => p99)))
  for (const [name, q] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const)
    note(`first delta at its follower, 16 runs ${name}`, 'ms', 'less', quantile(first[0], q), quantile(first[1], q))
  for (const q of [0.5, 0.99])
    note(
      `added to it by the daemon p${q * 100}`,
      'ms',
      'less',
      Math.max(0, quantile(first[0], q) - quantile(first[1], q)),
    )
}

const measure = async (bench: Bench): Promise<void> => {
  const roots = [temporaryRoot(), temporaryRoot()] as const
  const stub = await startServer([programOf('model-stub')])
  const route = ['--provider', 'openai_compatible', '--provider-base-url', `${stub.url}/v1`, '--model', '8@0']
  const real = await startDaemon(roots[0], [...route, '--max-concurrent-runs', '256'])
  const demo = await startDaemon(roots[1])
  const floor = await startFloor(stub.url)
  for (const { url } of [floor, real, demo]) {
    if (url !== floor.url) await prepare(url, 'warm-', 64)
    const most = bench.quick ? 3000 : 8000
    await submitAndComplete(url, { clients: 64, milliseconds: 60_000, most, prefix: 'warm-' })
  }
  for (const clients of [1, 16, 64]) await compareRuns(bench, { real, demo, floor }, clients)
  const [ours, bare] = [await daemonSpeakers(real, 200), directSpeakers(stub.url)]
  await compareDeltas(bench, ours, bare)
  ours.close()
  for (const server of [real, demo, floor, stub]) await server.stop()
  for (const root of roots) rmSync(root, { recursive: true })
}

export const model: Part = { name: 'model', measure }
