/**
 * Writes down what ended runs leave behind: some time after they ended, many in
 * one commit, so that no run waits for it. A mark goes with each commit; from
 * it the next start finds what a kill kept from being written.
 */
import { tellFailure, type Clock, type Log, type Observers, type Tx } from '../../../../core/plugin.js'
import type { Runs, TerminalRun } from '../../runs/contract.js'
import type { Sessions } from '../../sessions/contract.js'
import type { RunMemoryPolicy } from './policy.js'
import { isRemembered, keep, rememberRun, type Clean } from './memory.js'
import { sharedKeys } from '../sources/scopes.js'
import type { Sources } from '../sources/sources.js'
import { markId, type MarkRecord, type MemoryStore } from './store.js'
import type { RunMemoryUser } from './users.js'

export interface RecorderParts {
  readonly store: MemoryStore
  readonly runs: Runs
  readonly sessions: Sessions
  readonly clock: Clock
  readonly log: Log
  readonly policy: RunMemoryPolicy
  readonly clean: Clean
  readonly sources: Sources
  readonly users: Pick<Observers<RunMemoryUser>, 'tell'>
  /** Told which sessions have been written. */
  readonly shared: { forget(session_ids: readonly string[]): void }
}

export interface Recorder {
  /** Takes an ended run; it is written a little later. */
  take(run: TerminalRun): void
  /** Writes what was taken, at once. Rejects when storage refuses. */
  flush(): Promise<void>
  /** From now on each commit moves the mark: everything before it has been taken. */
  caughtUp(): void
  /** Forgets its timer. */
  end(): void
  readonly report: Readonly<Report>
}
interface Report {
  pending: number
  recorded: number
  failed: number
  last_recorded_at_ms: number | undefined
}

/**
 * How long an ended run may wait for others. A read of memory does not wait; of a session that runs fast, the newest
 * alone are built.
 */
const delayMs = 30_000
/** Sessions in one commit: a few milliseconds of work. */
const sessionsPerCommit = 8
/** Open runs that a mark names; when there are more, the next start looks at all that were submitted after these. */
const openNamed = 1_000

interface Recording extends RecorderParts {
  readonly report: Report
  /** Ended runs that are not written yet, by session. */
  pending: Map<string, TerminalRun[]>
  cancel: (() => void) | undefined
  /** True: each commit moves the mark. */
  marking: boolean
  tail: Promise<void>
}

export const createRecorder = (parts: RecorderParts): Recorder => {
  const report: Report = { pending: 0, recorded: 0, failed: 0, last_recorded_at_ms: undefined }
  const recording: Recording = {
    ...parts,
    report,
    pending: new Map(),
    cancel: undefined,
    marking: false,
    tail: Promise.resolve(),
  }
  return {
    report,
    flush: () => flush(recording),
    take(run) {
      add(recording, run)
      arm(recording)
    },
    caughtUp() {
      recording.marking = true
    },
    end: () => recording.cancel?.(),
  }
}

const add = ({ pending, report, policy }: Recording, run: TerminalRun): void => {
  const waiting = pending.get(run.session_id) ?? []
  waiting.splice(waiting.findLastIndex(({ finished_at_ms }) => finished_at_ms <= run.finished_at_ms) + 1, 0, run)
  if (waiting.length > policy.max_tracked_per_session) waiting.shift()
  else report.pending += 1
  pending.set(run.session_id, waiting)
}

const arm = (recording: Recording): void => {
  recording.cancel ??= recording.clock.after(delayMs, () => {
    recording.cancel = undefined
    flush(recording).catch((error: unknown) => {
      tellFailure({ log: recording.log, state: recording.store.state }, 'ended runs could not be remembered yet', {
        error,
      })
      arm(recording)
    })
  })
}

const flush = (recording: Recording): Promise<void> => {
  const turn = recording.tail.then(() => (recording.report.pending === 0 ? undefined : write(recording)))
  recording.tail = turn.catch(() => {})
  return turn
}

const write = async (recording: Recording): Promise<void> => {
  const { store, report } = recording
  const mark = recording.marking ? markOf(recording.runs) : undefined
  await store.state.durable()
  const batch = takeAll(recording)
  let done = 0
  try {
    for (; done < batch.length; done += sessionsPerCommit) {
      const last = done + sessionsPerCommit >= batch.length
      const part = batch.slice(done, done + sessionsPerCommit)
      const written = await store.state.commit((tx) =>
        writePart(recording, tx, { part, mark: last ? mark : undefined }),
      )
      report.recorded += written.count
      report.last_recorded_at_ms = written.now
    }
  } catch (error) {
    report.failed += 1
    for (const [, runs] of batch.slice(done)) for (const run of runs) add(recording, run)
    throw error
  } finally {
    recording.shared.forget(batch.map(([session_id]) => session_id))
  }
}

const takeAll = (recording: Recording): [string, TerminalRun[]][] => {
  const all = [...recording.pending]
  recording.pending = new Map()
  recording.report.pending = 0
  return all
}

/** Must be taken before what has ended is: a run that ends in between is then in both, not in neither. */
const markOf = (runs: Runs): MarkRecord => {
  const open = runs.open().toSorted()
  const newest = runs.newest({ limit: 1 })[0]?.run_id ?? ''
  const named = open.slice(0, openNamed)
  return { id: markId, after: open.length > openNamed ? (named.at(-1) ?? '') : newest, open: named }
}

type Part = readonly (readonly [string, readonly TerminalRun[]])[]

const writePart = (
  parts: RecorderParts,
  tx: Tx,
  { part, mark }: { part: Part; mark: MarkRecord | undefined },
): { count: number; now: number } => {
  const count = part.reduce((sum, [session_id, runs]) => sum + writeSession(parts, tx, { session_id, runs }), 0)
  if (mark !== undefined) tx.put(parts.store.marks, mark)
  return { count, now: tx.now }
}

const writeSession = (
  { store, sessions, runs: service, policy, clean, sources, users }: RecorderParts,
  tx: Tx,
  { session_id, runs }: { session_id: string; runs: readonly TerminalRun[] },
): number => {
  const session = sessions.find(session_id)
  if (session === undefined) return 0
  const known = store.memories.find(session_id)
  const added = new Map(
    runs
      .filter(({ run_id }) => !isRemembered(known, run_id))
      .map((run) => [rememberRun(run, service.texts(run), clean), run]),
  )
  if (added.size === 0) return 0
  const scope_keys = sharedKeys(sources.scopes(session))
  const memories = keep([...(known?.memories ?? []), ...added.keys()], { now: tx.now, ...policy })
  tx.put(store.memories, { session_id, ...(scope_keys.length > 0 && { scope_keys }), memories })
  for (const memory of memories) {
    const run = added.get(memory)
    if (run !== undefined) users.tell(tx, 'what is kept of an ended run', (user) => user.remembered(tx, run, memory))
  }
  return added.size
}
