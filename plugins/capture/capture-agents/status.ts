/** What the status, the warnings and the metrics say about agents. */
import { count, integer, object, type HealthCheck, type Metric } from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import type { AgentStore } from './record/store.js'
import { heartbeatStates } from './record/structs.js'

type Store = Pick<AgentStore, 'agents'>

const AgentsStatus = object({
  pending: integer({ min: 0 }),
  healthy: integer({ min: 0 }),
  missing: integer({ min: 0 }),
  revoked: integer({ min: 0 }),
})

export const agentsSection = ({ agents }: Store): StatusSection => ({
  name: 'capture_agents',
  schema: AgentsStatus,
  collect: () => {
    const of = (state: (typeof heartbeatStates)[number]): number => agents.count('state', state)
    return { pending: of('pending'), healthy: of('healthy'), missing: of('missing'), revoked: of('revoked') }
  },
})

export const agentsHealth = ({ agents }: Store): HealthCheck => ({
  id: 'capture-agents',
  check: () => {
    const missing = agents.count('state', 'missing')
    const [first] = missing === 0 ? [] : agents.page({ index: 'state', group: 'missing', limit: 1 })
    if (first === undefined) return []
    return [
      {
        severity: 'warning',
        code: 'capture_agent_missing',
        related_id: first,
        message: `${count(missing, 'capture agent')} sent no heartbeat in time; the first is ${first}.`,
        action: 'See holdfast capture-agents alerts, and look at the machines; revoke those that are gone for good.',
      },
    ]
  },
})

export const agentsMetric = ({ agents }: Store): Metric => ({
  name: 'service_capture_agents',
  help: 'Capture agents, by how they live.',
  type: 'gauge',
  collect: () => heartbeatStates.map((state) => ({ labels: { state }, value: agents.count('state', state) })),
})
