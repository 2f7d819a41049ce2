/** Vendors whose servers speak the chat-completions protocol as it is. */
import type { ContextWindow, ModelProvider } from '../../execution/models/contract.js'
import type { Vendor } from './protocol.js'

type Known = Vendor & Pick<ModelProvider, 'summary' | 'default_model' | 'family' | 'context_window' | 'secrets_of'>

const grokWindow = (model: string): ContextWindow => {
  if (model.startsWith('grok-4-fast')) return { tokens: 2_000_000 }
  return { tokens: /^grok-(?:4|code)/u.test(model) ? 256_000 : 131_072 }
}

export const vendors: readonly Known[] = [
  {
    provider: 'openrouter',
    summary: 'Models of many vendors, by OpenRouter.',
    base_url: 'https://openrouter.ai/api/v1',
    default_model: 'openai/gpt-5.4-mini',
    family: { rule: 'be VENDOR/MODEL', has: (model) => /^[^/\s]+\/\S+$/u.test(model) },
    // What nearly all models there have: it does not go by their names.
    context_window: () => ({ tokens: 128_000 }),
    secrets_of: ['open_router'],
  },
  {
    provider: 'xai',
    summary: 'Grok, by the chat-completions protocol.',
    base_url: 'https://api.x.ai/v1',
    default_model: 'grok-4-fast-reasoning',
    family: { rule: 'begin with grok', has: (model) => model.startsWith('grok') },
    context_window: grokWindow,
    secrets_of: ['x_ai'],
  },
]
