/** Vendors whose servers speak the chat-completions protocol as it is. */
import type { ModelProvider } from '../../execution/models/contract.js'
import type { Vendor } from './protocol.js'

type Known = Vendor & Pick<ModelProvider, 'summary' | 'default_model' | 'family' | 'secrets_of'>

export const vendors: readonly Known[] = [
  {
    provider: 'openrouter',
    summary: 'Models of many vendors, by OpenRouter.',
    base_url: 'https://openrouter.ai/api/v1',
    default_model: 'openai/gpt-5.4-mini',
    family: { rule: 'be VENDOR/MODEL', has: (model) => /^[^/\s]+\/\S+$/u.test(model) },
    secrets_of: ['open_router'],
  },
  {
    provider: 'xai',
    summary: 'Grok, by the chat-completions protocol.',
    base_url: 'https://api.x.ai/v1',
    default_model: 'grok-4-fast-reasoning',
    family: { rule: 'begin with grok', has: (model) => model.startsWith('grok') },
    secrets_of: ['x_ai'],
  },
]
