/** What everything about agents works with. */
import type { Clock, Ids } from '../../../../core/plugin.js'
import type { ObservationSources } from '../../observations/contract.js'
import type { AgentStore } from './store.js'

/** The `plugin` of the owners of sources of agents. */
export const ownerPlugin = 'capture-agents'

export interface AgentParts {
  readonly store: AgentStore
  readonly sources: ObservationSources
  readonly clock: Clock
  readonly ids: Ids
  readonly redact: (text: string) => string
}
