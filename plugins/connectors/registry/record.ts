/** What the daemon keeps of connectors that requests set up. */
import {
  enums,
  jsonObject,
  literal,
  object,
  record,
  string,
  tagged,
  timestamp,
  type Collection,
  type CollectionSpec,
  type Infer,
  type State,
} from '../../../core/plugin.js'
import {
  carryOverRecords,
  keptHandles,
  type ReplyHandle,
  type TargetKeeper,
} from '../../execution/deliveries/contract.js'
import { connectorKinds } from './settings.js'

/** Where a secret of a connector is. */
export const StoredSource = tagged('type', {
  secret: object({ type: literal('secret'), secret_ref: string() }),
  env: object({ type: literal('env'), env: string() }),
})
export type StoredSource = Infer<typeof StoredSource>

export const StoredConnector = object({
  kind: enums(connectorKinds),
  name: string(),
  /** The members of its kind, whole; reply targets as handles. */
  settings: jsonObject(),
  secrets: record(StoredSource),
  created_at_ms: timestamp(),
  updated_at_ms: timestamp(),
})
export type StoredConnector = Infer<typeof StoredConnector>

/** How many may be kept. */
export const mostConnectors = 1_000

/** Names a connector among those of all kinds. In the order of these, kinds stand together. */
export const idOf = ({ kind, name }: { readonly kind: string; readonly name: string }): string => `${kind}/${name}`

const connectorCollection: CollectionSpec<StoredConnector> = {
  name: 'connectors',
  version: 1,
  id: idOf,
  indexes: { all: { group: () => 'all' } },
  removed: 'forgotten',
  bounded: { connectors: `${mostConnectors} at most` },
  schema: StoredConnector,
}
export const declareConnectors = (state: State): Collection<StoredConnector> => state.collection(connectorCollection)

/** Puts reply targets of older records as they may be stored. `targetsOf` tells the member that has them. */
export const connectorKeeper = (
  state: State,
  { collection, targetsOf }: { collection: Collection<StoredConnector>; targetsOf(kind: string): string | undefined },
): TargetKeeper => ({
  id: 'connectors',
  carryOver: (keep, signal) =>
    carryOverRecords({ state, collection, index: 'all', signal }, (stored) => {
      const member = targetsOf(stored.kind)
      const kept = member === undefined ? undefined : keptHandles(keep, handlesIn(stored.settings[member]))
      return member === undefined || kept === undefined
        ? undefined
        : { ...stored, settings: { ...stored.settings, [member]: [...kept] } }
    }),
})

/** Handles in what a member of settings holds. */
export const handlesIn = (value: unknown): ReplyHandle[] =>
  !Array.isArray(value)
    ? []
    : value.flatMap((one: unknown) => {
        const { plugin, address }: { plugin?: unknown; address?: unknown } = Object(one)
        return typeof plugin === 'string' && typeof address === 'string' ? [{ plugin, address }] : []
      })
