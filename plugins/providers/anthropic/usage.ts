/** What a call used: the server tells it at the beginning, and sums that may have grown at the end. */
import type { Usage } from '../../execution/models/contract.js'
import { countIn, isLink, searchesIn, usageOf } from '../streamed/contract.js'

/** Tokens, as the server tells them. */
export interface Told {
  readonly input: number
  /** Of the input, beside it: written to the provider's cache, and read from it. */
  readonly written: number
  readonly read: number
  readonly output: number
  readonly thought: number
  readonly searches: number
}

/** What is told now counts in place of what was told before, number by number. */
export const tell = (before: Told | undefined, usage: unknown): Told | undefined => {
  if (!isLink(usage)) return before
  const details = usage['output_tokens_details']
  return {
    input: countIn(usage['input_tokens']) ?? before?.input ?? 0,
    written: countIn(usage['cache_creation_input_tokens']) ?? before?.written ?? 0,
    read: countIn(usage['cache_read_input_tokens']) ?? before?.read ?? 0,
    output: countIn(usage['output_tokens']) ?? before?.output ?? 0,
    thought: (isLink(details) ? countIn(details['thinking_tokens']) : undefined) ?? before?.thought ?? 0,
    searches: searchesIn(usage) ?? before?.searches ?? 0,
  }
}

export const usageIn = ({ input, written, read, output, thought, searches }: Told): Usage =>
  usageOf({ input: input + written + read, output, cached: read, reasoning: thought, searches })
