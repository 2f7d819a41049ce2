import { createUnreadable, defaulted, definePlugin, doc, integer, object } from '../../../core/plugin.js'
import { MemorySources } from '../../execution/memory/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import { SessionEndGuards, SessionMemberships, Sessions } from '../../execution/sessions/contract.js'
import { ToolGates, Tools } from '../../execution/tools/contract.js'
import { Reasons, Subjects } from '../../operator/explanations/contract.js'
import { Capabilities } from '../../operator/status/contract.js'
import { ChannelParts, Channels } from '../channels/contract.js'
import { projectReasons, projectSubjects } from './explained.js'
import { channelPart, endGuard, membership, projectScopes, toolGate } from './guards.js'
import { projectRoutes } from './project-routes.js'
import { declareProjects } from './record/store.js'
import { createMirror } from './roster/mirror.js'
import { rosterRoutes } from './roster-routes.js'
import { taskRoutes } from './task-routes.js'
import { projectTools } from './tools.js'
import { beginFollowing } from './work/worker.js'

export default definePlugin({
  id: 'projects',
  version: '1.0.0',
  api: 1,
  summary: 'Who works together, in which channels, on which tasks.',
  needs: { channels: Channels, runs: Runs, sessions: Sessions },
  config: object({
    max_members: doc(defaulted(integer({ min: 1, max: 10_000 }), 1_000), 'Members of one project at most.'),
    max_mirrored: doc(
      defaulted(integer({ min: 0, max: 20_000 }), 10_000),
      'Members of a project times channels that mirror them, at most: so many are written at once.',
    ),
    max_tasks: doc(defaulted(integer({ min: 1, max: 100_000 }), 10_000), 'Tasks of one project at most.'),
  }),
  register(ctx, { channels, runs, sessions }) {
    const { clock, config: bounds, events, ids, log, state } = ctx
    const { skip, health } = createUnreadable(log, 'projects')
    const store = declareProjects(state, skip)
    const mirror = createMirror(store, channels)
    const parts = { store, channels, sessions, runs, mirror, bounds, ids, clock }
    ctx.routes(...projectRoutes(parts), ...rosterRoutes(parts), ...taskRoutes(parts))
    ctx.contribute(Tools, ...projectTools(parts))
    ctx.contribute(ToolGates, toolGate(store))
    ctx.contribute(SessionEndGuards, endGuard(store))
    ctx.contribute(SessionMemberships, membership(store))
    ctx.contribute(ChannelParts, channelPart(store))
    ctx.contribute(MemorySources, projectScopes(store))
    ctx.contribute(Subjects, projectSubjects(store))
    ctx.contribute(Reasons, projectReasons(parts))
    ctx.contribute(Capabilities, { name: 'projects', value: true })
    ctx.health(health)
    ctx.onStart(() => beginFollowing({ store, runs, events, log, clock }))
  },
})
