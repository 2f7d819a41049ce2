/** One declared index in memory: per group, ids in ascending order of sort key, then id. */
import type { IndexSpec, PageQuery } from '../contract.js'

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
  /** Adds in any order while loading; `settle` puts all groups in order. */
  load(id: string, place: Place): void
  settle(): void
  count(group: string): number
  groups(): string[]
  ids(group: string): readonly string[]
  page(query: PageQuery): string[]
}

/** A place in the order of a group. */
interface Key {
  readonly sort: string
  readonly id: string
}

/** Parallel arrays; the same array twice where the id is the sort key. */
interface Group {
  readonly ids: string[]
  readonly sorts: string[]
  ordered: boolean
}

const comesBefore = (group: Group, at: number, { sort, id }: Key): boolean => {
  const own = group.sorts[at] ?? ''
  return own < sort || (own === sort && (group.ids[at] ?? '') < id)
}

/** The first position that does not come before (sort, id). */
const positionOf = (group: Group, key: Key): number => {
  const last = group.ids.length - 1
  if (last < 0 || comesBefore(group, last, key)) return last + 1
  let low = 0
  for (let high = last; low < high;) {
    const middle = (low + high) >>> 1
    if (comesBefore(group, middle, key)) low = middle + 1
    else high = middle
  }
  return low
}

/** The first position whose sort key is beyond `sort`. */
const positionBeyond = (group: Group, sort: string): number => {
  let low = 0
  for (let high = group.ids.length; low < high;) {
    const middle = (low + high) >>> 1
    if ((group.sorts[middle] ?? '') <= sort) low = middle + 1
    else high = middle
  }
  return low
}

const insertAt = (list: string[], at: number, value: string): void => {
  if (at === list.length) list.push(value)
  else list.splice(at, 0, value)
}

const newGroup = (id: string, sort: string, sorted: boolean): Group => {
  const ids = [id]
  return { ids, sorts: sorted ? [sort] : ids, ordered: true }
}

const putInOrder = (group: Group): void => {
  if (group.ordered) return
  const order = group.ids.map((id, at) => ({ id, sort: group.sorts[at] ?? '' }))
  order.sort((a, b) => (a.sort === b.sort ? (a.id < b.id ? -1 : 1) : a.sort < b.sort ? -1 : 1))
  order.forEach(({ id, sort }, at) => {
    group.ids[at] = id
    group.sorts[at] = sort
  })
  group.ordered = true
}

export const createRecordIndex = <T>(spec: IndexSpec<T>): RecordIndex<T> => {
  const groups = new Map<string, Group>()
  const sorted = spec.sort !== undefined
  const add = (id: string, name: string, sort: string): void => {
    const group = groups.get(name)
    if (group === undefined) return void groups.set(name, newGroup(id, sort, sorted))
    const at = positionOf(group, { sort, id })
    insertAt(group.ids, at, id)
    if (sorted) insertAt(group.sorts, at, sort)
  }
  const drop = (id: string, name: string, sort: string): void => {
    const group = groups.get(name)
    if (group === undefined) return
    const at = positionOf(group, { sort, id })
    if (group.ids[at] !== id) return
    group.ids.splice(at, 1)
    if (sorted) group.sorts.splice(at, 1)
    if (group.ids.length === 0) groups.delete(name)
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
  const load = (id: string, { group: name, sort }: Place): void => {
    if (name === undefined) return
    const group = groups.get(name)
    if (group === undefined) return void groups.set(name, newGroup(id, sort, sorted))
    group.ordered &&= comesBefore(group, group.ids.length - 1, { sort, id })
    group.ids.push(id)
    if (sorted) group.sorts.push(sort)
  }
  const page = ({ group: name, limit, order = 'asc', beyond }: PageQuery): string[] => {
    const group = groups.get(name)
    if (group === undefined) return []
    if (order === 'asc') {
      const start = beyond === undefined ? 0 : positionBeyond(group, beyond)
      return group.ids.slice(start, start + limit)
    }
    const end = beyond === undefined ? group.ids.length : positionOf(group, { sort: beyond, id: '' })
    return group.ids.slice(Math.max(0, end - limit), end).toReversed()
  }
  return {
    move,
    load,
    settle: () => groups.forEach(putInOrder),
    count: (group) => groups.get(group)?.ids.length ?? 0,
    groups: () => [...groups.keys()],
    ids: (group) => groups.get(group)?.ids.slice() ?? [],
    page,
  }
}
