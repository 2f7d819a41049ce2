/** Whether an answer fits the questions it answers (questions-9). */
import type { Question, ResolvedQuestion, UserQuestionRequest } from '../sessions/contract.js'
import type { Problem } from '../../../core/plugin.js'
import type { UserQuestionResolution } from './contract.js'
import { questionErrors } from './errors.js'

type Answer = UserQuestionResolution['answers'][number]

/** Throws the first problem of a resolution; returns what the journal keeps of it. */
export const checkAnswers = (
  request: UserQuestionRequest,
  resolution: UserQuestionResolution,
): ResolvedQuestion['answers'] => {
  const { answers, declined } = resolution
  if (declined && answers.length > 0)
    throw questionErrors.question_declined_with_answers({
      errors: [{ path: 'body.resolution.answers', rule: 'must be empty' }],
    })
  if (declined) return []
  const answered = new Set<string>()
  answers.forEach((answer, index) => {
    const path = `body.resolution.answers.${index}`
    const question = request.questions.find(({ id }) => id === answer.question_id)
    if (question === undefined)
      throw questionErrors.question_unknown_answer({
        errors: [{ path: `${path}.question_id`, rule: 'must be a question of the request' }],
      })
    if (answered.has(question.id))
      throw questionErrors.question_duplicate_answer({
        errors: [{ path: `${path}.question_id`, rule: 'must be answered once' }],
      })
    answered.add(question.id)
    checkAnswer(question, answer, path)
  })
  const missing = request.questions.find(({ id }) => !answered.has(id))
  if (missing !== undefined)
    throw questionErrors.question_answer_missing({
      details: { question_id: missing.id },
      errors: [{ path: 'body.resolution.answers', rule: `must answer ${missing.id}` }],
    })
  return answers.map(kept)
}

const checkAnswer = (question: Question, answer: Answer, path: string): void => {
  const selected = answer.selected_option_ids
  const fail = (make: (typeof questionErrors)[keyof typeof questionErrors], rule: string): Problem =>
    make({ details: { question_id: question.id }, errors: [{ path: `${path}.selected_option_ids`, rule }] })
  if (new Set(selected).size < selected.length)
    throw fail(questionErrors.question_duplicate_option, 'must name each option once')
  if (selected.some((id) => !question.options.some((option) => option.id === id)))
    throw fail(questionErrors.question_option_not_found, 'must be options of the question')
  if (!question.multi_select && selected.length > 1)
    throw fail(questionErrors.question_single_select_violation, 'must have at most one item')
  if (selected.length === 0 && isBlank(answer.freeform_answer))
    throw fail(questionErrors.question_answer_empty, 'must not be empty without a freeform answer')
}

const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === ''

const kept = ({ question_id, selected_option_ids, freeform_answer }: Answer): ResolvedQuestion['answers'][number] => ({
  question_id,
  selected_option_ids,
  ...(freeform_answer !== undefined && { freeform_answer }),
})
