/** Tokens, as a server tells them. */
import { mostCounted, type Usage } from '../../execution/models/contract.js'
import { isLink, type Link } from './link.js'

/** A server's number may be anything; undefined if it is none. */
export const countIn = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(Math.trunc(value))
    ? Math.min(mostCounted, Math.max(0, Math.trunc(value)))
    : undefined

interface Counted {
  readonly input: number
  readonly output: number
  /** Of the input: what the provider had kept. */
  readonly cached: number
  /** Of the output: what was thought. */
  readonly reasoning: number
  readonly searches?: number | undefined
}

export const usageOf = ({ input, output, cached, reasoning, searches = 0 }: Counted): Usage => ({
  input_tokens: input,
  output_tokens: output,
  ...(cached > 0 && { cached_input_tokens: cached }),
  ...(reasoning > 0 && { reasoning_tokens: reasoning }),
  ...(searches > 0 && { searches }),
})

/** Searches that a server made, where it tells them beside the tokens. */
export const searchesIn = ({ server_tool_use: used }: Link): number | undefined =>
  isLink(used) ? countIn(used['web_search_requests']) : undefined

const nothing: Link = {}

/** As the protocols of OpenAI tell it, which have two words for each side. */
export const usageIn = (
  usage: unknown,
  asked: 'prompt' | 'input',
  answered: 'completion' | 'output',
): Usage | undefined => {
  if (!isLink(usage)) return undefined
  const part = (side: string, name: string): number => {
    const details = usage[`${side}_tokens_details`]
    return countIn((isLink(details) ? details : nothing)[name]) ?? 0
  }
  return usageOf({
    input: countIn(usage[`${asked}_tokens`]) ?? 0,
    output: countIn(usage[`${answered}_tokens`]) ?? 0,
    cached: part(asked, 'cached_tokens'),
    reasoning: part(answered, 'reasoning_tokens'),
    searches: searchesIn(usage),
  })
}
