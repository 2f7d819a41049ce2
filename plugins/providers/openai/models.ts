/** What differs from model to model of the family. */
import type { ContextWindow } from '../../execution/models/contract.js'

/** Models of before take no thoughts and give none: they refuse a request that speaks of them. */
export const thinks = (model: string): boolean => !/(?:^|[:/])(?:gpt-[34]|chatgpt-|gpt-5-chat)/u.test(model)

/** Names of OpenAI's models, also of those that somebody tuned. */
export const isOwn = (model: string): boolean => /^(?:ft:)?(?:gpt-|chatgpt-|codex-|o\d)/u.test(model)

const windows: readonly (readonly [RegExp, ContextWindow])[] = [
  [/^gpt-5-chat|^gpt-4o|^chatgpt-|^gpt-4-turbo/u, { tokens: 128_000, answer: 16_384 }],
  [/^gpt-5/u, { tokens: 400_000, answer: 128_000 }],
  [/^gpt-4\.1/u, { tokens: 1_047_576, answer: 32_768 }],
  [/^gpt-4/u, { tokens: 8_192 }],
  [/^gpt-3\.5/u, { tokens: 16_385 }],
  [/^o1-(?:mini|preview)/u, { tokens: 128_000, answer: 32_768 }],
  [/^o\d|^codex-/u, { tokens: 200_000, answer: 100_000 }],
]

/** Of a name that begins with the name of a family, also where somebody tuned it. */
export const contextWindow = (model: string): ContextWindow | undefined =>
  windows.find(([names]) => names.test(model.replace(/^ft:/u, '')))?.[1]

const windowOfGrok = (model: string): ContextWindow => {
  if (model.startsWith('grok-4-fast')) return { tokens: 2_000_000 }
  return { tokens: /^grok-(?:4|code)/u.test(model) ? 256_000 : 131_072 }
}

/** Models of xAI. */
export const grok = {
  isOwn: (model: string): boolean => model.startsWith('grok'),
  thinks: (model: string): boolean => !/non-reasoning|(?:^|[:/])grok-(?:2|3(?!-mini))/u.test(model),
  contextWindow: windowOfGrok,
} as const
