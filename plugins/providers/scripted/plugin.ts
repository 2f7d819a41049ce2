import { definePlugin, type AnyPlugin } from '../../../core/plugin.js'
import { ModelProviders, textOnly, type ModelProvider } from '../../execution/models/contract.js'

export const createScripted = (provider: Pick<ModelProvider, 'connect'> & Partial<ModelProvider>): AnyPlugin =>
  definePlugin({
    id: 'scripted',
    version: '1.0.0',
    api: 1,
    summary: 'A model whose answers a test writes down.',
    register(ctx) {
      ctx.contribute(ModelProviders, {
        id: 'scripted',
        summary: 'Scripted.',
        default_model: 'scripted',
        capabilities: textOnly,
        ...provider,
      })
    },
  })
