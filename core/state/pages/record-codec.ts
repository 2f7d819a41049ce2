/** How a record stands on a page, and in the index file of its collection. */
import { createHash } from 'node:crypto'
import type { CollectionSpec } from '../contract.js'
import type { DirtyRecord } from '../memory/collection.js'
import { placeOf, type Place } from '../memory/record-index.js'
import type { Location } from './page-file.js'

export interface RecordLine<T> {
  readonly id: string
  readonly r: T
}
/** `[id, page, offset, length, settled, group, sort, group, sort, …]`; a null group: left out; a null sort: the id. */
export type RecordRow = readonly [string, number, number, number, 0 | 1, ...(string | null)[]]

/** Changes when the shape or an index of a collection does; then the rows are made again. */
export const fingerprint = <T extends object>({ version, indexes, settled }: CollectionSpec<T>): string => {
  const text = JSON.stringify([
    version,
    String(settled),
    Object.entries(indexes).map(([name, { group, sort }]) => [name, String(group), String(sort)]),
  ])
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The line of a record, without its closing brace. */
export const recordText = (id: string, { record, text }: DirtyRecord<object>): string =>
  `{"id":${JSON.stringify(id)},"r":${text ?? JSON.stringify(record)}`

export const isSettled = <T extends object>(spec: CollectionSpec<T>, record: T): boolean =>
  spec.settled?.(record) === true

/** Where a record stands in each index of its collection. */
export const placesIn = <T extends object>(spec: CollectionSpec<T>, { id, r }: RecordLine<T>): Place[] =>
  Object.values(spec.indexes).map((index) => placeOf(index, id, r))

export const recordRow = <T extends object>(
  spec: CollectionSpec<T>,
  line: RecordLine<T>,
  { page, offset, length }: Location,
): RecordRow => {
  const settled = isSettled(spec, line.r) ? 1 : 0
  const places: (string | null)[] = []
  for (const { group, sort } of placesIn(spec, line)) places.push(group ?? null, sort === line.id ? null : sort)
  return [line.id, page, offset, length, settled, ...places]
}

export const locationOf = ([, page, offset, length]: RecordRow): Location => ({ page, offset, length })

/** The places as the row tells them. */
export const placesOf = (row: RecordRow): Place[] => {
  const places: Place[] = []
  for (let at = 5; at < row.length; at += 2) {
    const group = row[at]
    const sort = row[at + 1]
    places.push({
      group: typeof group === 'string' ? group : undefined,
      sort: typeof sort === 'string' ? sort : row[0],
    })
  }
  return places
}
