/** Tokens, as a server tells them. */
import type { Usage } from '../../execution/models/contract.js'

/** A server's number may be anything; undefined if it is none. */
export const countIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(Math.trunc(value)) ? Math.max(0, Math.trunc(value)) : undefined

interface Counted {
  readonly input: number
  readonly output: number
  /** Of the input: what the provider had kept. */
  readonly cached: number
  /** Of the output: what was thought. */
  readonly reasoning: number
}

export const usageOf = ({ input, output, cached, reasoning }: Counted): Usage => ({
  input_tokens: input,
  output_tokens: output,
  ...(cached > 0 && { cached_input_tokens: cached }),
  ...(reasoning > 0 && { reasoning_tokens: reasoning }),
})
