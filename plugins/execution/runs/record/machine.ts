/** The life of a run as a pure function (runs-25 to runs-28). */
import { assertNever } from '../../../../core/plugin.js'
import {
  begunAt,
  changed,
  type QueuedRun,
  type RunBase,
  type RunRecord,
  type RunStatus,
  type RunningRun,
  type TerminalRun,
} from './run-record.js'
import { runErrors } from './errors.js'

/** What happens to a run. */
export type Step =
  | { readonly to: 'running' }
  | {
      readonly to: 'waiting_for_approval' | 'waiting_for_user_question'
      readonly waiting: number
      readonly pending: readonly string[]
      readonly expires_at_ms?: number | undefined
    }
  | { readonly to: TerminalRun['status']; readonly error?: string | undefined }

const table: Readonly<Record<RunStatus, readonly RunStatus[]>> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['waiting_for_approval', 'waiting_for_user_question', 'completed', 'failed', 'interrupted', 'cancelled'],
  waiting_for_approval: ['running', 'failed', 'interrupted', 'cancelled'],
  waiting_for_user_question: ['running', 'completed', 'failed', 'interrupted', 'cancelled'],
  completed: [],
  failed: [],
  interrupted: [],
  cancelled: [],
}

/** True if a run may go from one status to another; staying is always allowed. */
export const allowed = (from: RunStatus, to: RunStatus): boolean => from === to || table[from].includes(to)

export const isTerminal = (run: RunRecord): run is TerminalRun => table[run.status].length === 0

/** The run after a step. Throws `run_state_conflict` for a step that its status does not allow. */
export const advance = (run: RunRecord, step: Step, now: number): RunRecord => {
  if (!allowed(run.status, step.to))
    throw runErrors.run_state_conflict({ details: { run_id: run.run_id, from: run.status, to: step.to } })
  const plain = plainStep(run, step, now)
  if (plain !== undefined) return plain
  const base = baseOf(run, now)
  const started = 'started_at_ms' in run && run.started_at_ms !== undefined ? run.started_at_ms : undefined
  switch (step.to) {
    case 'running':
      return { ...base, status: 'running', started_at_ms: started ?? base.updated_at_ms }
    case 'waiting_for_approval':
    case 'waiting_for_user_question':
      return {
        ...base,
        status: step.to,
        started_at_ms: started ?? base.updated_at_ms,
        waiting: step.waiting,
        pending: step.pending,
        ...(step.expires_at_ms !== undefined && { expires_at_ms: step.expires_at_ms }),
        ...(run.stopping !== undefined && { stopping: run.stopping }),
      }
    case 'completed':
    case 'failed':
    case 'interrupted':
    case 'cancelled':
      return {
        ...base,
        status: step.to,
        finished_at_ms: base.updated_at_ms,
        ...(started !== undefined && { started_at_ms: started }),
        ...(step.error !== undefined && { error: step.error }),
      }
    default:
      return assertNever(step)
  }
}

/** The two steps that every run takes, where nothing has to be left out: one copy instead of three. */
const plainStep = (run: RunRecord, step: Step, now: number): RunRecord | undefined => {
  const updated_at_ms = Math.max(run.updated_at_ms, now)
  if (run.status === 'queued' && step.to === 'running' && run.released === undefined) {
    const kept: Omit<QueuedRun, 'status'> = run
    return changed(kept, { status: 'running' as const, updated_at_ms, started_at_ms: updated_at_ms })
  }
  if (
    run.status === 'running' &&
    step.to === 'completed' &&
    step.error === undefined &&
    run.released === undefined &&
    run.stopping === undefined
  ) {
    const kept: Omit<RunningRun, 'status'> = run
    return changed(kept, { status: 'completed' as const, updated_at_ms, finished_at_ms: updated_at_ms })
  }
  return undefined
}

/** Restart recovery alone may put a run back into the queue. */
export const requeue = (run: RunRecord, now: number): QueuedRun => {
  const begun_at_ms = begunAt(run)
  return { ...baseOf(run, now), status: 'queued', ...(begun_at_ms !== undefined && { begun_at_ms }) }
}

/** The members that do not depend on the status. Times never go back within a run. */
const baseOf = (run: RunRecord, now: number): RunBase => ({
  run_id: run.run_id,
  session_id: run.session_id,
  agent_id: run.agent_id,
  kind: run.kind,
  submitted_at_ms: run.submitted_at_ms,
  updated_at_ms: Math.max(run.updated_at_ms, now),
  source_plugin: run.source_plugin,
  source_kind: run.source_kind,
  actor_id: run.actor_id,
  text_preview: run.text_preview,
  provider: run.provider,
  model: run.model,
  first: run.first,
  last: run.last,
  owner: run.owner,
  ...(run.fallback_model !== undefined && { fallback_model: run.fallback_model }),
  ...(run.completion !== undefined && { completion: run.completion }),
  ...(run.reply_targets !== undefined && { reply_targets: run.reply_targets }),
  ...(run.outputs !== undefined && { outputs: run.outputs }),
  ...(run.said !== undefined && { said: run.said }),
  ...(run.origin !== undefined && { origin: run.origin }),
  ...(run.approvals !== undefined && { approvals: run.approvals }),
  ...(run.questions !== undefined && { questions: run.questions }),
  ...(run.unclean_boots !== undefined && { unclean_boots: run.unclean_boots }),
  ...(run.active_ms !== undefined && { active_ms: run.active_ms }),
  ...(run.retry_of !== undefined && { retry_of: run.retry_of }),
  ...(run.pinned !== undefined && { pinned: run.pinned }),
  ...(run.usage !== undefined && { usage: run.usage }),
  ...(run.isolation !== undefined && { isolation: run.isolation }),
  ...(run.max_turns !== undefined && { max_turns: run.max_turns }),
  ...(run.repairs !== undefined && { repairs: run.repairs }),
  ...(run.answer_ended !== undefined && { answer_ended: run.answer_ended }),
  ...(run.begun_at_ms !== undefined && { begun_at_ms: run.begun_at_ms }),
})
