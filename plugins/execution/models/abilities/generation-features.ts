/** Settings that not every provider can pass on. */
export const generationFeatures = [
  'reasoning.effort',
  'reasoning.summary',
  'reasoning.budget_tokens',
  'reasoning.interleaved',
  'response_format.structured_json',
] as const
/** One of `generationFeatures`. */
export type GenerationFeature = (typeof generationFeatures)[number]
