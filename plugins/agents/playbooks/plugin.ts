import { createUnreadable, definePlugin } from '../../../core/plugin.js'
import { Capabilities } from '../../operator/status/contract.js'
import { Playbooks } from './contract.js'
import { createReleases } from './releases.js'
import { playbookRoutes } from './routes.js'
import { createPlaybooks, declarePlaybooks } from './store.js'

export default definePlugin({
  id: 'playbooks',
  version: '1.0.0',
  api: 1,
  summary: 'Playbooks: how work is done, kept version by version and released with evidence.',
  provides: [Playbooks],
  register(ctx) {
    const unreadable = createUnreadable(ctx.log, 'playbooks')
    const store = declarePlaybooks(ctx.state, unreadable.skip)
    ctx.provide(Playbooks, createPlaybooks(store))
    ctx.routes(...playbookRoutes({ store, releases: createReleases(store) }))
    ctx.contribute(Capabilities, { name: 'playbooks', value: true })
    ctx.health(unreadable.health)
  },
})
