import { createUnreadable, definePlugin, object } from '../../../core/plugin.js'
import { Personas } from '../../coordination/personas/contract.js'
import { StatusSections } from '../../operator/status/contract.js'
import { Outbox } from '../deliveries/contract.js'
import { Models } from '../models/contract.js'
import { Runs, SystemSections } from '../runs/contract.js'
import { Tools } from '../tools/contract.js'
import { sessionCommands } from './commands.js'
import { SessionActivity, SessionEndGuards, SessionHolds, SessionMetadata, Sessions } from './contract.js'
import { createSessions } from './directory.js'
import { sessionRoutes } from './routes.js'
import { contactSection, personaSection } from './sections.js'
import { sessionsSection } from './status.js'
import { sessionCollection } from './store.js'
import { notifyOperator } from './tools.js'

export default definePlugin({
  id: 'sessions',
  version: '1.0.0',
  api: 1,
  summary: 'Durable containers in which runs are executed.',
  needs: { models: Models, personas: Personas },
  wants: { activity: SessionActivity, outbox: Outbox, runs: Runs },
  provides: [Sessions],
  config: object({}),
  commands: sessionCommands,
  register(ctx, { activity, outbox, runs, models, personas }) {
    const { state, ids } = ctx
    const sessions = createSessions({
      collection: state.collection(sessionCollection),
      activity,
      holds: ctx.view(SessionHolds),
      guards: ctx.view(SessionEndGuards),
      members: ctx.view(SessionMetadata),
    })
    ctx.provide(Sessions, sessions)
    const { skip, health } = createUnreadable(ctx.log, 'sessions')
    ctx.routes(...sessionRoutes({ sessions, state, ids, activity, outbox, models, personas, skip }))
    ctx.health(health)
    ctx.contribute(Tools, notifyOperator({ sessions, outbox, runs }))
    ctx.contribute(SystemSections, personaSection(sessions), contactSection(sessions))
    ctx.contribute(StatusSections, sessionsSection(sessions))
  },
})
