/** The checkpointed records of one collection: of several lines with one id the last counts. */
import { assert } from '../../base/assert.js'
import type { CollectionSpec } from '../contract.js'
import type { Fault } from '../format/line.js'
import { faultIn } from '../format/line-file.js'
import type { PageRef, PagesRef } from '../format/manifest.js'
import type { CheckpointedRecords, DirtyRecord, DirtyRecords, LoadedRecords } from '../memory/collection.js'
import { createCache, type Cache } from '../../base/cache.js'
import type { PageDraft } from './page-draft.js'
import type { Location, PageOptions } from './page-file.js'
import { PageStore, type Loaded, type PageChanges, type PageLoader, type PagesDraft } from './page-store.js'
import {
  fingerprint,
  isSettled,
  locationOf,
  placesIn,
  placesOf,
  recordRow,
  recordText,
  type RecordLine,
  type RecordRow,
} from './record-codec.js'
import { RowTable } from './row-table.js'

export interface RecordPages<T extends object> extends CheckpointedRecords<T> {
  load(ref: PagesRef, memory: LoadedRecords<T>): Loaded
  /** Writes what changed; undefined if there is nothing to write. */
  write(dirty: DirtyRecords<T>): Promise<PagesDraft | undefined>
  close(): void
}

interface Records<T extends object> {
  readonly spec: CollectionSpec<T>
  readonly store: PageStore<RecordLine<T>, RecordRow>
  readonly table: RowTable
  readonly cache: Cache<T>
}

export const createRecordPages = <T extends object>(options: PageOptions, spec: CollectionSpec<T>): RecordPages<T> => {
  const store = new PageStore<RecordLine<T>, RecordRow>(options, fingerprint(spec))
  const table = new RowTable()
  const records: Records<T> = { spec, store, table, cache: createCache(512) }
  return {
    has: (id) => table.has(id),
    ids: () => table.ids(),
    read: (id) => readCached(records, id),
    load: (ref, memory) => store.load(ref, loaderInto(records, memory)),
    write: (dirty) => store.write(new RecordChanges(records, dirty)),
    close: () => store.pages.close(),
  }
}

const locate = <T extends object>({ table }: Records<T>, id: string): Location => {
  const location = table.get(id)
  assert(location, 'a record is read that no row names')
  return location
}

/** Most bytes of a record that is kept for the next reader: a few hundred large ones would fill the memory. */
const mostKept = 64 * 1024

const readCached = <T extends object>(records: Records<T>, id: string): T => {
  const { cache, store } = records
  const known = cache.get(id)
  if (known !== undefined) return known
  const location = locate(records, id)
  const record = store.pages.read(location).r
  if (location.length <= mostKept) cache.set(id, record)
  return record
}

/** Takes the newest row or line of each id, and reads the records that belong into memory. */
const loaderInto = <T extends object>(
  records: Records<T>,
  memory: LoadedRecords<T>,
): PageLoader<RecordLine<T>, RecordRow> => {
  const { spec, store, table } = records
  const hot: string[] = []
  const isWanted = (id: string): boolean => !table.has(id) && !memory.isDeleted(id)
  return {
    order: 'newest first',
    addRow: (row) => {
      const [id] = row
      if (!isWanted(id)) return
      table.set(id, locationOf(row))
      memory.loadPlaces(id, placesOf(row))
      if (row[4] === 0) hot.push(id)
    },
    addLine: (line, location) => {
      const { id, r: record } = line
      if (!isWanted(id)) return
      table.set(id, location)
      memory.loadPlaces(id, placesIn(spec, line))
      if (!isSettled(spec, record)) memory.loadHot(id, record)
    },
    finish: () => {
      const faults = hot.map((id) => faultOf(() => memory.loadHot(id, store.pages.read(locate(records, id)).r)))
      memory.settleIndexes()
      return faults.find((fault) => fault !== undefined)
    },
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

/** The most pages one checkpoint copies together. */
const mostCopied = 4

/** Writes changed records, and those that still count on pages that are mostly dead. */
class RecordChanges<T extends object> implements PageChanges<RecordRow> {
  readonly #records: Records<T>
  readonly #dirty: DirtyRecords<T>
  readonly #written = new Map<string, RecordRow>()

  constructor(records: Records<T>, dirty: DirtyRecords<T>) {
    this.#records = records
    this.#dirty = dirty
  }

  get isEmpty(): boolean {
    return this.#dirty.records.size === 0 && this.#dirty.tombstones.size === 0
  }

  async write(page: PageDraft): Promise<void> {
    for (const [id, record] of this.#dirty.records) await this.#add(page, id, record)
    for (const id of this.#dirty.tombstones.keys()) if (!this.#written.has(id)) this.#release(page, id)
    for (const ref of page.wasteful().slice(0, mostCopied)) {
      await this.#copy(page, ref)
      page.drop(ref)
    }
  }

  rows(): Iterable<RecordRow> {
    return this.#written.values()
  }

  /** More than half of it would be rows of records that were written again or removed. */
  outgrows(rows: number): boolean {
    return rows + this.#written.size > 1000 + 2 * (this.#records.table.size + this.#dirty.records.size)
  }

  *keptRows(old: Iterable<readonly RecordRow[]> | undefined): Iterable<RecordRow> {
    const { spec, store, table } = this.#records
    if (old !== undefined) {
      for (const batch of old) for (const row of batch) if (this.#isKept(row[0], locationOf(row))) yield row
      return
    }
    for (const id of table.ids()) {
      const location = table.get(id)
      if (location !== undefined && this.#isKept(id, location))
        yield recordRow(spec, store.pages.read(location), location)
    }
  }

  apply(): void {
    const { table, cache } = this.#records
    for (const [id, row] of this.#written) {
      table.set(id, locationOf(row))
      cache.delete(id)
    }
    for (const id of this.#dirty.tombstones.keys()) {
      table.delete(id)
      cache.delete(id)
    }
  }

  async #add(page: PageDraft, id: string, dirty: DirtyRecord<T>): Promise<void> {
    const location = await page.add(recordText(id, dirty))
    this.#release(page, id)
    this.#written.set(id, recordRow(this.#records.spec, { id, r: dirty.record }, location))
  }

  /** The line that counted so far does no longer. */
  #release(page: PageDraft, id: string): void {
    const before = this.#records.table.get(id)
    if (before !== undefined) page.release(before)
  }

  /** Copies what still counts of a page; a damaged line may be of that, so its page is not given up. */
  async #copy(page: PageDraft, ref: PageRef): Promise<void> {
    for (const [line, location] of this.#records.store.pages.scanSound(ref))
      if (this.#isKept(line.id, location)) await this.#add(page, line.id, { record: line.r, text: undefined })
  }

  /** True of a line that counts and was neither written again nor removed. */
  #isKept(id: string, { page, offset }: Location): boolean {
    const at = this.#records.table.get(id)
    return at?.page === page && at.offset === offset && !this.#written.has(id) && !this.#dirty.tombstones.has(id)
  }
}
