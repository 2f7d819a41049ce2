/** What differs from model to model of the family. */
import type { ContextWindow } from '../../execution/models/contract.js'

/** Models before these think for a number of tokens; these at a level, and want each step's first call signed. */
export const isLeveled = (model: string): boolean =>
  model.includes('gemini') && !/gemini-(?:[12](?=$|[.-])|pro(?:-vision)?$|robotics-er-1)/u.test(model)

/** Levels and tokens that stand for an effort: what all models take that think in that way. */
export const thinkingLevel = { minimal: 'minimal', low: 'low', medium: 'medium', high: 'high', xhigh: 'high' } as const
export const thinkingBudget = { minimal: 512, low: 1_024, medium: 8_192, high: 24_576, xhigh: 24_576 } as const

/** Tokens of an answer with what was thought, beyond which no model goes. */
export const largestAnswer = 65_536

/** The answer has room of its own there. */
export const contextWindow = (model: string): ContextWindow | undefined =>
  /gemini-(?!1\.0|pro)/u.test(model) ? { tokens: 1_048_576, answer: 8_192 } : undefined
