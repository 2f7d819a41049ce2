import { definePlugin, object } from '../../../core/plugin.js'
import { ModelProviders, RouteBackends, textAndImages } from '../../execution/models/contract.js'
import { MediaMakers } from '../../media/makers/contract.js'
import { StreamedModels } from '../streamed/contract.js'
import { contextWindow, isLeveled } from './models.js'
import { geminiPictures } from './pictures.js'
import { gemini } from './protocol.js'

export default definePlugin({
  id: 'google',
  version: '1.0.0',
  api: 1,
  summary: 'Models behind the Gemini protocol: those of Google, and servers that speak it.',
  needs: { streamed: StreamedModels },
  config: object({}),
  register(ctx, { streamed }) {
    const protocol = gemini(() => ctx.ids.make('call'))
    ctx.contribute(ModelProviders, {
      id: 'google',
      summary: 'Gemini, by its own protocol.',
      default_model: 'gemini-2.5-flash',
      family: { rule: 'begin with gemini', has: (model) => /^(?:models\/)?gemini/u.test(model) },
      context_window: contextWindow,
      searches: isLeveled,
      capabilities: textAndImages,
      secrets_of: ['google'],
      key_variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
      connect: (options) => streamed.connect(options, protocol),
      generation: ['reasoning.effort', 'reasoning.budget_tokens', 'response_format.structured_json'],
    })
    ctx.contribute(MediaMakers, geminiPictures)
    ctx.contribute(RouteBackends, {
      id: 'google-search',
      providers: ['google'],
      capabilities: ['native_web_search'],
    })
    ctx.contribute(RouteBackends, {
      id: 'google-pictures',
      providers: ['google'],
      capabilities: ['image_generation', 'image_edit'],
    })
  },
})
