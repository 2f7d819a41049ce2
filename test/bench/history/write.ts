/** Years of history: runs that take turns among sessions, one as far from the next as any other. */
import { fault } from '../../../core/base/assert.js'
import { createClock, type Clock } from '../../../core/base/clock.js'
import { parse } from '../../../core/base/parse.js'
import type { Tx } from '../../../core/state/contract.js'
import { RunMemoryPolicy } from '../../../plugins/execution/memory/recording/policy.js'
import { cloneNext, cloneSession, type Clone, type Past } from './clone.js'
import { holdKept, sayCarried, writeClone, type Kept } from './kept.js'
import { makeTemplate, type Template } from './template.js'

export interface HistoryOptions {
  /** Absent or empty. */
  readonly root: string
  readonly runs: number
  readonly sessions: number
  readonly years: number
  /** Told now and then how many runs are written. */
  readonly progress?: (written: number) => void
}

/** What a caller needs to know to ask for one of the runs. */
export interface KnownRun {
  readonly run_id: string
  readonly session_id: string
  readonly submitted_at_ms: number
  readonly key: string
}

export interface History {
  /** The body of the request that each run was made with, without its key. */
  readonly input: object
  readonly first: KnownRun
  readonly middle: KnownRun
  readonly last: KnownRun
}

const day = 86_400_000
/** Behind all of history the daemon has had nothing to do for a while. */
const restMs = 3_600_000
const runsPerCommit = 100
const runsPerCheckpoint = 20_000

interface Writing extends HistoryOptions {
  readonly template: Template
  /** Stands where history has come to. */
  readonly clock: Clock & { at: number }
  readonly begin: number
  readonly end: number
  readonly kept: Kept
  readonly pasts: Past[]
  /** By number, those that are told of. */
  readonly known: Map<number, KnownRun>
}

const policyOf = () => {
  const defaults = parse(RunMemoryPolicy, {})
  if (!defaults.ok) throw fault('the policy of run memory has no defaults')
  return defaults.value
}
const policy = policyOf()

const pastOf = ({ pasts, sessions, template, kept, clock }: Writing, tx: Tx, at: number): Past => {
  const known = pasts[at % sessions]
  if (known !== undefined) return known
  const past = cloneSession(template, kept.ids, { session_id: `session-${at % sessions}`, at: clock.at })
  tx.insert(kept.stores.sessions, past.record)
  pasts.push(past)
  return past
}

/** A session remembers the newest of the runs that are not too old. */
const remember = (past: Past, { memory }: Clone, oldest: number): void => {
  if (memory.recorded_at_ms > oldest) past.memories = [...past.memories, memory].slice(-policy.max_tracked_per_session)
}

const writeRun = (writing: Writing, tx: Tx, at: number): void => {
  const { runs, begin, end, clock, template, kept, known } = writing
  clock.at = Math.floor(begin + ((at + 1) / runs) * (end - begin))
  const past = pastOf(writing, tx, at)
  const key = `key-${at}`
  const clone = cloneNext(template, past, kept.ids, { at: clock.at, key })
  writeClone(tx, kept.stores, clone)
  remember(past, clone, end - policy.retention_ms)
  const { run_id, session_id, submitted_at_ms } = clone.run
  if (at === 0 || at === runs >> 1 || at === runs - 1) known.set(at, { run_id, session_id, submitted_at_ms, key })
}

const checkpoint = async ({ kept, progress }: Writing, written: number): Promise<void> => {
  if (!(await kept.checkpoint())) throw fault('a checkpoint failed')
  progress?.(written)
}

/** One commit is made while the one before it is written. */
const writeRuns = async (writing: Writing): Promise<void> => {
  const { runs, kept } = writing
  let before: Promise<void> = Promise.resolve()
  for (let from = 0; from < runs; from += runsPerCommit) {
    const upto = Math.min(runs, from + runsPerCommit)
    const made = kept.state.commit((tx) => {
      for (let at = from; at < upto; at += 1) writeRun(writing, tx, at)
    })
    await before
    before = made
    if (upto % runsPerCheckpoint !== 0) continue
    await made
    await checkpoint(writing, upto)
  }
  await before
}

/** What there is once for each session, or for all, as it stands at the end. */
const writeEnds = async ({ pasts, kept: { state, stores }, template, known, runs }: Writing): Promise<void> => {
  const entries = template.actions.length
  for (let from = 0; from < pasts.length; from += runsPerCommit)
    await state.commit((tx) => {
      for (const { record, runs: own, hash, memories } of pasts.slice(from, from + runsPerCommit)) {
        const { session_id } = record
        tx.put(stores.ledger.heads, { session_id, entries: own * entries, hash })
        tx.put(stores.memory.memories, { session_id, memories })
      }
    })
  const after = known.get(runs - 1)?.run_id ?? ''
  await state.commit((tx) => tx.put(stores.memory.marks, { ...template.mark, after, open: [] }))
}

const historyOf = ({ template: { input }, known, runs }: Writing): History => {
  const at = (number: number): KnownRun => {
    const run = known.get(number)
    if (run === undefined) throw fault(`run ${number} of history was not written`)
    return run
  }
  return { input, first: at(0), middle: at(runs >> 1), last: at(runs - 1) }
}

/** Makes a state root with runs that have ended, as the daemon leaves them behind. */
export const writeHistory = async (options: HistoryOptions): Promise<History> => {
  const template = await makeTemplate()
  const real = createClock()
  const end = real.now() - restMs
  const begin = end - options.years * 365 * day
  const clock = { ...real, at: begin, now: (): number => clock.at }
  const kept = await holdKept(options.root, clock)
  const writing = { ...options, template, clock, begin, end, kept, pasts: [], known: new Map<number, KnownRun>() }
  try {
    await writeRuns(writing)
    await writeEnds(writing)
    await sayCarried(kept)
  } finally {
    await kept.close()
  }
  return historyOf(writing)
}
