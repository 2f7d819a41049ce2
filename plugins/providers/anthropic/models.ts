/** What differs from model to model of the family. */
import type { ContextWindow } from '../../execution/models/contract.js'

/** Tokens of an answer where nobody says; the protocol wants a number, and more than a model can is refused. */
export const usualLimit = (model: string): number => {
  if (!model.includes('claude') || /claude-(?:instant|v?2|3)(?=$|[-.:])/u.test(model)) return 4_096
  return /claude-opus-4-(?:0|1|2025)/u.test(model) ? 32_000 : 64_000
}

/** Models before this think for a number of tokens; since then as much as the effort says. */
export const thinksByEffort = (model: string): boolean =>
  !/claude-(?:instant|v?2|3|(?:opus|sonnet|haiku)-4-(?:0|1|5|2025))(?=$|[-.:\d])/u.test(model)

/** Tokens that stand for an effort. */
export const thinkingBudget = { minimal: 1_024, low: 2_048, medium: 8_192, high: 16_384, xhigh: 31_999 } as const

/** A model of before had half of it. */
export const contextWindow = (model: string): ContextWindow | undefined =>
  model.includes('claude')
    ? { tokens: /claude-(?:instant|v?2(?:$|\.0))/u.test(model) ? 100_000 : 200_000, answer: usualLimit(model) }
    : undefined
