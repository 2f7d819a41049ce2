/** What a call used: the server tells it again and again, and sums grow. */
import type { Usage } from '../../execution/models/contract.js'
import { countIn, isLink, usageOf } from '../streamed/contract.js'

/** Tokens, as the server tells them: what it thought stands beside the output. */
export interface Told {
  readonly asked: number
  readonly ofTools: number
  readonly cached: number
  readonly answered: number
  readonly thought: number
}

/** What is told now counts in place of what was told before, number by number. */
export const tell = (before: Told | undefined, usage: unknown): Told | undefined => {
  if (!isLink(usage)) return before
  return {
    asked: countIn(usage['promptTokenCount']) ?? before?.asked ?? 0,
    ofTools: countIn(usage['toolUsePromptTokenCount']) ?? before?.ofTools ?? 0,
    cached: countIn(usage['cachedContentTokenCount']) ?? before?.cached ?? 0,
    answered: countIn(usage['candidatesTokenCount']) ?? before?.answered ?? 0,
    thought: countIn(usage['thoughtsTokenCount']) ?? before?.thought ?? 0,
  }
}

export const usageIn = ({ asked, ofTools, cached, answered, thought }: Told, searches = 0): Usage =>
  usageOf({ input: asked + ofTools, output: answered + thought, cached, reasoning: thought, searches })
