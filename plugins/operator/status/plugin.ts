import { Host, definePlugin } from '../../../core/plugin.js'
import { Capabilities, StatusSections } from './contract.js'
import { statusRoutes } from './routes.js'

export default definePlugin({
  id: 'status',
  version: '1.0.0',
  api: 1,
  summary: 'How the daemon is and what it can do, put together from all plugins.',
  needs: { host: Host },
  register(ctx, { host }) {
    const { state, clock, log } = ctx
    ctx.routes(
      ...statusRoutes({ host, state, clock, log, sections: ctx.view(StatusSections), claims: ctx.view(Capabilities) }),
    )
  },
})
