import { definePlugin, object } from '../../../core/plugin.js'
import { ModelProviders, textOnly } from '../../execution/models/contract.js'
import { createDemoModel } from './demo-model.js'

export default definePlugin({
  id: 'demo',
  version: '1.0.0',
  api: 1,
  summary: 'A deterministic model inside the daemon that needs no key and no network.',
  config: object({}),
  register(ctx) {
    ctx.contribute(ModelProviders, {
      id: 'demo',
      summary: 'A deterministic model inside the daemon, driven by the last user text.',
      default_model: 'demo',
      capabilities: textOnly,
      context: 'run',
      connect: ({ idle_timeout_ms }) => createDemoModel({ clock: ctx.clock, idle_timeout_ms }),
    })
  },
})
