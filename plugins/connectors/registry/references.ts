/** Who sends replies to a connector: as long as anybody does, it cannot be deleted. */
import type { ReplyHandle, ReplyTargetRequest, TargetKeeper } from '../../execution/deliveries/contract.js'
import { connectorOf, targetsOf } from './entry.js'
import type { Registry } from './registry.js'

export interface UserParts {
  readonly registry: Pick<Registry, 'list'>
  readonly keepers: () => readonly TargetKeeper[]
}

interface Sought {
  readonly kind: string
  readonly name: string
}

/** True of a target that goes to the connector. Those of the kind http go to addresses. */
const leadsTo =
  ({ kind, name }: Sought) =>
  (target: ReplyTargetRequest | ReplyHandle): boolean => {
    if (!('type' in target) || target.type === 'raw') {
      const found = connectorOf(target)
      return found?.kind === kind && found.name === name
    }
    return target.type === kind && 'connector' in target && target.connector === name
  }

/** In words: other connectors, and what keeps targets for later. */
export const usersOf = ({ registry, keepers }: UserParts, sought: Sought): string[] => {
  if (sought.kind === 'http') return []
  const leads = leadsTo(sought)
  const connectors = registry
    .list()
    .filter((entry) => !(entry.kind.kind === sought.kind && entry.name === sought.name))
    .filter((entry) => targetsOf(entry).some(leads))
    .map((entry) => `the connector ${entry.kind.kind} ${entry.name}`)
  return [...connectors, ...keepers().flatMap((keeper) => keeper.naming?.(leads) ?? [])]
}
