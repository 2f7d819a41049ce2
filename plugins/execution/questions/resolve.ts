/** Answers, declines, cancellations and expiry of questions. */
import type { Clock, Json } from '../../../core/plugin.js'
import type { Decider } from '../approvals/contract.js'
import type { ReceiptKey, RunRecord, Runs } from '../runs/contract.js'
import { checkAnswers } from './check.js'
import type { ResolvedQuestion, UserQuestionRequest, UserQuestionResolution } from './contract.js'
import { questionErrors } from './errors.js'

export interface QuestionParts { readonly runs: Runs; readonly clock: Clock }
export interface Cancellation { readonly request_id: string; readonly justification?: string | undefined; readonly receipt?: ReceiptKey | undefined }

/** The code at the start of the error of a run whose question expired. */
const expired = 'question_expired'

/** Answers or declines. Synchronous up to its commit, so that of two callers one sees the other's answer. */
export const resolveQuestion = async (parts: QuestionParts, run: RunRecord, { resolution, receipt }: { resolution: UserQuestionResolution; receipt: ReceiptKey | undefined }): Promise<void> => {
  const request = openRequest(parts, run, { request_id: resolution.request_id, at: 'body.resolution.request_id' })
  if (request === undefined) return refuseExpired(parts, run, resolution.request_id)
  const answers = checkAnswers(request, resolution)
  const kept = { request_id: request.id, answers, declined: resolution.declined, ...justified(resolution.justification), decided_by: 'operator' as const }
  await parts.runs.answer({ run_id: run.run_id, resolution: kept, result: { output: resultOf(request, kept), is_error: resolution.declined }, receipt })
}

/** Cancels the run that waits for this request. */
export const cancelQuestion = async (parts: QuestionParts, run: RunRecord, { request_id, justification, receipt }: Cancellation): Promise<void> => {
  if (openRequest(parts, run, { request_id, at: 'path.request_id' }) === undefined) return refuseExpired(parts, run, request_id)
  await parts.runs.cancelWait({ run_id: run.run_id, resolution: ended(request_id, 'cancel', justification), receipt })
}

const refuseExpired = async (parts: QuestionParts, run: RunRecord, request_id: string): Promise<never> => {
  await expireQuestion(parts, run.run_id, request_id)
  throw questionErrors.question_expired({ details: { request_id } })
}

/** Cancels the run of an expired request; nothing happens if it was answered meanwhile. */
export const expireQuestion = async (parts: QuestionParts, run_id: string, request_id: string): Promise<void> => {
  const run = parts.runs.find(run_id)
  if (run === undefined || !parts.runs.openQuestions(run).some(({ id }) => id === request_id)) return
  await parts.runs.cancelWait({ run_id, resolution: ended(request_id, 'timeout', undefined), error: `${expired}: the question ${request_id} was not answered in time.` })
}

/** The pending request of this id; undefined if its time is over. Throws what is wrong with the id. */
const openRequest = (parts: QuestionParts, run: RunRecord, { request_id, at }: { request_id: string; at: string }): UserQuestionRequest | undefined => {
  if (run.status === 'cancelled' && run.error?.startsWith(`${expired}: the question ${request_id} `) === true) return undefined
  if (run.status !== 'waiting_for_user_question') throw questionErrors.question_state_conflict({ details: { what: `run ${run.run_id}`, status: run.status } })
  const request = parts.runs.openQuestions(run).find(({ id }) => id === request_id)
  if (request === undefined) throw questionErrors.question_request_mismatch({ details: { request_id }, errors: [{ path: at, rule: 'must be pending' }] })
  return request.expires_at_ms === undefined || parts.clock.now() < request.expires_at_ms ? request : undefined
}

const justified = (justification: string | null | undefined): { justification?: string } =>
  justification === undefined || justification === null ? {} : { justification }

const ended = (request_id: string, decided_by: Decider, justification: string | undefined): ResolvedQuestion =>
  ({ request_id, answers: [], declined: true, ...justified(justification), decided_by })

/** What the model is told: words, not ids. */
const resultOf = (request: UserQuestionRequest, { answers, declined, justification }: ResolvedQuestion): Json => {
  if (declined) return { declined: true, ...justified(justification) }
  return {
    answers: request.questions.map((question) => {
      const answer = answers.find(({ question_id }) => question_id === question.id)
      const selected = question.options.filter(({ id }) => answer?.selected_option_ids.includes(id) === true).map(({ label }) => label)
      return { question: question.question, selected, ...(answer?.freeform_answer !== undefined && { freeform_answer: answer.freeform_answer }) }
    }),
  }
}
