/** How an answer of a model ended that is not whole. */
import type { AssistantPart } from '../../models/contract.js'
import type { AnswerMarks } from '../../sessions/contract.js'

/** `cut` at the limit of its length; `empty`, with neither text nor a call; `unexplained`, for a reason not known. */
export const answerEnds = ['cut', 'empty', 'unexplained'] as const
/** One of `answerEnds`. */
export type AnswerEnd = (typeof answerEnds)[number]
/** What the API says of them. */
export const answerEndsDoc =
  '`cut` at the limit of its length, `empty`, with neither text nor a call, or `unexplained`, for a reason of its ' +
  'server that nobody knows.'

const isSilent = (part: AssistantPart): boolean =>
  part.type === 'reasoning' || (part.type === 'text' && part.text.trim() === '')

/** Undefined for one that is whole. */
export const answerEnd = (
  content: readonly AssistantPart[],
  { cut, unexplained }: AnswerMarks,
): AnswerEnd | undefined => {
  if (cut === true) return 'cut'
  if (content.every(isSilent)) return 'empty'
  return unexplained === true ? 'unexplained' : undefined
}
