/** The checkpointed records of one collection: of several lines with one id the last counts. */
import type { CacheRoom } from '../../base/memory/sized-cache.js'
import type { CollectionSpec } from '../contract.js'
import type { Fault } from '../format/line.js'
import { faultIn } from '../format/line-file.js'
import type { PagesRef } from '../format/manifest.js'
import { forgets } from '../memory/removals.js'
import type { CheckpointedRecords, DirtyRecords, LoadedRecords } from '../memory/stored-collection.js'
import { findRecord, isKept, openIds, readRecord, rowOf, stateOf, type Records } from './kept-records.js'
import type { Row, SectionShape } from '../tables/rows.js'
import type { Location, PageOptions } from './page-file.js'
import type { Target } from './target.js'
import { anyMark } from './table-set.js'
import { PageStore, type Loaded, type PageLoader, type PagesDraft, type Upkeep } from './page-store.js'
import {
  deadOf,
  fingerprints,
  idSection,
  indexSection,
  isOpenRow,
  isRemovalLine,
  isRemovedRow,
  lineStateOf,
  locationOf,
  type PageLine,
  type RecordLine,
} from './record-codec.js'
import { RecordChanges } from './record-changes.js'
import { createRecordRows, type RecordRows } from './record-rows.js'

export interface RecordPages<T extends object> extends CheckpointedRecords<T> {
  load(ref: PagesRef, memory: LoadedRecords<T>): Promise<Loaded>
  /** Writes what changed; undefined if there is nothing to write. */
  write(dirty: DirtyRecords<T>, target: Target): Promise<PagesDraft | undefined>
  /** Ids of the records that can still change. */
  open(): Iterable<string>
  /** Reads the records that can still change and stand in partitions that would fall. */
  carried(fall: number): Iterable<readonly [string, T]>
  /** Settled records of a partition, as they stand on its pages when the first is read. */
  settledIn(part: number): Iterable<RecordLine<T>>
  readonly upkeep: Upkeep
}

interface RecordPagesOptions {
  /** For records that were read, shared by all collections of the root. */
  readonly room: CacheRoom
  readonly isDeclared?: boolean
}

/** Of a collection that nobody declares nothing but where its records are is known; nobody reads them. */
export const createRecordPages = <T extends object>(
  options: PageOptions,
  spec: CollectionSpec<T>,
  { room, isDeclared = true }: RecordPagesOptions,
): RecordPages<T> => {
  const store = new PageStore<PageLine<T>>(options, isDeclared ? fingerprints(spec) : [anyMark])
  const records: Records<T> = { spec, store, cache: room.cache() }
  const { tables } = store
  let fell: string | undefined
  const sections = new Map(Object.keys(spec.indexes).map((index) => [index, indexSection(index)]))
  const section = (index: string): SectionShape => sections.get(index) ?? indexSection(index)
  return {
    has: (id) => isKept(records, id),
    knows: (id) => rowOf(records, id) !== undefined,
    latest: () => [...tables.files.map((file) => file.footer.latest), fell ?? ''],
    get fell() {
      return fell ?? ''
    },
    get hasFallen() {
      return fell !== undefined
    },
    find: (id, sieve) => findRecord(records, id, sieve),
    count: (index, group, beyond) => tables.count(section(index), group, beyond),
    groups: (index) => tables.groups(section(index)),
    range: (index, range) => tables.range(section(index), range),
    load: (ref, memory) => {
      fell = ref.kept?.fell
      return store.load(ref, loaderInto(records, memory, isDeclared))
    },
    write: async (dirty, target) => {
      const draft = await store.write(new RecordChanges(records, dirty, target), target)
      if (draft === undefined) return undefined
      const apply = (): void => {
        fell = draft.ref.kept?.fell ?? fell
        draft.apply()
      }
      return { ref: draft.ref, apply }
    },
    open: () => openIds(records),
    carried: (fall) => carriedIn(records, fall),
    settledIn: (part) => settledIn(records, part),
    upkeep: store,
  }
}

/** Reads records that can still change into memory; of the lines of one id the newest makes the row. */
const loaderInto = <T extends object>(
  records: Records<T>,
  memory: LoadedRecords<T>,
  isDeclared: boolean,
): PageLoader<PageLine<T>> => {
  const { spec } = records
  const readOpen = (): Fault | undefined => {
    if (!isDeclared) return undefined
    const faults = Array.from(openIds(records), (id) => faultOf(() => memory.loadHot(id, readRecord(records, id))))
    memory.settleIndexes()
    return faults.find((fault) => fault !== undefined)
  }
  return {
    order: 'newest first',
    readOpen,
    begin: () => {
      const rows = createRecordRows(spec)
      return {
        rows: () => rows.rows(),
        get size() {
          return rows.size
        },
        addLine: (line, location) => !memory.isDeleted(line.id) && addLine(records, rows, { line, location }),
        drop: (row) => {
          rows.drop(String(row[0]))
          return locationOf(row)
        },
      }
    },
    needless: () => (forgets(spec) ? needlessRemovals(records) : []),
  }
}

/** Lines come from the newest back: the first of an id counts, and those behind it are dead. True if it counts. */
const addLine = <T extends object>(
  records: Records<T>,
  rows: RecordRows,
  { line, location }: { readonly line: PageLine<T>; readonly location: Location },
): boolean => {
  const { spec } = records
  const { id } = line
  const known = rows.find(id) ?? rowOf(records, id)
  if (known !== undefined) {
    if (forgets(spec) && !isRemovalLine(line))
      rows.locate(id, locationOf(known), { ...lineStateOf(known), dead: deadOf(known) + 1 })
    return false
  }
  if (isRemovalLine(line)) rows.forget(id, location, { before: undefined, dead: 0 })
  else rows.put(id, location, { before: undefined, after: stateOf(spec, id, line.r), dead: 0 })
  return true
}

/** Removals behind which no older line of their id was found. */
function* needlessRemovals<T extends object>({ store }: Records<T>): Iterable<Row> {
  for (const row of store.tables.all(idSection)) if (isRemovedRow(row) && deadOf(row) === 0) yield row
}

function* carriedIn<T extends object>(records: Records<T>, fall: number): Iterable<readonly [string, T]> {
  const parts = new Map(records.store.pages.refs.map(({ no, part = Infinity }) => [no, part]))
  for (const id of openIds(records)) {
    const row = rowOf(records, id)
    if (row !== undefined && (parts.get(locationOf(row).page) ?? Infinity) <= fall) yield [id, readRecord(records, id)]
  }
}

function* settledIn<T extends object>(records: Records<T>, part: number): Iterable<RecordLine<T>> {
  const { pages, tables } = records.store
  const now = tables.of(tables.files)
  for (const ref of pages.refs.filter((one) => one.part === part))
    for (const [line, { page, offset }] of pages.scanSound(ref)) {
      if (isRemovalLine(line)) continue
      const row = now.find(idSection, [line.id])
      if (row !== undefined && !isOpenRow(row) && row[1] === page && row[2] === offset) yield line
    }
}

/** The damage that a read meets, if any. */
const faultOf = (reads: () => void): Fault | undefined => {
  try {
    reads()
    return undefined
  } catch (error) {
    const fault = faultIn(error)
    if (fault === undefined) throw error
    return fault
  }
}
