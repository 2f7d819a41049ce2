/** What one checkpoint changes of a collection: records, and the pages that are mostly dead. */
import type { DirtyRecord, DirtyRecords } from '../memory/stored-collection.js'
import type { Row } from '../tables/rows.js'
import type { PageDraft } from './page-draft.js'
import type { Location } from './page-file.js'
import type { PageChanges, RowSet } from './page-store.js'
import type { PageRef } from '../format/manifest.js'
import { isOpenRow, locationOf, recordText } from './record-codec.js'
import { readRecord, rowOf, stateOf, type Records } from './kept-records.js'
import { createRecordRows, type RecordRows, type RecordState } from './record-rows.js'

/** The most pages one checkpoint copies together. */
const mostCopied = 4

/** Writes changed records, and those that still count on pages that are mostly dead. */
export class RecordChanges<T extends object> implements PageChanges {
  readonly #records: Records<T>
  readonly #dirty: DirtyRecords<T>
  readonly #rows: RecordRows
  readonly #copied = new Set<string>()

  constructor(records: Records<T>, dirty: DirtyRecords<T>) {
    this.#records = records
    this.#dirty = dirty
    this.#rows = createRecordRows(records.spec)
  }

  get isEmpty(): boolean {
    return this.#dirty.records.size === 0 && this.#dirty.tombstones.size === 0
  }

  async write(page: PageDraft): Promise<void> {
    for (const [id, record] of this.#dirty.records) await this.#put(page, id, record)
    for (const id of this.#dirty.tombstones.keys()) if (!this.#dirty.records.has(id)) this.#remove(page, id)
    for (const ref of page.wasteful().slice(0, mostCopied)) {
      await this.#copy(page, ref)
      page.drop(ref)
    }
  }

  sections(): ReturnType<RowSet['sections']> {
    return this.#rows.sections()
  }

  ids(): Iterable<string> {
    return this.#rows.ids()
  }

  apply(): void {
    const { cache } = this.#records
    for (const id of this.#dirty.records.keys()) cache.delete(id)
    for (const id of this.#dirty.tombstones.keys()) cache.delete(id)
  }

  async #put(page: PageDraft, id: string, dirty: DirtyRecord<T>): Promise<void> {
    const row = rowOf(this.#records, id)
    const before = row === undefined ? undefined : this.#stateOn(id, row)
    const location = await page.add(recordText(id, dirty))
    if (row !== undefined) page.release(locationOf(row))
    this.#rows.put(id, location, { before, after: stateOf(this.#records.spec, id, dirty.record) })
  }

  #remove(page: PageDraft, id: string): void {
    const row = rowOf(this.#records, id)
    if (row === undefined) return
    this.#rows.remove(id, this.#stateOn(id, row))
    page.release(locationOf(row))
  }

  /** What the tables say of a record now. */
  #stateOn(id: string, row: Row): RecordState {
    return isOpenRow(row) ? { settled: false } : stateOf(this.#records.spec, id, readRecord(this.#records, id))
  }

  /** Copies what still counts of a page; a damaged line may be of that, so its page is not given up. */
  async #copy(page: PageDraft, ref: PageRef): Promise<void> {
    for (const [line, location] of this.#records.store.pages.scanSound(ref)) {
      const row = this.#keptRow(line.id, location)
      if (row === undefined) continue
      this.#copied.add(line.id)
      const copy = await page.add(recordText(line.id, { record: line.r, text: undefined }))
      this.#rows.move(line.id, copy, !isOpenRow(row))
    }
  }

  /** The row of a line that counts and was neither written again nor removed. */
  #keptRow(id: string, { page, offset }: Location): Row | undefined {
    if (this.#dirty.records.has(id) || this.#dirty.tombstones.has(id) || this.#copied.has(id)) return undefined
    const row = rowOf(this.#records, id)
    if (row === undefined) return undefined
    const at = locationOf(row)
    return at.page === page && at.offset === offset ? row : undefined
  }
}
