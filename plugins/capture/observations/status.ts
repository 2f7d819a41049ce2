/** How much of observations there is. */
import { doc, integer, object, type Metric } from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import { groupOf, type ObservationStore } from './record/store.js'
import { retentionStates } from './record/structs.js'

const countOf = ({ observations }: ObservationStore, state: 'active' | 'purged'): number =>
  observations.count('all', groupOf(state))

export const observationSection = (store: ObservationStore): StatusSection => ({
  name: 'observations',
  schema: object({
    source_count: integer({ min: 0 }),
    active_count: integer({ min: 0 }),
    purged_count: doc(integer({ min: 0 }), 'Those that are still listed.'),
    leaving_count: doc(integer({ min: 0 }), 'Purged ones whose files are still to be deleted.'),
  }),
  collect: () => ({
    source_count: store.sources.count('all', 'all'),
    active_count: countOf(store, 'active'),
    purged_count: countOf(store, 'purged'),
    leaving_count: store.observations.count('leaving', 'leaving'),
  }),
})

export const observationMetrics = (store: ObservationStore): readonly Metric[] => [
  {
    name: 'service_observations',
    help: 'Observations that are kept.',
    type: 'gauge',
    collect: () => retentionStates.map((state) => ({ labels: { state }, value: countOf(store, state) })),
  },
]
