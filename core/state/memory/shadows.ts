/** Records that indexes of tables have, and that are otherwise in memory now or gone: they are counted once. */
import type { Place } from './record-index.js'

export interface Shadows {
  add(id: string, places: readonly Place[]): void
  /** The tables do not have it any more, or have it rightly. */
  drop(id: string): void
  keepOnly(isWanted: (id: string) => boolean): void
  /** With `beyond` those whose sort key is greater: all that there are are looked at. */
  count(index: string, group: string, beyond?: string): number
}

export const createShadows = (indexes: readonly string[]): Shadows => {
  const shadows = new Map<string, readonly Place[]>()
  const counts = new Map<string, Map<string, number>>()
  const change = (places: readonly Place[], by: number): void =>
    indexes.forEach((index, at) => {
      const group = places[at]?.group
      if (group === undefined) return
      const groups = counts.get(index) ?? new Map<string, number>()
      counts.set(index, groups)
      const count = (groups.get(group) ?? 0) + by
      if (count === 0) groups.delete(group)
      else groups.set(group, count)
    })
  const countBeyond = (index: string, { group, sort }: Place): number => {
    const at = indexes.indexOf(index)
    let count = 0
    for (const places of shadows.values()) {
      const place = places[at]
      if (place !== undefined && place.group === group && place.sort > sort) count += 1
    }
    return count
  }
  const drop = (id: string): void => {
    const places = shadows.get(id)
    if (places === undefined) return
    shadows.delete(id)
    change(places, -1)
  }
  return {
    add(id, places) {
      drop(id)
      shadows.set(id, places)
      change(places, 1)
    },
    drop,
    keepOnly: (isWanted) => [...shadows.keys()].filter((id) => !isWanted(id)).forEach(drop),
    count: (index, group, beyond) => {
      const count = counts.get(index)?.get(group) ?? 0
      return beyond === undefined || count === 0 ? count : countBeyond(index, { group, sort: beyond })
    },
  }
}
