import { array, defaulted, definePlugin, doc, object, string } from '../../../core/plugin.js'
import { ModelProviders, RouteBackends, textAndImages, type VendorOptions } from '../../execution/models/contract.js'
import { StreamedModels } from '../streamed/contract.js'
import { contextWindow } from './models.js'
import { messages, type Version } from './protocol.js'

const word = () => string({ min: 1, max: 200, pattern: '^[A-Za-z0-9._-]+$' })

export default definePlugin({
  id: 'anthropic',
  version: '1.0.0',
  api: 1,
  summary: 'Models behind the messages protocol: those of Anthropic, and servers that speak it.',
  needs: { streamed: StreamedModels },
  config: object({
    version: doc(defaulted(word(), '2023-06-01'), 'The header `anthropic-version` of each request.'),
    beta_headers: doc(defaulted(array(word(), { max: 50 }), []), 'What the header `anthropic-beta` names.'),
  }),
  flags: { version: 'anthropic-version', beta_headers: 'anthropic-beta-headers' },
  register(ctx, { streamed }) {
    const newId = (): string => ctx.ids.make('call')
    const versionOf = ({ anthropic_version, anthropic_beta_headers }: VendorOptions): Version => ({
      version: anthropic_version ?? ctx.config.version,
      beta_headers: anthropic_beta_headers ?? ctx.config.beta_headers,
    })
    ctx.contribute(ModelProviders, {
      id: 'anthropic',
      summary: 'Claude, by the messages protocol.',
      default_model: 'claude-opus-4-6',
      family: { rule: 'have claude in their names', has: (model) => model.includes('claude') },
      context_window: contextWindow,
      capabilities: textAndImages,
      secrets_of: ['anthropic'],
      key_variables: ['ANTHROPIC_API_KEY'],
      vendor_options: ['anthropic_version', 'anthropic_beta_headers'],
      connect: (options) => streamed.connect(options, messages(newId, versionOf(options.vendor ?? {}))),
      generation: ['reasoning.effort', 'reasoning.budget_tokens', 'response_format.structured_json'],
    })
    ctx.contribute(RouteBackends, {
      id: 'anthropic-search',
      providers: ['anthropic'],
      capabilities: ['native_web_search'],
    })
  },
})
