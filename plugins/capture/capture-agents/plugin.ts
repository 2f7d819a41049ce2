import { createUnreadable, definePlugin, Metrics, object } from '../../../core/plugin.js'
import { Capabilities, StatusSections } from '../../operator/status/contract.js'
import { ObservationSources, SourceKeepers } from '../observations/contract.js'
import { createHearing } from './agents/hearing.js'
import { createJudge } from './agents/judge.js'
import { declareAgents } from './record/store.js'
import { captureRoutes } from './routes.js'
import { agentsHealth, agentsMetric, agentsSection } from './status.js'

export default definePlugin({
  id: 'capture-agents',
  version: '1.0.0',
  api: 1,
  summary: 'Machines that send what they see and hear, their leases and their heartbeats.',
  needs: { sources: ObservationSources },
  config: object({}),
  register(ctx, { sources }) {
    const { state, clock, ids, log, secrets } = ctx
    const { skip, health } = createUnreadable(log, 'capture agents')
    const store = declareAgents(state, skip)
    let listeningSince = 0
    const hearing = createHearing({ store }, () => listeningSince)
    const parts = { store, sources, clock, ids, redact: (text: string) => secrets.redact(text), hearing }
    ctx.routes(...captureRoutes(parts))
    ctx.contribute(SourceKeepers, createJudge(parts))
    ctx.contribute(Capabilities, { name: 'capture_agents', value: true })
    ctx.contribute(StatusSections, agentsSection(store))
    ctx.contribute(Metrics, agentsMetric(store))
    ctx.health(health)
    ctx.health(agentsHealth(store))
    ctx.onStart(() => {
      listeningSince = clock.now()
      return () => hearing.settle()
    })
  },
})
