/** Answers to waiting runs: each is one commit with its receipt, and the run goes on when nothing is open. */
import type { Decider, ResolvedApproval, ResolvedQuestion } from '../../sessions/contract.js'
import { callFailure } from '../../tools/contract.js'
import { assert, type Json, type ProblemFactory, type Tx } from '../../../../core/plugin.js'
import type { WaitingRun } from '../record/run-record.js'
import { editRun, type RunEdit } from './run-changes.js'
import { calledTool, deadlineOf, openApprovals, openQuestions } from '../record/requests.js'
import { getRun } from '../record/get-run.js'
import { callErrors } from './call-errors.js'
import type { ControlContext } from './executor.js'
import { recordReceipt, type ReceiptKey } from '../record/receipts.js'

/** Decisions on one waiting run, all or none. */
export interface ApprovalDecision {
  readonly run_id: string
  readonly resolutions: readonly ResolvedApproval[]
  readonly receipt?: ReceiptKey | undefined
  /** Part of the same commit. */
  readonly also?: ((tx: Tx) => void) | undefined
}
/** An answer to one request, and what the model is given as the result of its call. */
export interface QuestionAnswer {
  readonly run_id: string
  readonly resolution: ResolvedQuestion
  readonly result: { readonly output: Json; readonly is_error: boolean }
  readonly receipt?: ReceiptKey | undefined
}
/** The end of a waiting run instead of an answer. */
export interface WaitCancellation {
  readonly run_id: string
  readonly resolution: ResolvedQuestion
  /** Goes into the run's `error`. */
  readonly error?: string
  readonly receipt?: ReceiptKey | undefined
}

/** What the model reads of a call that was denied. */
const denials: Readonly<Record<Decider, ProblemFactory>> = {
  operator: callErrors.call_denied_by_operator,
  policy: callErrors.call_denied_by_rule,
  timeout: callErrors.approval_expired,
  cancel: callErrors.call_not_made,
  recovery: callErrors.call_not_made,
}

/** Records decisions; denied calls get their result at once. */
export const decide = async (
  context: ControlContext,
  { run_id, resolutions, receipt, also }: ApprovalDecision,
): Promise<void> => {
  const requests = openApprovals(context.store, getRun(context.store, run_id))
  await resume(context, run_id, (edit, tx) => {
    recordReceipt(context.store, tx, { receipt, run_id })
    also?.(tx)
    edit.event({ type: 'approval_resolved', resolutions: [...resolutions] })
    for (const { request_id, behavior, reason, justification, decided_by } of resolutions) {
      const request = requests.find(({ id }) => id === request_id)
      if (request === undefined || behavior === 'allow') continue
      const why = reason ?? justification
      edit.note({
        type: 'outcome',
        tool_call_id: request.tool_call_id,
        tool_name: request.tool_name,
        state: 'refused',
        output: callFailure(denials[decided_by](), why === undefined ? {} : { reason: why }),
      })
    }
    return resolutions.map(({ request_id }) => request_id)
  })
}

/** Records an answer, which is the result of the call that asked. */
export const answer = async (
  context: ControlContext,
  { run_id, resolution, result, receipt }: QuestionAnswer,
): Promise<void> => {
  const run = getRun(context.store, run_id)
  const request = openQuestions(context.store, run).find(({ id }) => id === resolution.request_id)
  const asked = request === undefined ? undefined : calledTool(context.store, run, request.tool_call_id)
  await resume(context, run_id, (edit, tx) => {
    recordReceipt(context.store, tx, { receipt, run_id })
    edit.event({ type: 'user_question_resolved', resolution })
    if (request !== undefined) {
      edit.note({
        type: 'outcome',
        tool_call_id: request.tool_call_id,
        tool_name: asked ?? 'ask_user_question',
        state: result.is_error ? 'failed' : 'done',
        output: result.output,
      })
    }
    return [resolution.request_id]
  })
}

/** One commit on a waiting run; `write` gives the ids that are answered. */
const resume = async (
  context: ControlContext,
  run_id: string,
  write: (edit: RunEdit, tx: Tx) => readonly string[],
): Promise<void> => {
  const goesOn = await context.store.state.commit((tx) => {
    const waiting = getRun(context.store, run_id)
    assert('pending' in waiting, 'an answer was given to a run that does not wait')
    const edit = editRun(context, tx, waiting)
    const answered = write(edit, tx)
    const { run } = edit
    const left = 'pending' in run ? run.pending.filter((id) => !answered.includes(id)) : []
    if (left.length > 0 && 'pending' in run) {
      edit.amend(() => narrowed(context, run, { pending: left, now: tx.now }))
      // Who watches what is asked is told that it has become less.
      edit.show()
    } else edit.resume()
    edit.save()
    return left.length === 0
  })
  if (goesOn) context.executor.launch(run_id)
}

/** A run that waits for fewer requests than before, and until the earliest deadline of these. */
const narrowed = (
  { store }: ControlContext,
  run: WaitingRun,
  { pending, now }: { pending: readonly string[]; now: number },
): WaitingRun => {
  const { expires_at_ms: _, ...rest } = run
  const next = { ...rest, pending, updated_at_ms: Math.max(run.updated_at_ms, now) }
  const expires_at_ms = deadlineOf([...openApprovals(store, next), ...openQuestions(store, next)])
  return expires_at_ms === undefined ? next : { ...next, expires_at_ms }
}

/** Ends a waiting run as cancelled. */
export const cancelWait = async (
  context: ControlContext,
  { run_id, resolution, error, receipt }: WaitCancellation,
): Promise<void> => {
  const run = getRun(context.store, run_id)
  await context.store.state.commit((tx) => {
    const edit = editRun(context, tx, run)
    recordReceipt(context.store, tx, { receipt, run_id })
    edit.event({ type: 'user_question_resolved', resolution })
    edit.step(
      { to: 'cancelled', error },
      { type: 'cancelled', ...(error !== undefined && { error }) },
      { decided_by: resolution.decided_by, except: resolution.request_id },
    )
    edit.save()
  })
  context.executor.wake(run.session_id)
}
