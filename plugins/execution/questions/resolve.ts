/** Answers, declines, cancellations and expiry of questions. */
import type { Decider, ResolvedQuestion, UserQuestionRequest } from '../sessions/contract.js'
import { digest, type Clock, type Json } from '../../../core/plugin.js'
import type { ReceiptKey, RunKind, RunRecord, Runs, WaitingRun } from '../runs/contract.js'
import { checkAnswers } from './check.js'
import type { QuestionSettler, UserQuestionResolution } from './contract.js'
import { questionErrors } from './errors.js'

export interface QuestionParts {
  readonly runs: Runs
  readonly clock: Clock
  readonly settler: (kind: RunKind) => QuestionSettler
}
export interface Cancellation {
  readonly request_id: string
  readonly justification?: string | undefined
  readonly receipt?: ReceiptKey | undefined
}

/** An answer, and who gave it where a connector knows the person. */
export interface Resolving {
  readonly resolution: UserQuestionResolution
  readonly receipt: ReceiptKey | undefined
  readonly actor_id?: string | undefined
}

/** Answers or declines. Synchronous up to its commit, so that of two callers one sees the other's answer. */
export const resolveQuestion = async (
  parts: QuestionParts,
  run: RunRecord,
  { resolution, receipt, actor_id }: Resolving,
): Promise<void> => {
  if (isToldAgain(parts, run, resolution)) return
  const open = openRequest(parts, run, { request_id: resolution.request_id, at: 'body.resolution.request_id' })
  if (isOver(parts, open)) return refuseExpired(parts, open)
  const answers = checkAnswers(open.request, resolution)
  const kept = {
    request_id: open.request.id,
    answers,
    declined: resolution.declined,
    ...justified(resolution.justification),
    decided_by: 'operator' as const,
    ...(actor_id !== undefined && { actor_id }),
  }
  await parts.settler(run.kind).answer({ ...open, resolution: kept, receipt })
}

/**
 * True for an answer to an agent that asked its parent which was given before: the same is no fault. Throws
 * `question_resolution_conflict` for another one.
 */
const isToldAgain = (parts: QuestionParts, run: RunRecord, given: UserQuestionResolution): boolean => {
  const before = toldBefore(parts, run, given.request_id)
  if (before?.decided_by !== 'operator' && before?.decided_by !== 'cancel') return false
  if (digest(saidBy(before)) === digest(saidBy(given))) return true
  throw questionErrors.question_resolution_conflict({ details: { request_id: given.request_id } })
}

/** What an agent that asked its parent was told; a cancellation of its question is a decline. */
const toldBefore = ({ runs }: QuestionParts, run: RunRecord, request_id: string): ResolvedQuestion | undefined =>
  run.kind === 'parent_clarification' && run.status === 'completed' ? runs.resolutionOf(run, request_id) : undefined

/** Whatever else stands in it is no part of the answer. */
const saidBy = ({ answers, declined }: Pick<UserQuestionResolution, 'answers' | 'declined'>): Json => ({
  declined,
  answers: answers.map(({ question_id, selected_option_ids, freeform_answer }) => [
    question_id,
    [...selected_option_ids],
    freeform_answer ?? null,
  ]),
})

/** Settles a request without an answer, in the name of the operator. What an agent was told so before is no fault. */
export const cancelQuestion = async (
  parts: QuestionParts,
  run: RunRecord,
  { request_id, justification, receipt }: Cancellation,
): Promise<void> => {
  if (toldBefore(parts, run, request_id)?.decided_by === 'cancel') return
  const open = openRequest(parts, run, { request_id, at: 'path.request_id' })
  if (isOver(parts, open)) return refuseExpired(parts, open)
  await parts.settler(run.kind).cancel({ ...open, resolution: ended(request_id, 'cancel', justification), receipt })
}

/** Settles what a run asked and whose time is over. Nothing happens if it was answered meanwhile. */
export const expireQuestions = async (parts: QuestionParts, run: WaitingRun): Promise<void> => {
  const now = parts.clock.now()
  const request = parts.runs
    .openQuestions(run)
    .find(({ expires_at_ms }) => expires_at_ms !== undefined && expires_at_ms <= now)
  if (request !== undefined)
    await parts.settler(run.kind).expire({ run, request, resolution: ended(request.id, 'timeout', undefined) })
}

interface Open {
  readonly run: WaitingRun
  readonly request: UserQuestionRequest
}

/** The pending request of this id. Throws what is wrong with the id. */
const openRequest = (
  { runs }: QuestionParts,
  run: RunRecord,
  { request_id, at }: { request_id: string; at: string },
): Open => {
  const request = runs.openQuestions(run).find(({ id }) => id === request_id)
  if (request === undefined && runs.deciderOf(run, request_id) === 'timeout')
    throw questionErrors.question_expired({ details: { request_id } })
  if (run.status !== 'waiting_for_user_question')
    throw questionErrors.question_state_conflict({
      details: { what: `run ${run.run_id}`, status: run.status, run_id: run.run_id },
    })
  if (request === undefined)
    throw questionErrors.question_request_mismatch({
      details: { request_id },
      errors: [{ path: at, rule: 'must be pending' }],
    })
  return { run, request }
}

const isOver = ({ clock }: QuestionParts, { request: { expires_at_ms } }: Open): boolean =>
  expires_at_ms !== undefined && clock.now() >= expires_at_ms

/** The time is over although no timer has fired yet. */
const refuseExpired = async (parts: QuestionParts, { run, request }: Open): Promise<never> => {
  await expireQuestions(parts, run)
  throw questionErrors.question_expired({ details: { request_id: request.id } })
}

const justified = (justification: string | undefined): { justification?: string } =>
  justification === undefined ? {} : { justification }

const ended = (request_id: string, decided_by: Decider, justification: string | undefined): ResolvedQuestion => ({
  request_id,
  answers: [],
  declined: true,
  ...justified(justification),
  decided_by,
})
