import { definePlugin, object } from '../../../core/plugin.js'
import { personaCommands } from './commands.js'
import { Personas } from './contract.js'
import { personaRoutes } from './routes.js'
import { createPersonas } from './store.js'

export default definePlugin({
  id: 'personas',
  version: '1.0.0',
  api: 1,
  summary: 'Who sessions speak as: templates that are frozen into the sessions bound to them.',
  provides: [Personas],
  config: object({}),
  commands: personaCommands,
  register(ctx) {
    const personas = createPersonas(ctx.state)
    ctx.provide(Personas, personas)
    ctx.routes(...personaRoutes({ personas, ids: ctx.ids }))
  },
})
