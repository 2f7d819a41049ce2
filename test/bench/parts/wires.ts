/** What a model step and a stream cost with each of the four protocols. */
import { rmSync } from 'node:fs'
import { connectTo, transport, type Spoken } from '../../support/model-client.js'
import { ask, requestOf, userText } from '../../support/models.js'
import { askBare, takeQuestions } from '../bare-client.js'
import { median, prepare, programOf, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { quantile, send, watchRuns } from '../load.js'
import { startServer, type Server } from '../server.js'
import { daemonSpeakers } from '../speakers.js'

const spoken: readonly Spoken[] = ['anthropic', 'openai', 'google', 'openai_compatible']
/** Steps of a run beside its first, each a call of a tool that only looks. */
const steps = 10

/** Milliseconds. */
interface Taken {
  readonly time: number
  /** Of CPU time: of the daemon for a step, of this process for a question that it asks itself. */
  readonly cpu: number
}

const taking = async (cpu: () => number, work: () => Promise<void>): Promise<Taken> => {
  const [begin, before] = [performance.now(), cpu()]
  await work()
  return { time: performance.now() - begin, cpu: cpu() - before }
}
const ownCpu = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

/** By the medians of their times, and by all of their CPU time; the first ones warm up. */
const middle = (all: readonly Taken[]): Taken => {
  const warm = all.slice(Math.floor(all.length / 4))
  return { time: median(warm.map(({ time }) => time)), cpu: warm.reduce((sum, { cpu }) => sum + cpu, 0) / warm.length }
}
const eachOf = ({ time, cpu }: Taken, count: number): Taken => ({ time: time / count, cpu: cpu / count })

/** A client, and a bare one that asks the same questions. */
interface Pair {
  readonly taken: Taken
  readonly bare: Taken
}

/** Whoever asks: the questions that the stub heard meanwhile are asked again by the bare client, one after the other. */
const createTwin = (stub: Server) => {
  const all: Taken[] = []
  const follow = async <T>(ask: () => Promise<T>): Promise<T> => {
    await takeQuestions(stub.url)
    const answer = await ask()
    const questions = await takeQuestions(stub.url)
    const taken = await taking(ownCpu, async () => {
      for (const question of questions) await askBare(stub.url, question)
    })
    all.push(eachOf(taken, questions.length))
    return answer
  }
  return { follow, taken: () => middle(all) }
}

/**
 * What each step takes that a run has more than another, of runs in turns. Each has a session of its own: what earlier
 * runs of a session found out stands in its conversation.
 */
const stepOf = async ({ url, cpu }: Server, stub: Server, rounds: number): Promise<Pair> => {
  await prepare(url, 'step-', rounds * 2)
  const watch = await watchRuns(url)
  const twin = createTwin(stub)
  const take = (model: string, session: number): Promise<Taken> =>
    taking(cpu, async () => {
      const { run_id } = await send(`${url}/v1/sessions/step-${session}/runs`, { content: 'go', generation: { model } })
      await watch.completed(run_id)
    })
  const [long, short]: [Taken[], Taken[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    long.push(await twin.follow(() => take(`steps${steps}`, round * 2)))
    short.push(await take('steps0', round * 2 + 1))
  }
  watch.close()
  const [more, less] = [middle(long), middle(short)]
  return { taken: eachOf({ time: more.time - less.time, cpu: more.cpu - less.cpu }, steps), bare: twin.taken() }
}

/** A short question to the codec, whose answer nobody keeps. */
const codecOf = async (protocol: Spoken, stub: Server, rounds: number): Promise<Pair> => {
  const connection = connectTo(`${stub.url}/v1`, { spoken: protocol, api_key: 'k' })
  const request = requestOf([userText('go')], { model: `steps${steps}` })
  const twin = createTwin(stub)
  const asked: Taken[] = []
  const askTen = async (): Promise<void> => {
    for (let n = 0; n < 10; n += 1) await ask(connection, request)
  }
  for (let round = 0; round < rounds; round += 1)
    asked.push(eachOf(await twin.follow(() => taking(ownCpu, askTen)), 10))
  return { taken: middle(asked), bare: twin.taken() }
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

/** Beside the bare client that asks the same. */
const noteBeside = ({ note }: Bench, what: string, { taken, bare }: Pair): void => {
  note(what, 'ms', 'less', taken.time, bare.time)
  note(`${what}, added to a bare client`, 'ms', 'less', taken.time - bare.time)
  note(`${what}, CPU`, 'ms', 'less', taken.cpu, bare.cpu)
}

const measureOne = async (bench: Bench, stub: Server, protocol: Spoken): Promise<void> => {
  const root = temporaryRoot()
  const base = `${stub.url}/v1`
  const route = ['--provider', protocol, '--provider-base-url', base, '--model', '8@0', '--api-key', 'k']
  const server = await startDaemon(root, [...route, '--max-concurrent-runs', '256'])
  const rounds = bench.quick ? 12 : 80
  noteBeside(bench, `${protocol}: a model step with its tool call`, await stepOf(server, stub, rounds))
  noteBeside(bench, `${protocol}: a short question to the codec`, await codecOf(protocol, stub, rounds))
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
