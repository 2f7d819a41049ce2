/** What a model step and a stream cost with each of the four protocols. */
import { rmSync } from 'node:fs'
import { connectTo, transport, type Spoken } from '../../support/model-client.js'
import { ask, requestOf, userText } from '../../support/models.js'
import { median, prepare, programOf, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { quantile, send, watchRuns } from '../load.js'
import { startServer, type Server } from '../server.js'
import { daemonSpeakers } from '../speakers.js'

const spoken: readonly Spoken[] = ['anthropic', 'openai', 'google', 'openai_compatible']
/** Steps of a run beside its first, each a call of a tool that only looks. */
const steps = 10

interface Taken {
  /** Milliseconds. */
  readonly time: number
  /** Milliseconds of CPU time of the daemon. */
  readonly cpu: number
}

/** What is over when the code is warm: the first ones warm up. */
const warm = <T>(all: readonly T[]): readonly T[] => all.slice(Math.floor(all.length / 4))

/**
 * What each step takes that a run has more than another, of runs in turns: by the medians of their times, and by all of
 * their CPU time. Each has a session of its own: what earlier runs of a session found out stands in its conversation.
 */
const stepOf = async ({ url, cpu }: Server, { quick }: Bench): Promise<Taken> => {
  const rounds = quick ? 12 : 80
  await prepare(url, 'step-', rounds * 2)
  const watch = await watchRuns(url)
  const take = async (model: string, session: number): Promise<Taken> => {
    const [begin, before] = [performance.now(), cpu()]
    const { run_id } = await send(`${url}/v1/sessions/step-${session}/runs`, { content: 'go', generation: { model } })
    await watch.completed(run_id)
    return { time: performance.now() - begin, cpu: cpu() - before }
  }
  const [long, short]: [Taken[], Taken[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    long.push(await take(`steps${steps}`, round * 2))
    short.push(await take('steps0', round * 2 + 1))
  }
  watch.close()
  const [more, less] = [warm(long), warm(short)]
  const middle = (all: readonly Taken[]): number => median(all.map(({ time }) => time))
  const spent = (all: readonly Taken[]): number => all.reduce((sum, one) => sum + one.cpu, 0) / all.length
  return { time: (middle(more) - middle(less)) / steps, cpu: (spent(more) - spent(less)) / steps }
}

/** The same question to the codec, which nobody keeps: from the question to the end of its answer. */
const codecTimes = async (base: string, protocol: Spoken, { quick }: Bench): Promise<number[]> => {
  const connection = connectTo(base, { spoken: protocol, api_key: 'k' })
  const request = requestOf([userText('go')], { model: `steps${steps}` })
  const times: number[] = []
  for (let round = 0; round < (quick ? 100 : 600); round += 1) {
    const begin = performance.now()
    await ask(connection, request)
    times.push(performance.now() - begin)
  }
  return [...warm(times)]
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** 200 runs that stream 50 deltas a second each: what is measured lies in the middle of it. */
const streams = async (server: Server, { note, quick }: Bench, protocol: Spoken): Promise<void> => {
  const many = 200
  const speakers = await daemonSpeakers(server, many)
  const begun = Array.from({ length: many }, async (_, n) => {
    await pause((n / many) * 500)
    await speakers.speak(n, quick ? '250@20' : '500@20')
  })
  await pause(2_000)
  speakers.lags()
  const [cpu, from, count] = [server.cpu(), performance.now(), speakers.count()]
  await pause(quick ? 2_000 : 6_000)
  const share = (server.cpu() - cpu) / (performance.now() - from)
  const lags = speakers.lags()
  const deltas = speakers.count() - count
  const heard = (deltas / (performance.now() - from)) * 1_000
  const each = ((server.cpu() - cpu) * 1_000) / deltas
  const resident = server.resident()
  await Promise.all(begun)
  speakers.close()
  note(`${protocol}: 200 streaming runs, deltas heard`, '/s', 'more', heard)
  note(`${protocol}: 200 streaming runs, CPU of the daemon`, 'core', 'less', share)
  note(`${protocol}: 200 streaming runs, CPU of the daemon for a delta`, 'us', 'less', each)
  note(`${protocol}: 200 streaming runs, memory of the daemon`, 'MiB', 'less', resident)
  for (const q of [0.5, 0.99])
    note(`${protocol}: 200 streaming runs, a delta at its follower p${q * 100}`, 'ms', 'less', quantile(lags, q))
}

const measureOne = async (bench: Bench, stub: Server, protocol: Spoken): Promise<void> => {
  const root = temporaryRoot()
  const base = `${stub.url}/v1`
  const route = ['--provider', protocol, '--provider-base-url', base, '--model', '8@0', '--api-key', 'k']
  const server = await startDaemon(root, [...route, '--max-concurrent-runs', '256'])
  const [step, codec] = [await stepOf(server, bench), median(await codecTimes(base, protocol, bench))]
  bench.note(`${protocol}: a model step with its tool call`, 'ms', 'less', step.time, codec)
  bench.note(`${protocol}: added by the daemon to a step`, 'ms', 'less', step.time - codec)
  bench.note(`${protocol}: CPU of the daemon for a step`, 'ms', 'less', step.cpu)
  await streams(server, bench, protocol)
  await server.stop()
  rmSync(root, { recursive: true })
}

const measure = async (bench: Bench): Promise<void> => {
  const stub = await startServer([programOf('wire-stub')])
  for (const protocol of spoken) await measureOne(bench, stub, protocol)
  await stub.stop()
  await transport.close()
}

export const wires: Part = { name: 'wires', measure }
