/** The end of an answer as it is taken of a provider: with short words, and with counts that fit together. */
import { toldLine } from '../../../../core/plugin.js'
import type { ModelEvent, ModelFailure, Usage } from '../contract.js'

type Done = Extract<ModelEvent, { type: 'done' }>

/** Characters of what a provider says of a failure. It stands in the run, its events, the status and the log. */
const mostWords = 1_000

const least = (part: number | undefined, whole: number): number | undefined => part && Math.min(part, whole)

/** Servers differ in what they count as a part of what: one that exceeds its whole is all of it. */
const usageOf = (told: Usage): Usage => {
  const { input_tokens, output_tokens, searches } = told
  const cached_input_tokens = least(told.cached_input_tokens, input_tokens)
  const reasoning_tokens = least(told.reasoning_tokens, output_tokens)
  return {
    input_tokens,
    output_tokens,
    ...(cached_input_tokens !== undefined && { cached_input_tokens }),
    ...(reasoning_tokens !== undefined && { reasoning_tokens }),
    ...(searches !== undefined && { searches }),
  }
}

const failureOf = (failure: ModelFailure, redact: (text: string) => string): ModelFailure => {
  const { class: cls, retryable, message, retry_after_ms, status } = failure
  return {
    class: cls,
    retryable,
    message: toldLine(message, mostWords, redact),
    ...(retry_after_ms !== undefined && { retry_after_ms }),
    ...(status !== undefined && { status }),
  }
}

/** Of an end that fits the contract. */
export const takenEnd = (end: Done, redact: (text: string) => string): Done => {
  const { type, outcome } = end
  if (outcome !== 'failed') return { type, outcome, usage: usageOf(end.usage) }
  const failure = failureOf(end.failure, redact)
  return { type, outcome, failure, ...(end.usage !== undefined && { usage: usageOf(end.usage) }) }
}
