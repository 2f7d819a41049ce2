/** Vendors whose servers speak the chat-completions protocol as it is. */
import type { LocalServer, ModelProvider } from '../../execution/models/contract.js'
import type { Vendor } from './protocol.js'

type Known = Vendor &
  Pick<ModelProvider, 'summary' | 'default_model' | 'family' | 'context_window' | 'secrets_of' | 'key_variables'>

/** Where servers listen unless they are told otherwise. */
export const localServers: readonly LocalServer[] = [
  { route_id: 'ollama', name: 'Ollama', base_url: 'http://127.0.0.1:11434/v1' },
  { route_id: 'lm_studio', name: 'LM Studio', base_url: 'http://127.0.0.1:1234/v1' },
  { route_id: 'vllm', name: 'vLLM', base_url: 'http://127.0.0.1:8000/v1' },
  { route_id: 'llama_cpp', name: 'llama.cpp', base_url: 'http://127.0.0.1:8080/v1' },
]

export const vendors: readonly Known[] = [
  {
    provider: 'openrouter',
    summary: 'Models of many vendors, by OpenRouter.',
    base_url: 'https://openrouter.ai/api/v1',
    search_tool: { type: 'openrouter:web_search' },
    default_model: 'openai/gpt-5.4-mini',
    family: { rule: 'be VENDOR/MODEL', has: (model) => /^[^/\s]+\/\S+$/u.test(model) },
    // What nearly all models there have: it does not go by their names.
    context_window: () => ({ tokens: 128_000 }),
    secrets_of: ['open_router'],
    key_variables: ['OPENROUTER_API_KEY'],
  },
]
