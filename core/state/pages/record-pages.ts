/** The checkpointed records of one collection: of several lines with one id the last counts. */
import type { CacheRoom } from '../../base/sized-cache.js'
import type { CollectionSpec } from '../contract.js'
import type { Fault } from '../format/line.js'
import { faultIn } from '../format/line-file.js'
import type { PagesRef } from '../format/manifest.js'
import type { CheckpointedRecords, DirtyRecords, LoadedRecords } from '../memory/stored-collection.js'
import { openIds, readRecord, rowOf, stateOf, type Records } from './kept-records.js'
import type { SectionShape } from '../tables/rows.js'
import type { PageOptions } from './page-file.js'
import type { Target } from './target.js'
import { anyMark } from './table-set.js'
import { PageStore, type Loaded, type PageLoader, type PagesDraft } from './page-store.js'
import { fingerprints, idSection, indexSection, isOpenRow, locationOf, type RecordLine } from './record-codec.js'
import { RecordChanges } from './record-changes.js'
import { createRecordRows } from './record-rows.js'

export interface RecordPages<T extends object> extends CheckpointedRecords<T> {
  load(ref: PagesRef, memory: LoadedRecords<T>): Promise<Loaded>
  /** Writes what changed; undefined if there is nothing to write. */
  write(dirty: DirtyRecords<T>, target: Target): Promise<PagesDraft | undefined>
  /** Reads the records that can still change and stand in partitions that would fall. */
  carried(fall: number): Iterable<readonly [string, T]>
  /** Settled records on pages of a partition, as they stand there. */
  settledIn(part: number): Iterable<RecordLine<T>>
  tableFiles(): readonly string[]
  close(): void
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
  const store = new PageStore<RecordLine<T>>(options, isDeclared ? fingerprints(spec) : [anyMark])
  const records: Records<T> = { spec, store, cache: room.cache() }
  const { tables } = store
  let fell = ''
  const sections = new Map(Object.keys(spec.indexes).map((index) => [index, indexSection(index)]))
  const section = (index: string): SectionShape => sections.get(index) ?? indexSection(index)
  return {
    has: (id) => rowOf(records, id) !== undefined,
    latest: () => [...tables.files.map((file) => file.footer.latest), fell],
    get fell() {
      return fell
    },
    read: (id) => readRecord(records, id),
    count: (index, group) => tables.count(section(index), group),
    groups: (index) => tables.groups(section(index)),
    range: (index, range) => tables.range(section(index), range),
    load: (ref, memory) => {
      fell = ref.kept?.fell ?? ''
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
    carried: (fall) => carriedIn(records, fall),
    settledIn: (part) => settledIn(records, part),
    tableFiles: () => store.tableFiles(),
    close: () => store.close(),
  }
}

/** Reads records that can still change into memory; of the lines of one id the newest makes the row. */
const loaderInto = <T extends object>(
  records: Records<T>,
  memory: LoadedRecords<T>,
  isDeclared: boolean,
): PageLoader<RecordLine<T>> => {
  const { spec, store } = records
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
      const seen = new Set<string>()
      return {
        rows: () => rows.rows(),
        get size() {
          return seen.size
        },
        addLine: ({ id, r: record }, location) => {
          if (seen.has(id) || memory.isDeleted(id) || store.tables.find(idSection, [id]) !== undefined) return
          seen.add(id)
          rows.put(id, location, { before: undefined, after: stateOf(spec, id, record) })
        },
      }
    },
  }
}

function* carriedIn<T extends object>(records: Records<T>, fall: number): Iterable<readonly [string, T]> {
  const parts = new Map(records.store.pages.refs.map(({ no, part = Infinity }) => [no, part]))
  for (const id of openIds(records)) {
    const row = rowOf(records, id)
    if (row !== undefined && (parts.get(locationOf(row).page) ?? Infinity) <= fall) yield [id, readRecord(records, id)]
  }
}

function* settledIn<T extends object>(records: Records<T>, part: number): Iterable<RecordLine<T>> {
  const { pages } = records.store
  for (const ref of pages.refs.filter((one) => one.part === part))
    for (const [line, { page, offset }] of pages.scanSound(ref)) {
      const row = rowOf(records, line.id)
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
