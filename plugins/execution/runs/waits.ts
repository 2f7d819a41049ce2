/** Answers to waiting runs: each is one commit with its receipt, and the run goes on when nothing is open. */
import { assert } from '../../../core/plugin.js'
import type { Tx } from '../../../core/plugin.js'
import type { ApprovalDecision, QuestionAnswer, RunRecord, WaitCancellation } from './contract.js'
import { editRun } from './edit.js'
import type { RunEdit } from './edit.js'
import { runErrors } from './errors.js'
import type { Desk } from './executor.js'
import type { EngineParts } from './parts.js'
import { callErrors } from './call-errors.js'
import { refused } from './permission.js'
import { claim } from './receipts.js'
import { openApprovals, openQuestions } from './views.js'

const getRun = (parts: EngineParts, run_id: string): RunRecord => {
  const run = parts.store.runs.find(run_id)
  if (run === undefined) throw runErrors.run_not_found({ details: { run_id } })
  return run
}

/** Records decisions; denied calls get their result at once. */
export const decide = async ({ parts, executor }: Desk, { run_id, resolutions, receipt }: ApprovalDecision): Promise<void> => {
  const requests = openApprovals(parts.store, getRun(parts, run_id))
  await resume({ parts, executor }, run_id, (edit, tx) => {
    claim(parts.store, tx, { receipt, run_id })
    edit.event({ type: 'approval_resolved', resolutions: [...resolutions] })
    for (const { request_id, behavior, reason, justification } of resolutions) {
      const request = requests.find(({ id }) => id === request_id)
      if (request === undefined || behavior === 'allow') continue
      const why = reason ?? justification
      edit.note({ type: 'outcome', tool_call_id: request.tool_call_id, tool_name: request.tool_name, state: 'refused', ...refused(callErrors.call_denied_by_operator(), why === undefined ? {} : { reason: why }) })
    }
    return resolutions.map(({ request_id }) => request_id)
  })
}

/** Records an answer, which is the result of the call that asked. */
export const answer = async ({ parts, executor }: Desk, { run_id, resolution, result, receipt }: QuestionAnswer): Promise<void> => {
  const request = openQuestions(parts.store, getRun(parts, run_id)).find(({ id }) => id === resolution.request_id)
  await resume({ parts, executor }, run_id, (edit, tx) => {
    claim(parts.store, tx, { receipt, run_id })
    edit.event({ type: 'user_question_resolved', resolution })
    if (request !== undefined) {
      edit.note({ type: 'outcome', tool_call_id: request.tool_call_id, tool_name: 'ask_user_question', state: result.is_error ? 'failed' : 'done', output: result.output })
    }
    return [resolution.request_id]
  })
}

/** One commit on a waiting run; `write` gives the ids that are answered. */
const resume = async ({ parts, executor }: Desk, run_id: string, write: (edit: RunEdit, tx: Tx) => readonly string[]): Promise<void> => {
  const goesOn = await parts.store.state.commit((tx) => {
    const waiting = getRun(parts, run_id)
    assert('pending' in waiting, 'an answer was given to a run that does not wait')
    const edit = editRun(parts, tx, waiting)
    const answered = write(edit, tx)
    const { run } = edit
    const left = 'pending' in run ? run.pending.filter((id) => !answered.includes(id)) : []
    if (left.length > 0 && 'pending' in run) edit.amend(() => ({ ...run, pending: left, updated_at_ms: Math.max(run.updated_at_ms, tx.now) }))
    else edit.resume()
    edit.save()
    return left.length === 0
  })
  if (goesOn) executor.launch(run_id)
}

/** Ends a waiting run as cancelled. */
export const cancelWait = async ({ parts, executor }: Desk, { run_id, resolution, error, receipt }: WaitCancellation): Promise<void> => {
  const run = getRun(parts, run_id)
  await parts.store.state.commit((tx) => {
    const edit = editRun(parts, tx, run)
    claim(parts.store, tx, { receipt, run_id })
    edit.event({ type: 'user_question_resolved', resolution })
    edit.step({ to: 'cancelled', error }, { type: 'cancelled', ...(error !== undefined && { error }) })
    edit.save()
  })
  executor.offer(run.session_id)
}
