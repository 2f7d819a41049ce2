import { definePlugin, doc, object, optional, string } from '../../../core/plugin.js'
import { ModelProviders, RouteBackends, textAndImages } from '../../execution/models/contract.js'
import { MediaMakers, openAiMedia } from '../../media/makers/contract.js'
import { StreamedModels } from '../streamed/contract.js'
import { contextWindow, grok, isOwn } from './models.js'
import { grokPictures } from './pictures.js'
import { accountHeaders, responses } from './protocol.js'
import { openAi, xAi } from './vendor.js'

const word = () => string({ min: 1, max: 200, pattern: '^[A-Za-z0-9._-]+$' })

/** Of names and values in turns. */
const pairs = (list: readonly string[]): Record<string, string> =>
  Object.fromEntries(list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? '']] : [])))

export default definePlugin({
  id: 'openai',
  version: '1.0.0',
  api: 1,
  summary: 'Models behind the responses protocol: those of OpenAI and xAI, and servers that speak it.',
  needs: { streamed: StreamedModels },
  config: object({
    organization: optional(doc(word(), 'Who pays, where a key is of several: the header `OpenAI-Organization`.')),
    project: optional(doc(word(), 'The project that is asked for: the header `OpenAI-Project`.')),
  }),
  flags: { organization: 'openai-organization', project: 'openai-project' },
  register(ctx, { streamed }) {
    const newId = (): string => ctx.ids.make('call')
    ctx.contribute(ModelProviders, {
      id: 'openai',
      summary: 'GPT, by the responses protocol.',
      default_model: 'gpt-5.4',
      family: { rule: 'be the name of a model of OpenAI, such as gpt-5.4 or o3', has: isOwn },
      context_window: contextWindow,
      capabilities: textAndImages,
      secrets_of: ['open_ai'],
      key_variables: ['OPENAI_API_KEY'],
      vendor_options: ['organization', 'project'],
      connect: (options) => streamed.connect(options, responses(newId, { ...ctx.config, ...options.vendor })),
      generation: ['reasoning.effort', 'reasoning.summary', 'response_format.structured_json'],
    })
    ctx.contribute(ModelProviders, {
      id: 'xai',
      summary: 'Grok, by the responses protocol.',
      default_model: 'grok-4-fast-reasoning',
      family: { rule: 'begin with grok', has: grok.isOwn },
      context_window: grok.contextWindow,
      capabilities: textAndImages,
      secrets_of: ['x_ai'],
      key_variables: ['XAI_API_KEY'],
      connect: (options) => streamed.connect(options, responses(newId, {}, xAi)),
      generation: ['reasoning.effort', 'response_format.structured_json'],
    })
    ctx.contribute(RouteBackends, {
      id: 'xai-own',
      providers: ['xai'],
      capabilities: ['native_web_search', 'image_generation', 'image_edit'],
    })
    ctx.contribute(MediaMakers, grokPictures)
    ctx.contribute(
      MediaMakers,
      openAiMedia({
        provider: 'openai',
        base_url: openAi.base_url,
        models: { pictures: 'gpt-image-1', speech: 'gpt-4o-mini-tts' },
        headers: ({ api_key, vendor }) => pairs(accountHeaders({ ...ctx.config, ...vendor }, api_key)),
      }),
    )
    ctx.contribute(RouteBackends, {
      id: 'openai-media',
      providers: ['openai'],
      capabilities: ['native_web_search', 'image_generation', 'image_edit', 'audio_generation'],
    })
  },
})
