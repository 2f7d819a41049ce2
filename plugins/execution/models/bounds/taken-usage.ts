/** Tokens of a call, as plugins that no compiler has checked tell them. */
import { integer, open, optional } from '../../../../core/plugin.js'

const count = integer({ min: 0 })

export const TakenUsage = open({
  input_tokens: count,
  output_tokens: count,
  cached_input_tokens: optional(count),
  reasoning_tokens: optional(count),
  searches: optional(count),
})
