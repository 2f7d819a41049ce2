/** A part of a group of which some records are in memory and the others in tables. */
import type { PageQuery } from '../contract.js'
import { compareKeys, type Row } from '../tables/rows.js'
import { none } from '../tables/section-tables.js'
import type { Key } from './ordered-ids.js'
import type { RecordIndex } from './record-index.js'

export interface Parts<T> {
  readonly warm: Pick<RecordIndex<T>, 'page' | 'keys'>
  /** Rows of tables in the order of the query; read as they are needed. */
  readonly cold: Iterable<Row>
  /** False of a record that the tables have and that is in memory now, or gone. */
  readonly isCold: (id: string) => boolean
}

/** Ids in the order of the query. */
export const mergedPage = <T>(query: PageQuery, { warm, cold, isCold }: Parts<T>): string[] => {
  if (cold === none) return warm.page(query)
  const rows = cold[Symbol.iterator]()
  let next = rows.next()
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

/** True of a key that comes before a row of the tables, in the direction of the order. */
const isBefore = ({ sort, id }: Key, row: Row, order: PageQuery['order']): boolean => {
  const comes = compareKeys([row[0] ?? '', sort, id], row, 3)
  return order === 'desc' ? comes > 0 : comes < 0
}
