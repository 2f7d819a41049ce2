/** The checkpointed records of one collection: of several lines with one id the last counts. */
import { createCache } from '../../base/cache.js'
import type { CollectionSpec } from '../contract.js'
import type { Fault } from '../format/line.js'
import { faultIn } from '../format/line-file.js'
import type { PagesRef } from '../format/manifest.js'
import type { CheckpointedRecords, DirtyRecords, LoadedRecords } from '../memory/stored-collection.js'
import { readRecord, rowOf, stateOf, type Records } from './kept-records.js'
import type { SectionShape } from '../tables/rows.js'
import type { PageOptions } from './page-file.js'
import { anyMark } from './table-set.js'
import { PageStore, type Loaded, type PageLoader, type PagesDraft } from './page-store.js'
import { fingerprint, idSection, indexSection, isOpenRow, openSection, type RecordLine } from './record-codec.js'
import { RecordChanges } from './record-changes.js'
import { createRecordRows } from './record-rows.js'

export interface RecordPages<T extends object> extends CheckpointedRecords<T> {
  load(ref: PagesRef, memory: LoadedRecords<T>): Promise<Loaded>
  /** Writes what changed; undefined if there is nothing to write. */
  write(dirty: DirtyRecords<T>): Promise<PagesDraft | undefined>
  tableFiles(): readonly string[]
  close(): void
}

/** Of a collection that nobody declares nothing but where its records are is known; nobody reads them. */
export const createRecordPages = <T extends object>(
  options: PageOptions,
  spec: CollectionSpec<T>,
  isDeclared = true,
): RecordPages<T> => {
  const store = new PageStore<RecordLine<T>>(options, isDeclared ? fingerprint(spec) : anyMark)
  const records: Records<T> = { spec, store, cache: createCache(512) }
  const { tables } = store
  const sections = new Map(Object.keys(spec.indexes).map((index) => [index, indexSection(index)]))
  const section = (index: string): SectionShape => sections.get(index) ?? indexSection(index)
  return {
    has: (id) => rowOf(records, id) !== undefined,
    latest: () => tables.files.map((file) => file.footer.latest),
    read: (id) => readRecord(records, id),
    count: (index, group) => tables.count(section(index), group),
    groups: (index) => tables.groups(section(index)),
    range: (index, range) => tables.range(section(index), range),
    load: (ref, memory) => store.load(ref, loaderInto(records, memory, isDeclared)),
    write: (dirty) => store.write(new RecordChanges(records, dirty)),
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
        ...rows,
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

function* openIds<T extends object>(records: Records<T>): Iterable<string> {
  for (const row of records.store.tables.all(openSection)) {
    const id = String(row[0])
    const at = rowOf(records, id)
    if (at !== undefined && isOpenRow(at)) yield id
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
