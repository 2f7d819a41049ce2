/** Until when servers want no calls, kept for the next life of the daemon. */
import { tellFailure, type CollectionSpec, type Log, type State } from '../../../../core/plugin.js'

/** A model that is not asked before a time, Unix ms. */
export interface Hold {
  readonly model: string
  readonly until_ms: number
}

interface HoldsRecord {
  readonly route_id: string
  /** What the route was then: another one has other limits. */
  readonly of: string
  readonly held: readonly Hold[]
}

const holdsCollection: CollectionSpec<HoldsRecord> = {
  name: 'model_holds',
  version: 1,
  id: ({ route_id }) => route_id,
  indexes: {},
  settled: () => true,
  removed: 'forgotten',
}

/** Those of one route. */
export interface KeptHolds {
  /** What an earlier life kept of the same route. */
  readonly before: readonly Hold[]
  keep(held: readonly Hold[]): void
}

export type HoldsOf = (route_id: string, of: string) => KeptHolds

export const createHolds = (state: State, log: Log): HoldsOf => {
  const holds = state.collection(holdsCollection)
  /** A route that is built anew in this life has changed: nothing is known of it. */
  const built = new Set<string>()
  return (route_id, of) => {
    const found = built.has(route_id) ? undefined : holds.find(route_id)
    built.add(route_id)
    return {
      before: found?.of === of ? found.held : [],
      keep: (held) =>
        void state
          .commit((tx) => tx.put(holds, { route_id, of, held }))
          .catch((error: unknown) => tellFailure({ log, state }, 'a hold of a model is not kept', { route_id, error })),
    }
  }
}
