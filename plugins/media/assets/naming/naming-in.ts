/** Records that name assets, each of them one, in an index: what is told of them costs what is told. */
import type { Collection } from '../../../../core/plugin.js'
import type { AssetNaming, KeptReference, ReferenceQuery } from './naming.js'

export interface NamingIn<T extends object> {
  readonly collection: Collection<T>
  /** In the order of ids, which are those of the owners, or begin with them and a space. */
  readonly index: string
  /** Where those stand that are hard, and those that are not. Without it all are hard, in the group of the asset. */
  readonly group?: (asset_id: string, hard: boolean) => string | undefined
  /** What the records are kept with and may outlive: what names for an owner that fell names no more. */
  readonly owners?: Pick<Collection<object>, 'has' | 'falls'>
  readonly reference: (record: T) => KeptReference
}

/** Ids that are looked at at once where some of them count for nothing. */
const mostAtOnce = 1_000
/** Groups of which is known how much fell; when there are more, all are forgotten. */
const mostKnown = 2_048

const ownerOf = (id: string): string => id.split(' ', 1)[0] ?? ''
const byAsset = (asset_id: string, hard: boolean): string | undefined => (hard ? asset_id : undefined)

/** How many of a group name for owners that fell: each is looked at once, until something falls again. */
const createFallen = <T extends object>({ collection, index, owners }: NamingIn<T>) => {
  const known = new Map<string, number>()
  let falls = 0
  const walk = (group: string): number => {
    let count = 0
    for (let beyond = ''; ;) {
      const ids = collection.page({ index, group, limit: mostAtOnce, beyond })
      count += ids.filter((id) => owners?.has(ownerOf(id)) === false).length
      if (ids.length < mostAtOnce) return count
      beyond = ids.at(-1) ?? ''
    }
  }
  return (group: string): number => {
    if (owners === undefined || owners.falls === 0) return 0
    if (falls !== owners.falls || known.size >= mostKnown) known.clear()
    falls = owners.falls
    const count = known.get(group) ?? walk(group)
    known.set(group, count)
    return count
  }
}

export const namingIn = <T extends object>(parts: NamingIn<T>): AssetNaming => {
  const { collection, index, group: groupOf = byAsset, owners, reference } = parts
  const fallen = createFallen(parts)
  const isKept = (id: string): boolean => owners === undefined || owners.falls === 0 || owners.has(ownerOf(id))
  /** The newest first. */
  const idsOf = (group: string, { limit, beyond }: ReferenceQuery): string[] => {
    const found: string[] = []
    for (let [size, last] = [limit, beyond]; ; size = mostAtOnce) {
      const behind = last === undefined ? {} : { beyond: last }
      const ids = collection.page({ index, group, order: 'desc', limit: size, ...behind })
      found.push(...ids.filter(isKept))
      last = ids.at(-1)
      if (ids.length < size || found.length >= limit) return found.slice(0, limit)
    }
  }
  return {
    count(asset_id, hard) {
      const group = groupOf(asset_id, hard)
      const count = group === undefined ? 0 : collection.count(index, group)
      return group === undefined || count === 0 ? 0 : count - fallen(group)
    },
    list(query) {
      const group = groupOf(query.asset_id, query.hard)
      return (group === undefined ? [] : idsOf(group, query)).flatMap((key) => {
        const record = collection.find(key)
        return record === undefined ? [] : [{ key, reference: reference(record) }]
      })
    },
    find(asset_id, owner_id) {
      const groups = [true, false].flatMap((hard) => groupOf(asset_id, hard) ?? [])
      const behind = groups.flatMap((group) => collection.page({ index, group, limit: 1, beyond: `${owner_id} ` }))
      const own = [owner_id, ...behind].filter((id) => ownerOf(id) === owner_id && isKept(id))
      const records = own.flatMap((id) => collection.find(id) ?? [])
      const found = records.find((record) => groups.includes(collection.spec.indexes[index]?.group(record) ?? ''))
      return found && reference(found)
    },
  }
}
