import { createUnreadable, definePlugin, object } from '../../../core/plugin.js'
import { PersonaSource, Sessions } from '../../execution/sessions/contract.js'
import { personaRoutes } from './routes.js'
import { createPersonas } from './store.js'

export default definePlugin({
  id: 'personas',
  version: '1.0.0',
  api: 1,
  summary: 'Who sessions speak as: templates that are frozen into the sessions bound to them.',
  wants: { sessions: Sessions },
  provides: [PersonaSource],
  config: object({}),
  register(ctx, { sessions }) {
    const personas = createPersonas(ctx.state, (sha256) => sessions()?.namesSoul(sha256) ?? true)
    ctx.provide(PersonaSource, personas)
    const { skip, health } = createUnreadable(ctx.log, 'personas')
    ctx.routes(...personaRoutes({ personas, ids: ctx.ids, skip }))
    ctx.health(health)
  },
})
