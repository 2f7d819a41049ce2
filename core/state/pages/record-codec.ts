/** How a record stands on a page, and in the index file of its collection. */
import { createHash } from 'node:crypto'
import type { CollectionSpec } from '../contract.js'
import type { DirtyRecord } from '../memory/stored-collection.js'
import { placeOf, type Place } from '../memory/record-index.js'
import { forgets } from '../memory/removals.js'
import { shapeOf, type Row, type SectionShape } from '../tables/rows.js'
import type { Location } from './page-file.js'

export interface RecordLine<T> {
  readonly id: string
  readonly r: T
}
/** Says that the record of all lines before it is gone. */
export interface RemovalLine {
  readonly id: string
  readonly r: null
}
export type PageLine<T> = RecordLine<T> | RemovalLine
export const isRemovalLine = <T>(line: PageLine<T>): line is RemovalLine => line.r === null

/** What a row says of the line that counts. */
const states = { open: 0, settled: 1, removed: 2 } as const
/**
 * Of the line of an id that counts: whether it is a record or its removal, and, in a collection that forgets, how many
 * older lines with a record of this id are still on pages.
 */
export interface LineState {
  readonly is: keyof typeof states
  readonly dead: number
}

/** Where each record stands. */
export const idSection = shapeOf('ids')
/** The records that can still change: a start reads them into memory. */
export const openSection = shapeOf('open')
/** Settled records by group, sort key and id. */
export const indexSection = (index: string): SectionShape => shapeOf(`by:${index}`)

/** Changes when tables are read otherwise: those with rows that are there again earlier versions make anew. */
const [tableForm, partitionedForm] = [1, 2]

/**
 * Changes with the version and the names of the indexes; then the rows are made again. The text of the functions is
 * another one in each build.
 */
const fingerprint = <T extends object>(form: number, spec: CollectionSpec<T>): string => {
  const { version, indexes, settled, removed } = spec
  const parts = [form, version, Object.keys(indexes), settled !== undefined]
  const text = JSON.stringify(forgets(spec) ? [...parts, removed] : parts)
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** Those of tables that are of use, and first that of new ones: a root without partitions has tables without. */
export const fingerprints = <T extends object>(spec: CollectionSpec<T>): readonly string[] =>
  spec.kept === undefined
    ? [fingerprint(tableForm, spec)]
    : [fingerprint(partitionedForm, spec), fingerprint(tableForm, spec)]

/** The line of a record, without its closing brace. */
export const recordText = (id: string, { record, text }: Pick<DirtyRecord<object>, 'record' | 'text'>): string =>
  `{"id":${JSON.stringify(id)},"r":${text ?? JSON.stringify(record)}`

/** The line of a removal, without its closing brace. */
export const removalText = (id: string): string => `{"id":${JSON.stringify(id)},"r":null`

export const isSettled = <T extends object>(spec: CollectionSpec<T>, record: T): boolean =>
  spec.settled?.(record) === true

/** Where a record stands in each index of its collection. */
export const placesIn = <T extends object>(spec: CollectionSpec<T>, { id, r }: RecordLine<T>): Place[] =>
  Object.values(spec.indexes).map((index) => placeOf(index, id, r))

/** `[id, page, offset, length, state]`, and how many are dead where it is not 0. */
export const recordRow = (id: string, { page, offset, length }: Location, { is, dead }: LineState): Row => {
  const row = [id, page, offset, length, states[is]]
  return dead === 0 ? row : [...row, dead]
}

export const locationOf = (row: Row): Location => ({
  page: Number(row[1]),
  offset: Number(row[2]),
  length: Number(row[3]),
})
export const isOpenRow = (row: Row): boolean => row[4] === states.open
export const isRemovedRow = (row: Row): boolean => row[4] === states.removed
export const deadOf = (row: Row): number => Number(row[5] ?? 0)
export const lineStateOf = (row: Row): LineState => ({
  is: isOpenRow(row) ? 'open' : isRemovedRow(row) ? 'removed' : 'settled',
  dead: deadOf(row),
})
