/** The status of a flow, derived from what became of what belongs to it (flows-8). Pure. */
import type { RunStatus } from '../../execution/runs/contract.js'
import type { TaskStatus } from '../../execution/tasks/contract.js'

export const flowStatuses = [
  'pending',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'cancelled',
  'interrupted',
  'unknown',
] as const
/** One of `flowStatuses`. */
export type FlowStatus = (typeof flowStatuses)[number]

/** What is true of the things that belong to a flow. */
export interface ScopeFacts {
  /** False where no run was made for it yet. */
  readonly has_run: boolean
  /** It was cancelled before that. */
  readonly is_cancelled: boolean
  /** A run that it names is gone, or there is more than is looked at. */
  readonly is_missing: boolean
  readonly runs: ReadonlySet<RunStatus>
  readonly tasks: ReadonlySet<TaskStatus>
  /** A completed run called what the playbook does not let it. */
  readonly is_violated: boolean
  readonly lacks_evidence: boolean
}

/** The first row that holds; what is worse comes first. */
const table: readonly (readonly [FlowStatus, (facts: ScopeFacts) => boolean])[] = [
  ['cancelled', ({ has_run, is_cancelled }) => !has_run && is_cancelled],
  ['pending', ({ has_run }) => !has_run],
  ['unknown', ({ is_missing }) => is_missing],
  ['failed', ({ runs, tasks, is_violated }) => runs.has('failed') || tasks.has('failed') || is_violated],
  ['cancelled', ({ runs, tasks }) => runs.has('cancelled') || tasks.has('cancelled')],
  [
    'waiting',
    ({ runs, tasks }) =>
      runs.has('waiting_for_approval') || runs.has('waiting_for_user_question') || tasks.has('blocked'),
  ],
  [
    'running',
    ({ runs, tasks }) => runs.has('queued') || runs.has('running') || tasks.has('pending') || tasks.has('in_progress'),
  ],
  ['interrupted', ({ runs }) => runs.has('interrupted')],
  ['waiting', ({ lacks_evidence }) => lacks_evidence],
]

export const flowStatus = (facts: ScopeFacts): FlowStatus => table.find(([, holds]) => holds(facts))?.[0] ?? 'succeeded'

const terminal: ReadonlySet<FlowStatus> = new Set(['succeeded', 'failed', 'cancelled', 'interrupted'])
/** True for a status that the flow keeps. */
export const isTerminal = (status: FlowStatus): boolean => terminal.has(status)

/** When things of a flow were what makes its status, Unix ms; infinite for what never was. */
export interface FlowTimes {
  /** When the first run or task failed. */
  readonly failed: number
  /** When the first run was over that called what it may not. */
  readonly violated: number
  readonly cancelled: number
  /** When the last of all changed. */
  readonly last: number
  /** When the newest evidence was added that may have been required. */
  readonly told: number
}

/** When the first status was reached that the flow keeps; undefined while it has none. */
export const boundaryOf = (status: FlowStatus, times: FlowTimes): number | undefined => {
  if (!isTerminal(status)) return undefined
  if (status === 'failed') return Math.min(times.failed, times.violated)
  if (status === 'cancelled') return times.cancelled
  return status === 'succeeded' ? Math.max(times.last, times.told) : times.last
}
