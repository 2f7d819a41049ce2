/**
 * Where the rows of tables begin in groups of indexes, as far as somebody has asked: who wants the newest few of a
 * group mostly gets what is in memory alone, and no table is read for it. Rows that go leave an edge further out than
 * it need be, which costs a read and is otherwise right.
 */
import type { CollectionSpec, PageQuery } from '../contract.js'
import { compareKeys, type Row } from '../tables/rows.js'
import { placeOf } from './record-index.js'

/** `none`: the group has no row. */
export type Edge = Row | 'none'
type Order = NonNullable<PageQuery['order']>
type Asked = Pick<PageQuery, 'index' | 'group' | 'order'>

/** Groups of one index and direction that are known; when there are more, all are forgotten. */
const mostKnown = 4096

export class Edges<T extends object> {
  readonly #spec: CollectionSpec<T>
  readonly #known: Readonly<Record<Order, Map<string, Map<string, Edge>>>> = { asc: new Map(), desc: new Map() }

  constructor(spec: CollectionSpec<T>) {
    this.#spec = spec
  }

  /** Undefined where it is not known. */
  find({ index, group, order = 'asc' }: Asked): Edge | undefined {
    return this.#known[order].get(index)?.get(group)
  }

  /** The first row of a whole group in its direction was read, or there is none. */
  learn({ index, group, order = 'asc' }: Asked, row: Row | undefined): void {
    const groups = this.#known[order].get(index) ?? new Map<string, Edge>()
    this.#known[order].set(index, groups)
    if (groups.size >= mostKnown) groups.clear()
    groups.set(group, row ?? 'none')
  }

  /** Tables have this record from now on. */
  extend(id: string, record: T): void {
    for (const order of ['asc', 'desc'] as const)
      for (const [index, groups] of this.#known[order]) {
        const spec = this.#spec.indexes[index]
        if (spec === undefined) continue
        const { group, sort } = placeOf(spec, id, record)
        const edge = group === undefined ? undefined : groups.get(group)
        if (group === undefined || edge === undefined) continue
        const row = [group, sort, id]
        if (edge === 'none' || comesBefore(row, edge, order)) groups.set(group, row)
      }
  }
}

/** True of a row that comes before another, in the direction of the order. */
export const comesBefore = (row: Row, other: Row, order: PageQuery['order']): boolean => {
  const comes = compareKeys(row, other, 3)
  return order === 'desc' ? comes > 0 : comes < 0
}
