/** A part of a group of which some records are in memory and the others in tables. */
import type { PageQuery } from '../contract.js'
import type { Row } from '../tables/rows.js'
import { comesBefore, type Edges } from './edges.js'
import type { Key } from './ordered-ids.js'
import type { RecordIndex } from './record-index.js'

export interface Parts<T extends object> {
  readonly warm: Pick<RecordIndex<T>, 'page' | 'sorts' | 'keys'>
  /** Rows of tables in the order of the query; read as they are needed. */
  readonly cold: () => Iterable<Row>
  readonly edges: Pick<Edges<T>, 'find' | 'learn'>
  /** False of a record that the tables have and that is in memory now, or gone. */
  readonly isCold: (id: string) => boolean
}

/** So many may be those that changed last, and all in memory. */
const few = 64

/** Ids in the order of the query. */
export const mergedPage = <T extends object>(query: PageQuery, { warm, cold, edges, isCold }: Parts<T>): string[] => {
  const edge = edges.find(query)
  if (edge === 'none') return warm.page(query)
  const inMemory = edge === undefined || query.limit > few ? undefined : pageBefore(edge, query, warm)
  if (inMemory !== undefined) return inMemory
  const rows = cold()[Symbol.iterator]()
  let next = rows.next()
  if (query.beyond === undefined && edge === undefined) edges.learn(query, next.done === true ? undefined : next.value)
  if (next.done === true) return warm.page(query)
  const keys = warm.keys(query)
  const ids: string[] = []
  let at = 0
  const takeKeys = (until: Row | undefined): void => {
    for (; ids.length < query.limit && at < keys.length; at += 1) {
      const key = keys[at]
      if (key === undefined || (until !== undefined && !isBefore(key, until, query.order))) return
      ids.push(key.id)
    }
  }
  for (; next.done !== true; next = rows.next()) {
    takeKeys(next.value)
    if (ids.length >= query.limit) return ids
    const id = String(next.value[2])
    if (isCold(id)) ids.push(id)
  }
  takeKeys(undefined)
  return ids
}

/** The whole page, if all of it comes before the first row of the tables. */
const pageBefore = <T extends object>(edge: Row, query: PageQuery, warm: Parts<T>['warm']): string[] | undefined => {
  const ids = warm.page(query)
  const id = ids[query.limit - 1]
  const sort = id === undefined ? undefined : warm.sorts(query)[query.limit - 1]
  return id !== undefined && sort !== undefined && isBefore({ sort, id }, edge, query.order) ? ids : undefined
}

/** True of a key that comes before a row of the tables, in the direction of the order. */
const isBefore = ({ sort, id }: Key, row: Row, order: PageQuery['order']): boolean =>
  comesBefore([row[0] ?? '', sort, id], row, order)
