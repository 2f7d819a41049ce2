/** What one call of a model used, as its provider tells it. */
import { integer, open, optional } from '../../../../core/plugin.js'

/** Most tokens, or searches, of one call: what is more is no count. */
export const mostCounted = 1_000_000_000_000

/** Tokens of one model call: whole numbers from 0 to `mostCounted`. */
export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
  /** Of the input; what is more than that counts as all of it. */
  readonly cached_input_tokens?: number
  /** Of the output, in the same way. */
  readonly reasoning_tokens?: number
  readonly searches?: number
}

const count = integer({ min: 0, max: mostCounted })

/** The same as plugins that no compiler has checked tell it. */
export const TakenUsage = open({
  input_tokens: count,
  output_tokens: count,
  cached_input_tokens: optional(count),
  reasoning_tokens: optional(count),
  searches: optional(count),
})

const partOf = (part: number | undefined, whole: number): number | undefined => part && Math.min(part, whole)

/** Servers differ in what they count as a part of what: one that exceeds its whole is all of it. */
export const takenUsage = (told: Usage): Usage => {
  const { input_tokens, output_tokens, searches } = told
  const cached_input_tokens = partOf(told.cached_input_tokens, input_tokens)
  const reasoning_tokens = partOf(told.reasoning_tokens, output_tokens)
  return {
    input_tokens,
    output_tokens,
    ...(cached_input_tokens !== undefined && { cached_input_tokens }),
    ...(reasoning_tokens !== undefined && { reasoning_tokens }),
    ...(searches !== undefined && { searches }),
  }
}
