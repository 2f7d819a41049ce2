/** What a call used: the server tells it at the beginning, and sums that may have grown at the end. */
import type { Usage } from '../../execution/models/contract.js'
import { isLink } from '../streamed/contract.js'

/** Tokens, as the server tells them. */
export interface Told {
  readonly input: number
  /** Of the input, beside it: written to the provider's cache, and read from it. */
  readonly written: number
  readonly read: number
  readonly output: number
  readonly thought: number
}

/** A server's number may be anything; undefined if it is none. */
const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(Math.trunc(value)) ? Math.max(0, Math.trunc(value)) : undefined

/** What is told now counts in place of what was told before, number by number. */
export const tell = (before: Told | undefined, usage: unknown): Told | undefined => {
  if (!isLink(usage)) return before
  const details = usage['output_tokens_details']
  return {
    input: count(usage['input_tokens']) ?? before?.input ?? 0,
    written: count(usage['cache_creation_input_tokens']) ?? before?.written ?? 0,
    read: count(usage['cache_read_input_tokens']) ?? before?.read ?? 0,
    output: count(usage['output_tokens']) ?? before?.output ?? 0,
    thought: (isLink(details) ? count(details['thinking_tokens']) : undefined) ?? before?.thought ?? 0,
  }
}

export const usageOf = ({ input, written, read, output, thought }: Told): Usage => ({
  input_tokens: input + written + read,
  output_tokens: output,
  ...(read > 0 && { cached_input_tokens: read }),
  ...(thought > 0 && { reasoning_tokens: thought }),
})
