/** One declared index in memory: per group, ids in ascending order of sort key, then id. */
import type { IndexSpec, PageQuery } from '../contract.js'
import {
  addId,
  countBeyond,
  dropId,
  dropIds,
  idsBefore,
  idsBeyond,
  loadId,
  newIds,
  settleIds,
  type Key,
  type OrderedIds,
} from './ordered-ids.js'

/** Where a record stands in one index; no group: it is left out. */
export interface Place {
  readonly group: string | undefined
  readonly sort: string
}

/** Its sort key stands in index files also where it is left out of the index. */
export const placeOf = <T>(spec: IndexSpec<T>, id: string, record: T): Place => ({
  group: spec.group(record),
  sort: spec.sort?.(record) ?? id,
})

export interface RecordIndex<T> {
  /** Moves a record from where it stood to where it belongs; undefined: it was or is not there. */
  move(id: string, before: T | undefined, after: T | undefined): void
  /** Takes out many at once: goes through all there is. */
  dropAll(isGone: (id: string) => boolean): void
  /** Adds in any order while loading; `settle` puts all groups in order. */
  load(id: string, place: Place): void
  settle(): void
  /** With `beyond` those whose sort key is greater. */
  count(group: string, beyond?: string): number
  groups(): string[]
  page(query: PageQuery): string[]
  /** The sort keys of the same. */
  sorts(query: PageQuery): string[]
  /** The places of the same. */
  keys(query: PageQuery): Key[]
}

export const createRecordIndex = <T>(spec: IndexSpec<T>): RecordIndex<T> => {
  const groups = new Map<string, OrderedIds>()
  const sorted = spec.sort !== undefined
  const add = (id: string, name: string, sort: string): void => {
    const group = groups.get(name)
    if (group === undefined) groups.set(name, newIds({ id, sort }, sorted))
    else addId(group, { id, sort })
  }
  const drop = (id: string, name: string, sort: string): void => {
    const group = groups.get(name)
    if (group === undefined) return
    dropId(group, { id, sort })
    if (group.length === 0) groups.delete(name)
  }
  const sortOf = (id: string, record: T): string => spec.sort?.(record) ?? id
  /** Called for every index at every change of a record: it makes no object, and no sort key without need. */
  const move = (id: string, before: T | undefined, after: T | undefined): void => {
    const from = before && spec.group(before)
    const to = after && spec.group(after)
    if (from === to && (from === undefined || !sorted)) return
    const fromSort = before === undefined || from === undefined ? id : sortOf(id, before)
    const toSort = after === undefined || to === undefined ? id : sortOf(id, after)
    if (from === to && fromSort === toSort) return
    if (from !== undefined) drop(id, from, fromSort)
    if (to !== undefined) add(id, to, toSort)
  }
  const dropAll = (isGone: (id: string) => boolean): void => {
    for (const [name, group] of groups) {
      dropIds(group, isGone)
      if (group.length === 0) groups.delete(name)
    }
  }
  const load = (id: string, { group: name, sort }: Place): void => {
    if (name === undefined) return
    const group = groups.get(name)
    if (group === undefined) groups.set(name, newIds({ id, sort }, sorted))
    else loadId(group, { id, sort })
  }
  const take = ({ group: name, order = 'asc', ...part }: PageQuery, cells?: 'sorts'): string[] => {
    const group = groups.get(name)
    if (group === undefined) return []
    return order === 'asc' ? idsBeyond(group, part, cells) : idsBefore(group, part, cells)
  }
  const page = (query: PageQuery): string[] => take(query)
  const sorts = (query: PageQuery): string[] => take(query, 'sorts')
  return {
    move,
    dropAll,
    load,
    settle: () => groups.forEach(settleIds),
    count: (name, beyond) => {
      const group = groups.get(name)
      if (group === undefined) return 0
      return beyond === undefined ? group.length : countBeyond(group, beyond)
    },
    groups: () => [...groups.keys()],
    page,
    sorts,
    keys: (query) => {
      const all = sorts(query)
      return page(query).map((id, at) => ({ id, sort: all[at] ?? '' }))
    },
  }
}

/** All indexes or none: one whose functions throw moves nothing, and what was moved before it is moved back. */
export const moveInAll = <T>(
  indexes: readonly RecordIndex<T>[],
  id: string,
  [before, after]: readonly [T | undefined, T | undefined],
): void => {
  let moved = 0
  try {
    for (const index of indexes) {
      index.move(id, before, after)
      moved += 1
    }
  } catch (error) {
    for (const index of indexes.slice(0, moved)) index.move(id, after, before)
    throw error
  }
}
