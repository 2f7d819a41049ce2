import { definePlugin, object } from '../../../core/plugin.js'
import { Sessions } from '../sessions/contract.js'
import { Outbox, ReplyPlugins } from './contract.js'
import { createOutbox } from './outbox.js'
import { declareStore } from './store.js'

export default definePlugin({
  id: 'deliveries',
  version: '1.0.0',
  api: 1,
  summary: 'The outbox: outputs on their way to reply targets.',
  wants: { sessions: Sessions },
  provides: [Outbox],
  config: object({}),
  register(ctx, { sessions }) {
    const store = declareStore(ctx.state)
    ctx.provide(Outbox, createOutbox({ store, replies: ctx.view(ReplyPlugins), sessions }))
  },
})
