/** Starts, memory, reads, writes and inspections with years of history, beside those with hardly any. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { encodeCursor } from '../../../core/http/routes/pages.js'
import { median, programOf, startDaemon, temporaryRoot, type Bench, type Part } from '../bench.js'
import { generate, workOf, type Work } from '../history/programs.js'
import type { History, KnownRun } from '../history/write.js'
import { quantile, readLoop, timeOf } from '../load.js'
import type { Server } from '../server.js'

const small = 1000

interface Kept {
  readonly runs: number
  readonly root: string
  readonly history: History
}
interface Started {
  readonly ready: number
  readonly resident: number
}

/** Each start is of a root that was closed in order. */
const startOn = async (root: string): Promise<Started> => {
  const daemon = await startDaemon(root)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const resident = daemon.resident()
  await daemon.stop()
  return { ready: daemon.startMs, resident }
}

/** Starts on all roots in turns; the floor is the empty one. */
const compareStarts = async ({ note, rounds }: Bench, empty: string, all: readonly Kept[]): Promise<void> => {
  const [bare, ...found] = [empty, ...all.map(({ root }) => root)].map((root) => ({ root, starts: [] as Started[] }))
  if (bare === undefined) return
  for (let round = 0; round < rounds; round += 1)
    for (const { root, starts } of [bare, ...found]) starts.push(await startOn(root))
  const of = (starts: readonly Started[], key: keyof Started): number => median(starts.map((one) => one[key]))
  for (const [at, { starts }] of found.entries()) {
    const what = `${all[at]?.runs} runs of history`
    note(`ready, ${what}`, 'ms', 'less', of(starts, 'ready'), of(bare.starts, 'ready'))
    note(`resident, ${what}`, 'MB', 'less', of(starts, 'resident'), of(bare.starts, 'resident'))
  }
}

const page = '/v1/runs?page=true&limit=50'
const behind = ({ submitted_at_ms, run_id }: KnownRun): string =>
  `&cursor=${encodeCursor('submitted_at_ms_asc,run_id_asc', `${String(submitted_at_ms).padStart(20, '0')}:${run_id}`)}`

interface Side {
  readonly daemon: Server
  readonly kept: Kept
}
/** Milliseconds of one request, the middle one of many. */
type Cost = (side: Side, milliseconds: number) => Promise<number>

const reading =
  (path: (history: History) => string): Cost =>
  async ({ daemon, kept: { history } }, milliseconds) =>
    (await readLoop(`${daemon.url}${path(history)}`, 1, milliseconds)).p50

let keys = 0
/** Sessions take turns, so that each has ended its run when it gets another. */
const submitting: Cost = async ({ daemon }, milliseconds) => {
  const times: number[] = []
  for (const deadline = performance.now() + milliseconds; performance.now() < deadline;) {
    keys += 1
    const url = `${daemon.url}/v1/sessions/session-${keys % 10}/runs`
    times.push(await timeOf(url, { content: 'hello', idempotency_key: `new-${keys}` }))
  }
  return quantile(times, 0.5)
}

/** Both daemons are asked in short turns, so that what else the machine does meets both; the first turn warms up. */
const turns = 9

const compareCosts = async ({ note, milliseconds }: Bench, large: Kept, little: Kept): Promise<void> => {
  const [ours, bare] = [
    { kept: large, daemon: await startDaemon(large.root) },
    { kept: little, daemon: await startDaemon(little.root) },
  ]
  const compare = async (what: string, cost: Cost, floor: Cost = cost): Promise<void> => {
    const seen: { readonly ours: number; readonly bare: number }[] = []
    for (let turn = 0; turn < turns; turn += 1)
      seen.push({ bare: await floor(bare, milliseconds / turns), ours: await cost(ours, milliseconds / turns) })
    const of = (key: 'ours' | 'bare'): number => median(seen.slice(1).map((one) => one[key]))
    note(`${what}, ${large.runs} runs p50`, 'ms', 'less', of('ours'), of('bare'))
  }
  await compare(
    'first page',
    reading(() => page),
  )
  await compare(
    'page in the middle',
    reading(({ middle }) => `${page}${behind(middle)}`),
    reading(() => page),
  )
  const own = ({ middle: { session_id } }: History): string => `${page}&session_id=${session_id}`
  await compare(
    'page of a session',
    reading((history) => `${own(history)}${behind(history.middle)}`),
  )
  await compare(
    'GET of a run',
    reading(({ middle }) => `/v1/runs/${middle.run_id}`),
  )
  await compare('submit with a new key', submitting)
  await ours.daemon.stop()
  await bare.daemon.stop()
}

/** What an operator does with a stopped root. */
const compareWorks = async ({ note }: Bench, large: Kept, little: Kept): Promise<void> => {
  const folder = temporaryRoot()
  const [from, to] = [(runs: number) => join(folder, `backup-${runs}`), (runs: number) => join(folder, `root-${runs}`)]
  const compare = async (what: string, args: (kept: Kept) => readonly string[], program?: string): Promise<void> => {
    const bare: Work = await workOf(args(little), program)
    const ours: Work = await workOf(args(large), program)
    const more = (ours.milliseconds - bare.milliseconds) / (large.runs - little.runs)
    note(`${what}, 100,000 more of ${large.runs} runs`, 's', 'less', more * 100)
    note(`${what}, ${large.runs} runs, most resident`, 'MB', 'less', ours.most, bare.most)
  }
  await compare('state verify', ({ root }) => ['state', 'verify', '--state-root', root])
  await compare('backup create', ({ root, runs }) => ['backup', 'create', from(runs), '--state-root', root])
  await compare('backup restore', ({ runs }) => ['backup', 'restore', from(runs), '--to', to(runs)])
  await compare('tables made again', ({ runs }) => ['--root', to(runs)], programOf('rebuild'))
  rmSync(folder, { recursive: true })
}

const sizesOf = ({ quick, runs }: Bench): readonly number[] => {
  if (runs !== undefined) return [runs]
  return quick ? [20_000] : [100_000, 1_000_000]
}

const measure = async (bench: Bench): Promise<void> => {
  const make = async (runs: number): Promise<Kept> => {
    const root = temporaryRoot()
    return { runs, root, history: await generate(root, runs) }
  }
  const [empty, little] = [temporaryRoot(), await make(small)]
  const larger: Kept[] = []
  for (const runs of sizesOf(bench)) larger.push(await make(runs))
  await compareStarts(bench, empty, larger)
  const largest = larger.at(-1) ?? little
  await compareWorks(bench, largest, little)
  await compareCosts(bench, largest, little)
  for (const root of [empty, ...[little, ...larger].map((kept) => kept.root)]) rmSync(root, { recursive: true })
}

export const history: Part = { name: 'history', measure }
