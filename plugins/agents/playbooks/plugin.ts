import { createUnreadable, definePlugin } from '../../../core/plugin.js'
import { Models } from '../../execution/models/contract.js'
import { ToolRegistry } from '../../execution/tools/contract.js'
import { Capabilities } from '../../operator/status/contract.js'
import { Playbooks } from './contract.js'
import { createReleases } from './releases.js'
import { playbookRoutes } from './routes.js'
import { createPlaybooks, declarePlaybooks } from './store.js'

const knowsTool =
  (tools: ToolRegistry) =>
  (name: string): boolean =>
    name.endsWith('*')
      ? tools.list().some((tool) => tool.name.startsWith(name.slice(0, -1)))
      : tools.find(name) !== undefined

export default definePlugin({
  id: 'playbooks',
  version: '1.0.0',
  api: 1,
  summary: 'Playbooks: how work is done, kept version by version and released with evidence.',
  provides: [Playbooks],
  needs: { tools: ToolRegistry, models: Models },
  register(ctx, { tools, models }) {
    const unreadable = createUnreadable(ctx.log, 'playbooks')
    const store = declarePlaybooks(ctx.state, unreadable.skip)
    ctx.provide(Playbooks, createPlaybooks(store))
    const known = { tool: knowsTool(tools), route: (id: string) => models.find(id) !== undefined }
    ctx.routes(...playbookRoutes({ store, releases: createReleases(store), known }))
    ctx.contribute(Capabilities, { name: 'playbooks', value: true })
    ctx.health(unreadable.health)
  },
})
