import { createUnreadable, definePlugin, object } from '../../../core/plugin.js'
import { StatusSections } from '../../operator/status/contract.js'
import { TargetKeepers } from '../deliveries/contract.js'
import { Interception } from '../interception/contract.js'
import { Models, SystemSections } from '../models/contract.js'
import { ToolGates, ToolRegistry } from '../tools/contract.js'
import {
  PersonaSource,
  SessionActivity,
  SessionAgents,
  SessionEndGuards,
  SessionGoals,
  SessionHolds,
  SessionMetadata,
  Sessions,
} from './contract.js'
import { createSessions } from './directory.js'
import { sessionJournal } from './record/journal.js'
import { sessionRoutes } from './routes.js'
import { personaSection } from './sections.js'
import { scopeGate } from './scope-gate.js'
import { overrideGate } from './tool-overrides.js'
import { sessionsSection } from './status.js'
import { sessionCollection, sessionKeeper } from './record/store.js'

export default definePlugin({
  id: 'sessions',
  version: '1.0.0',
  api: 1,
  summary: 'Durable containers in which runs are executed.',
  needs: { models: Models, personas: PersonaSource, tools: ToolRegistry },
  wants: { activity: SessionActivity, agents: SessionAgents, goals: SessionGoals, interception: Interception },
  provides: [Sessions],
  config: object({}),
  register(ctx, { activity, agents, goals, interception, models, personas, tools }) {
    const { state, ids } = ctx
    const collection = state.collection(sessionCollection)
    const sessions = createSessions({
      state,
      ids,
      interception,
      collection,
      personas,
      journal: state.stream(sessionJournal),
      activity,
      holds: ctx.view(SessionHolds),
      guards: ctx.view(SessionEndGuards),
      observers: ctx.observers(SessionEndGuards),
      members: ctx.view(SessionMetadata),
      goals,
      agents,
    })
    ctx.provide(Sessions, sessions)
    const { skip, health } = createUnreadable(ctx.log, 'sessions')
    ctx.routes(...sessionRoutes({ sessions, state, ids, activity, models, personas, tools, skip }))
    ctx.health(health)
    ctx.contribute(TargetKeepers, sessionKeeper(state, collection))
    ctx.contribute(ToolGates, scopeGate(sessions), overrideGate(sessions))
    ctx.contribute(SystemSections, personaSection(sessions, personas))
    ctx.contribute(StatusSections, sessionsSection(sessions))
  },
})
