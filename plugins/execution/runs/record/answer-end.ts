/** How an answer of a model ended that is not whole. */
import type { AssistantPart } from '../../models/contract.js'

/** `cut` at the limit of its length; `empty`, with neither text nor a call. */
export const answerEnds = ['cut', 'empty'] as const
/** One of `answerEnds`. */
export type AnswerEnd = (typeof answerEnds)[number]

const isSilent = (part: AssistantPart): boolean =>
  part.type === 'reasoning' || (part.type === 'text' && part.text.trim() === '')

/** Undefined for one that is whole. */
export const answerEnd = (content: readonly AssistantPart[], isCut: boolean): AnswerEnd | undefined => {
  if (isCut) return 'cut'
  return content.every(isSilent) ? 'empty' : undefined
}
