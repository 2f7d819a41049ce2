import { createUnreadable, definePlugin, Host } from '../../../core/plugin.js'
import { Interception } from '../../execution/interception/contract.js'
import { SystemSections } from '../../execution/models/contract.js'
import { Runs } from '../../execution/runs/contract.js'
import {
  SessionAgents,
  SessionEndGuards,
  SessionHolds,
  SessionMemberships,
  Sessions,
} from '../../execution/sessions/contract.js'
import { SessionModes, ToolGates, ToolRegistry, Tools } from '../../execution/tools/contract.js'
import { Reasons, Subjects } from '../../operator/explanations/contract.js'
import { RuntimeSections } from '../../operator/runtime/contract.js'
import { Capabilities, StatusSections } from '../../operator/status/contract.js'
import { UsageBooks } from '../../operator/usage/contract.js'
import { limitsOf, limitsView, policySection, SidechainsConfig, sidechainsFlags } from './config.js'
import { AgentAudit, AgentMail, AgentQuestions, Agents, SpawnedAgents, SpawnObservers } from './contract.js'
import { endGuard, settingsHold, watchEnds } from './kinship.js'
import { agentReasons, agentSubjects } from './explained.js'
import { nicknameRoutes } from './nickname-routes.js'
import { policyRoutes } from './policy-routes.js'
import { agentRoutes } from './routes.js'
import { agentSection } from './section.js'
import { createAgents } from './service.js'
import { declareAgents, surfacesOf } from './store.js'
import { declareAgentAudit } from './supervision/audit.js'
import { auditRoutes } from './supervision/audit-routes.js'
import { agentsSection } from './supervision/status.js'
import { permitsTool } from './bounds/surface.js'
import { agentTools } from './tools.js'
import { spawnedAgent } from './views.js'
import { createWaits } from './waits.js'

export default definePlugin({
  id: 'sidechains',
  version: '1.0.0',
  api: 1,
  summary: 'Agents that agents start for a part of their work, each in a session of its own.',
  needs: { host: Host, runs: Runs, sessions: Sessions, tools: ToolRegistry },
  wants: { interception: Interception, mail: AgentMail, questions: AgentQuestions, books: UsageBooks },
  provides: [AgentAudit, Agents, SessionAgents, SpawnedAgents],
  config: SidechainsConfig,
  flags: sidechainsFlags,
  register(ctx, { books, host, interception, mail, questions, runs, sessions, tools }) {
    const { clock, config, events, ids, log, state } = ctx
    const store = declareAgents({ state, sessions, runs, mail, questions })
    const audit = declareAgentAudit(state, log)
    const modes = ctx.view(SessionModes)
    const waits = createWaits({ store, sessions, events })
    const parts = {
      books,
      audit,
      clock,
      config,
      host,
      ids,
      interception,
      mail,
      memberships: ctx.view(SessionMemberships),
      modes,
      observers: ctx.observers(SpawnObservers),
      questions,
      runs,
      sessions,
      state,
      store,
      tools,
      waits,
    }
    ctx.provide(AgentAudit, { note: audit.note })
    ctx.provide(Agents, createAgents(parts))
    ctx.provide(SessionAgents, {
      find: (session_id) => spawnedAgent(parts, session_id),
      asks: (session_id) => questions()?.asks(session_id) ?? false,
      folder: (session_id) => store.find(session_id)?.cwd,
    })
    ctx.provide(SpawnedAgents, {
      find: store.find,
      spawnedBy: (run_id, page) => store.collection.list({ index: 'run', group: run_id, ...page }),
    })
    ctx.contribute(SessionModes, {
      id: 'sidechains',
      mode: (session_id) => store.find(session_id)?.permission_mode,
      rules: (session_id) => store.find(session_id)?.permission_rules ?? [],
    })
    ctx.contribute(ToolGates, {
      id: 'sidechains',
      hidden(session_id) {
        const surfaces = surfacesOf(store.find(session_id))
        return surfaces.length === 0 ? undefined : ({ name }) => surfaces.some((one) => !permitsTool(one, name))
      },
    })
    ctx.contribute(SessionHolds, settingsHold(store))
    ctx.contribute(SessionEndGuards, endGuard(parts))
    ctx.contribute(SystemSections, agentSection(store))
    ctx.contribute(Tools, ...agentTools(parts))
    ctx.contribute(Subjects, agentSubjects(parts))
    ctx.contribute(Reasons, agentReasons(parts))
    ctx.contribute(
      Capabilities,
      { name: 'sidechains', value: true },
      { name: 'spawn_policies', value: true },
      { name: 'agent_supervisor_audit', value: true },
    )
    const started = (): number => store.collection.count('spawned', 'all')
    const limits = { schema: limitsView, value: limitsOf(config) }
    ctx.contribute(StatusSections, agentsSection({ audit, sessions, store, mail, started, limits }))
    ctx.contribute(RuntimeSections, policySection(config))
    const { skip, health } = createUnreadable(log, 'agents')
    ctx.routes(
      ...agentRoutes({ ...parts, skip }),
      ...policyRoutes(parts),
      ...nicknameRoutes(parts),
      ...auditRoutes({ audit, check: store.get, skip }),
    )
    ctx.health(health)
    ctx.onStart(() => {
      const ends = [waits.begin(), watchEnds({ ...parts, events, log })]
      return () => {
        for (const end of ends) end()
      }
    })
  },
})
