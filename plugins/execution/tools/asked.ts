/** Questions of a tool as people are asked them (questions-2). */
import type { AskDraft } from './contract.js'
import type { UserQuestionRequest } from '../sessions/contract.js'

export interface Asked {
  readonly id: string
  readonly tool_call_id: string
  /** Unix ms. */
  readonly now: number
}

/** A request with ids for its questions and their options. */
export const requestOf = (
  { questions, expires_at_ms }: AskDraft,
  { id, tool_call_id, now }: Asked,
): UserQuestionRequest => ({
  id,
  tool_call_id,
  questions: questions.map((question, at) => ({
    id: `q${at + 1}`,
    header: question.header,
    question: question.question,
    options: question.options.map((option, place) => ({ id: `o${place + 1}`, ...option })),
    multi_select: question.multi_select,
  })),
  created_at_ms: now,
  ...(expires_at_ms !== undefined && { expires_at_ms }),
})
