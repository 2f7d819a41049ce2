/** The vendor's chat model, loaded at the first call: its import takes longer than the daemon's start. */
import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible'

export type ChatModel = ReturnType<OpenAICompatibleProvider['chatModel']>
export type ChatOptions = Parameters<ChatModel['doStream']>[0]
type ChatStream = Awaited<ReturnType<ChatModel['doStream']>>['stream']
export type ChatPart = ChatStream extends ReadableStream<infer P> ? P : never

/**
 * The package notes a thought signature under the provider's name, but sends
 * it back only from the key `google`. With this name both are the same key.
 */
export const vendorName = 'google'

export interface ChatLink {
  readonly base_url: string
  readonly api_key?: string | undefined
  readonly model: string
  readonly fetch: typeof globalThis.fetch
}

export const openChatModel = async ({ base_url, api_key, model, fetch }: ChatLink): Promise<ChatModel> => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const own = new URL(base_url).hostname === 'api.openai.com'
  return createOpenAICompatible({
    name: vendorName,
    baseURL: base_url,
    includeUsage: true,
    supportsStructuredOutputs: true,
    fetch,
    ...(api_key !== undefined && { apiKey: api_key }),
    ...(own && { transformRequestBody: renameLimit }),
  }).chatModel(model)
}

/** OpenAI's own newer models refuse `max_tokens`, which every other server knows. */
const renameLimit = ({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> =>
  max_tokens === undefined ? body : { ...body, max_completion_tokens: max_tokens }
