/** What `/v1/status` says about runs (runtime-6). */
import {
  commandLine,
  cutAtWord,
  count,
  array,
  integer,
  object,
  optional,
  string,
  type Clock,
  type HealthCheck,
  type Warning,
} from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import type { RunsConfig } from './lifecycle/config.js'
import { openStatuses, type RunRecord, runStatuses } from './record/run-record.js'
import type { Deadlines } from './lifecycle/deadlines.js'
import { isTerminal } from './record/machine.js'
import { queuedLane, type RunStore } from './record/store.js'

/** Open runs looked at in one status; counts are always exact. */
const looked = 1000
const sample = 10

const RunsStatus = object({
  total: integer(),
  ...Object.fromEntries(runStatuses.map((status) => [status, integer()])),
  pending_approval_count: integer(),
  pending_question_count: integer(),
  max_session_queue_depth: integer(),
  oldest_queued_run_id: optional(string()),
  oldest_queued_run_age_ms: optional(integer()),
  queued_run_lag_threshold_ms: integer(),
  oldest_non_terminal_run_id: optional(string()),
  oldest_non_terminal_run_age_ms: optional(integer()),
  oldest_idle_non_terminal_run_id: optional(string()),
  oldest_non_terminal_run_idle_ms: optional(integer()),
  stale_non_terminal_run_threshold_ms: integer(),
  stale_non_terminal_run_count: integer(),
  stale_non_terminal_run_ids: optional(array(string())),
})

export interface StatusParts {
  readonly store: RunStore
  readonly clock: Clock
  readonly config: RunsConfig
}

const oldest = (store: RunStore, status: string): RunRecord[] =>
  store.runs.list({ index: 'status', group: status, limit: looked })

const lowest = (runs: readonly RunRecord[], key: (run: RunRecord) => number): RunRecord | undefined =>
  runs.reduce<RunRecord | undefined>(
    (least, run) => (least === undefined || key(run) < key(least) ? run : least),
    undefined,
  )

/** Expires what is due before it counts (questions-12). */
export const runsSection = ({
  store,
  clock,
  config,
  deadlines,
}: StatusParts & { readonly deadlines: Pick<Deadlines, 'check'> }): StatusSection => ({
  name: 'runs',
  schema: RunsStatus,
  collect: () => {
    deadlines.check()
    const now = clock.now()
    const counts = Object.fromEntries(runStatuses.map((status) => [status, store.runs.count('status', status)]))
    const open = openStatuses.flatMap((status) => oldest(store, status))
    const queued = lowest(
      open.filter(({ status }) => status === 'queued'),
      (run) => run.submitted_at_ms,
    )
    const first = lowest(open, (run) => run.submitted_at_ms)
    const idle = lowest(open, (run) => run.updated_at_ms)
    const stale = open.filter((run) => now - run.updated_at_ms >= config.stale_non_terminal_run_threshold_ms)
    return {
      total: store.runs.count('all', 'all'),
      ...counts,
      pending_approval_count: pendingIn(open, 'waiting_for_approval'),
      pending_question_count: pendingIn(open, 'waiting_for_user_question'),
      max_session_queue_depth: deepest(store, open),
      ...(queued !== undefined && {
        oldest_queued_run_id: queued.run_id,
        oldest_queued_run_age_ms: now - queued.submitted_at_ms,
      }),
      queued_run_lag_threshold_ms: config.queued_run_lag_warning_threshold_ms,
      ...(first !== undefined && {
        oldest_non_terminal_run_id: first.run_id,
        oldest_non_terminal_run_age_ms: now - first.submitted_at_ms,
      }),
      ...(idle !== undefined && {
        oldest_idle_non_terminal_run_id: idle.run_id,
        oldest_non_terminal_run_idle_ms: now - idle.updated_at_ms,
      }),
      stale_non_terminal_run_threshold_ms: config.stale_non_terminal_run_threshold_ms,
      stale_non_terminal_run_count: stale.length,
      ...(stale.length > 0 && { stale_non_terminal_run_ids: stale.slice(0, sample).map(({ run_id }) => run_id) }),
    }
  },
})

const pendingIn = (open: readonly RunRecord[], status: string): number =>
  open.reduce((sum, run) => sum + (run.status === status && 'pending' in run ? run.pending.length : 0), 0)

const deepest = (store: RunStore, open: readonly RunRecord[]): number =>
  [...new Set(open.map(({ session_id }) => session_id))].reduce(
    (most, session_id) => Math.max(most, store.runs.count('lane', queuedLane(session_id))),
    0,
  )

export const runsHealth = ({ store, clock, config }: StatusParts): HealthCheck => ({
  id: 'runs',
  check: () => {
    const now = clock.now()
    const [queued] = store.runs.list({ index: 'status', group: 'queued', limit: 1 })
    const stale = openStatuses
      .flatMap((status) => oldest(store, status))
      .filter((run) => now - run.updated_at_ms >= config.stale_non_terminal_run_threshold_ms)
    return [
      ...lagWarning(queued, now, config.queued_run_lag_warning_threshold_ms),
      ...staleWarning(stale),
      ...failingWarnings(store, now),
    ]
  },
})

/** What would move a run, and what ends it. */
const wayOut = ({ run_id }: RunRecord): string =>
  `See what it waits for: ${commandLine('explain', run_id)}. To give it up: ${commandLine('runs cancel', run_id)}`

const lagWarning = (queued: RunRecord | undefined, now: number, threshold: number): Warning[] => {
  if (queued === undefined || now - queued.submitted_at_ms < threshold) return []
  return [
    {
      severity: 'warning',
      code: 'queued_run_lag',
      related_id: queued.run_id,
      message: `Run ${queued.run_id} has been queued for ${Math.round((now - queued.submitted_at_ms) / 1000)} s.`,
      action: wayOut(queued),
    },
  ]
}

const staleWarning = (stale: readonly RunRecord[]): Warning[] => {
  const [first] = stale
  if (first === undefined) return []
  return [
    {
      severity: 'warning',
      code: 'stale_non_terminal_runs',
      related_id: first.run_id,
      message:
        `${count(stale.length, 'open run has', 'open runs have')} not moved for a while; ` +
        `the first is ${first.run_id}, ${first.status}.`,
      action: wayOut(first),
    },
  ]
}

/** Failed runs that are looked at, and how long ago the last of a streak may have ended. */
const lookedFailed = 20
const lately = 86_400_000
/** Runs of a session that failed in a row, from which it is a warning. */
const manyFailures = 3
/** Characters of an error that are told: what it says to do is at its end. */
const mostError = 500

/** Sessions whose latest runs all failed, the latest of them lately. */
const failingWarnings = ({ runs }: RunStore, now: number): Warning[] => {
  const failed = runs
    .list({ index: 'status', group: 'failed', limit: lookedFailed, order: 'desc' })
    .filter((run) => now - run.updated_at_ms < lately)
  return [...new Set(failed.map(({ session_id }) => session_id))].flatMap((session_id): Warning[] => {
    const newest = runs
      .list({ index: 'session', group: session_id, limit: manyFailures * 2, order: 'desc' })
      .filter(isTerminal)
      .slice(0, manyFailures)
    const [last] = newest
    if (last === undefined || newest.length < manyFailures || newest.some(({ status }) => status !== 'failed'))
      return []
    return [
      {
        severity: 'warning',
        code: 'runs_failing',
        related_id: session_id,
        message:
          `The last ${manyFailures} runs of session ${session_id} failed. ` +
          `The latest: ${cutAtWord(last.error ?? 'no reason.', mostError)}`,
        action:
          `See why: ${commandLine('runs get', last.run_id)}. ` +
          `When the cause is gone: ${commandLine('runs retry', last.run_id)}`,
      },
    ]
  })
}
