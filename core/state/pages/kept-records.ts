/** The records of a collection that a checkpoint wrote, as pages and tables have them. */
import { assert } from '../../base/assert.js'
import type { SizedCache } from '../../base/memory/sized-cache.js'
import type { CollectionSpec, Sieve } from '../contract.js'
import type { Row } from '../tables/rows.js'
import type { PageStore } from './page-store.js'
import {
  idSection,
  isOpenRow,
  isRemovalLine,
  isRemovedRow,
  isSettled,
  locationOf,
  openSection,
  placesIn,
  type PageLine,
  type RecordLine,
} from './record-codec.js'
import type { RecordState } from './record-rows.js'

/** The parts of a collection's checkpointed records. */
export interface Records<T extends object> {
  readonly spec: CollectionSpec<T>
  readonly store: PageStore<PageLine<T>>
  readonly cache: SizedCache<T>
}

/** Where the line of an id that counts stands, and what it is; undefined: none does. */
export const rowOf = <T extends object>({ store }: Records<T>, id: string): Row | undefined =>
  store.tables.find(idSection, [id])

/** False of a record that is on no page, or was removed. */
export const isKept = <T extends object>(records: Records<T>, id: string): boolean => {
  const row = rowOf(records, id)
  return row !== undefined && !isRemovedRow(row)
}

/** Bytes that a record takes in memory beside those of its line, about: many are small, and few are texts. */
const overhead = 1024

/** Whatever was read and is still kept stands on its page: it needs no look into the tables. */
export const findRecord = <T extends object>(records: Records<T>, id: string, sieve?: Sieve): T | undefined => {
  const { cache, store } = records
  const known = cache.get(id)
  if (known !== undefined) return known
  const row = rowOf(records, id)
  if (row === undefined || isRemovedRow(row)) return undefined
  const location = locationOf(row)
  const line = store.pages.read(location, sieve)
  if (line === undefined) return undefined
  assert(!isRemovalLine(line), 'a record is read that was removed')
  cache.set(id, line.r, location.length + overhead)
  return line.r
}

export const readRecord = <T extends object>(records: Records<T>, id: string): T => {
  const record = findRecord(records, id)
  assert(record, 'a record is read that no row names')
  return record
}

/** What the tables know of a record beside where it is: its places in the indexes once it is settled. */
export const stateOf = <T extends object>(spec: CollectionSpec<T>, id: string, record: T): RecordState =>
  stateAs(spec, { id, r: record }, isSettled(spec, record))

/** The same for a record of which a row says whether it can still change. */
export const stateAs = <T extends object>(
  spec: CollectionSpec<T>,
  line: RecordLine<T>,
  settled: boolean,
): RecordState => {
  const known = spec.kept?.since === undefined ? {} : { since: spec.kept.since(line.r) }
  return settled
    ? { settled: true as const, places: placesIn(spec, line), ...known }
    : { settled: false as const, ...known }
}

/** Ids of the records that can still change. */
export function* openIds<T extends object>(records: Records<T>): Iterable<string> {
  for (const row of records.store.tables.all(openSection)) {
    const id = String(row[0])
    const at = rowOf(records, id)
    if (at !== undefined && isOpenRow(at)) yield id
  }
}
