import { definePlugin, object } from '../../../core/plugin.js'
import {
  ModelProviders,
  RouteBackends,
  textAndImages,
  type GenerationFeature,
} from '../../execution/models/contract.js'
import { MediaMakers, openAiMedia } from '../../media/makers/contract.js'
import { StreamedModels } from '../streamed/contract.js'
import { openRouterMedia } from './router-media.js'
import { chatCompletions } from './protocol.js'
import { localServers, vendors } from './vendors.js'

const generation: readonly GenerationFeature[] = ['reasoning.effort', 'response_format.structured_json']

export default definePlugin({
  id: 'openai-compatible',
  version: '1.0.0',
  api: 1,
  summary: 'Models behind the chat-completions protocol: Ollama, vLLM, llama.cpp, LM Studio, OpenRouter, OpenAI.',
  needs: { streamed: StreamedModels },
  config: object({}),
  register(ctx, { streamed }) {
    const newId = (): string => ctx.ids.make('call')
    ctx.contribute(ModelProviders, {
      id: 'openai_compatible',
      summary: 'Any server that speaks the chat-completions protocol.',
      capabilities: textAndImages,
      secrets_of: ['open_ai', 'open_router', 'x_ai', 'google'],
      local_servers: localServers,
      connect: (options) => streamed.connect(options, chatCompletions(newId)),
      generation,
    })
    ctx.contribute(
      MediaMakers,
      openAiMedia({
        provider: 'openai_compatible',
        headers: ({ api_key }) => (api_key === undefined ? {} : { authorization: `Bearer ${api_key}` }),
      }),
    )
    ctx.contribute(RouteBackends, {
      id: 'openai-compatible-media',
      providers: ['openai_compatible'],
      capabilities: ['image_generation', 'image_edit', 'audio_generation'],
    })
    const router = vendors.find(({ provider }) => provider === 'openrouter')
    if (router !== undefined) ctx.contribute(MediaMakers, openRouterMedia(router.base_url))
    ctx.contribute(RouteBackends, {
      id: 'openrouter-media',
      providers: ['openrouter'],
      capabilities: ['image_generation', 'image_edit', 'audio_generation'],
    })
    ctx.contribute(RouteBackends, {
      id: 'vendor-search',
      providers: vendors.filter(({ search_tool }) => search_tool !== undefined).map(({ provider }) => provider),
      capabilities: ['native_web_search'],
    })
    for (const { provider, base_url, search_tool, ...known } of vendors)
      ctx.contribute(ModelProviders, {
        id: provider,
        ...known,
        capabilities: textAndImages,
        connect: (options) =>
          streamed.connect(
            options,
            chatCompletions(newId, { provider, base_url, ...(search_tool && { search_tool }) }),
          ),
        generation,
      })
  },
})
