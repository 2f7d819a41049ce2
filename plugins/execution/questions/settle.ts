/**
 * How a question ends when nobody else settles it: its answer is the result of the call, and without one the run is
 * cancelled.
 */
import type { ResolvedQuestion, UserQuestionRequest } from '../sessions/contract.js'
import type { Json } from '../../../core/plugin.js'
import type { Runs } from '../runs/contract.js'
import type { QuestionSettler } from './contract.js'

export const settleOwnRun = (runs: Runs): QuestionSettler => ({
  asker: () => ({}),
  answer: ({ run: { run_id }, request, resolution, receipt }) =>
    runs.answer({
      run_id,
      resolution,
      result: { output: resultOf(request, resolution), is_error: resolution.declined },
      receipt,
    }),
  cancel: ({ run: { run_id }, resolution, receipt }) => runs.cancelWait({ run_id, resolution, receipt }),
  expire: ({ run: { run_id }, request, resolution }) =>
    runs.cancelWait({
      run_id,
      resolution,
      error: `question_expired: the question ${request.id} was not answered in time.`,
    }),
})

/** What the model is told: words, not ids. */
const resultOf = (request: UserQuestionRequest, { answers, declined, justification }: ResolvedQuestion): Json => {
  if (declined) return { declined: true, ...(justification !== undefined && { justification }) }
  return {
    answers: request.questions.map((question) => {
      const answer = answers.find(({ question_id }) => question_id === question.id)
      const selected = question.options
        .filter(({ id }) => answer?.selected_option_ids.includes(id) === true)
        .map(({ label }) => label)
      return {
        question: question.question,
        selected,
        ...(answer?.freeform_answer !== undefined && { freeform_answer: answer.freeform_answer }),
      }
    }),
  }
}
