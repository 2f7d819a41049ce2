/** What one checkpoint changes of a collection: records, and the pages that are mostly dead. */
import type { DirtyRecord, DirtyRecords } from '../memory/stored-collection.js'
import type { Row } from '../tables/rows.js'
import type { Tables } from '../tables/tables.js'
import type { PageDraft, Weight } from './page-draft.js'
import type { Location } from './page-file.js'
import type { PageChanges } from './page-store.js'
import type { PageRef } from '../format/manifest.js'
import { idSection, isOpenRow, locationOf, recordText } from './record-codec.js'
import { openIds, readRecord, rowOf, stateAs, stateOf, type Records } from './kept-records.js'
import { createRecordRows, type KnownState, type RecordRows, type RecordState } from './record-rows.js'
import type { RowSet } from './row-set.js'
import { stays, type Target } from './target.js'

/** The most pages one checkpoint copies together. */
const mostCopied = 4

const weightOf = ({ settled }: Pick<RecordState, 'settled'>): Weight => ({ records: 1, open: settled ? 0 : 1 })

/**
 * Writes changed records, those that can still change and stand in a partition that falls, and those that still count
 * on pages that are mostly dead.
 */
export class RecordChanges<T extends object> implements PageChanges {
  readonly #records: Records<T>
  readonly #dirty: DirtyRecords<T>
  readonly #target: Target
  /** Tables that stay. */
  readonly #left: Tables
  readonly #rows: RecordRows
  readonly #copied = new Set<string>()

  constructor(records: Records<T>, dirty: DirtyRecords<T>, target: Target) {
    const { tables } = records.store
    this.#records = records
    this.#dirty = dirty
    this.#target = target
    this.#left = target.fall === 0 ? tables : tables.of(tables.files.filter(({ ref }) => stays(target, ref)))
    this.#rows = createRecordRows(records.spec)
  }

  get isEmpty(): boolean {
    return this.#dirty.records.size === 0 && this.#dirty.tombstones.size === 0
  }

  async write(page: PageDraft): Promise<RowSet> {
    for (const [id, record] of this.#dirty.records) await this.#put(page, id, record)
    for (const id of this.#dirty.tombstones.keys()) if (!this.#dirty.records.has(id)) this.#remove(page, id)
    if (this.#target.fall > 0) await this.#carry(page)
    for (const ref of page.wasteful().slice(0, mostCopied)) {
      await this.#copy(page, ref)
      page.drop(ref)
    }
    return this.#rows.rows()
  }

  apply(): void {
    const { cache } = this.#records
    for (const id of this.#dirty.records.keys()) cache.delete(id)
    for (const id of this.#dirty.tombstones.keys()) cache.delete(id)
  }

  async #put(page: PageDraft, id: string, dirty: DirtyRecord<T>): Promise<void> {
    const after = stateOf(this.#records.spec, id, dirty.record)
    const before = this.#release(page, id)
    const location = await page.add(recordText(id, dirty), weightOf(after))
    this.#rows.put(id, location, { before, after })
  }

  #remove(page: PageDraft, id: string): void {
    const before = this.#release(page, id)
    if (before !== undefined) this.#rows.remove(id, before)
  }

  /** The line of a record no longer counts; returns what tables that stay say of it. */
  #release(page: PageDraft, id: string): KnownState | undefined {
    const row = this.#left.find(idSection, [id])
    if (row === undefined) return undefined
    const state = this.#stateOn(id, row)
    const location = locationOf(row)
    const part = page.olderPart(location)
    page.release(location, weightOf(state))
    return { ...state, part }
  }

  /** What the tables say of a record now. */
  #stateOn(id: string, row: Row): RecordState {
    return isOpenRow(row) ? { settled: false } : stateOf(this.#records.spec, id, readRecord(this.#records, id))
  }

  /** Records that can still change do not fall. */
  async #carry(page: PageDraft): Promise<void> {
    for (const id of openIds(this.#records)) {
      if (this.#isChanged(id) || this.#left.find(idSection, [id]) !== undefined) continue
      const record = readRecord(this.#records, id)
      const after = stateOf(this.#records.spec, id, record)
      const location = await page.add(recordText(id, { record, text: undefined }), weightOf(after))
      this.#rows.put(id, location, { before: undefined, after })
    }
  }

  /** Copies what still counts of a page; a damaged line may be of that, so its page is not given up. */
  async #copy(page: PageDraft, ref: PageRef): Promise<void> {
    for (const [line, location] of this.#records.store.pages.scanSound(ref)) {
      const row = this.#keptRow(line.id, location)
      if (row === undefined) continue
      this.#copied.add(line.id)
      const after = stateAs(this.#records.spec, { id: line.id, r: line.r }, !isOpenRow(row))
      const before = { ...after, part: page.olderPart(location) }
      const copy = await page.add(recordText(line.id, { record: line.r, text: undefined }), weightOf(after))
      this.#rows.put(line.id, copy, { before, after })
    }
  }

  #isChanged(id: string): boolean {
    return this.#dirty.records.has(id) || this.#dirty.tombstones.has(id) || this.#copied.has(id)
  }

  /** The row of a line that counts and was neither written again nor removed. */
  #keptRow(id: string, { page, offset }: Location): Row | undefined {
    if (this.#isChanged(id)) return undefined
    const row = rowOf(this.#records, id)
    if (row === undefined) return undefined
    const at = locationOf(row)
    return at.page === page && at.offset === offset ? row : undefined
  }
}
