import { definePlugin, object } from '../../../core/plugin.js'
import { StatusSections } from '../../operator/status/contract.js'
import { sessionCommands } from './commands.js'
import { SessionActivity, Sessions } from './contract.js'
import { createSessions } from './directory.js'
import { sessionRoutes } from './routes.js'
import { sessionsSection } from './status.js'
import { sessionCollection } from './store.js'

export default definePlugin({
  id: 'sessions',
  version: '1.0.0',
  api: 1,
  summary: 'Durable containers in which runs are executed.',
  wants: { activity: SessionActivity },
  provides: [Sessions],
  config: object({}),
  commands: sessionCommands,
  register(ctx, { activity }) {
    const sessions = createSessions(ctx.state.collection(sessionCollection), activity)
    ctx.provide(Sessions, sessions)
    ctx.routes(...sessionRoutes({ sessions, state: ctx.state, ids: ctx.ids, activity }))
    ctx.contribute(StatusSections, sessionsSection(sessions))
  },
})
