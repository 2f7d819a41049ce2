/** What one checkpoint changes of a collection: records, and the pages that are mostly dead. */
import { forgets } from '../memory/removals.js'
import type { DirtyRecord, DirtyRecords } from '../memory/stored-collection.js'
import { isRemoval, type Row } from '../tables/rows.js'
import type { Tables } from '../tables/tables.js'
import type { PageDraft, Weight } from './page-draft.js'
import type { Location } from './page-file.js'
import type { PageChanges } from './page-store.js'
import type { PageRef } from '../format/manifest.js'
import {
  deadOf,
  idSection,
  isOpenRow,
  isRemovalLine,
  isRemovedRow,
  lineStateOf,
  locationOf,
  recordText,
  removalText,
  type RecordLine,
} from './record-codec.js'
import { openIds, readRecord, rowOf, stateAs, stateOf, type Records } from './kept-records.js'
import { createRecordRows, type KnownState, type RecordRows, type RecordState } from './record-rows.js'
import type { PartRows } from './row-set.js'
import { stays, type Target } from './target.js'

/** The most pages one checkpoint copies together. */
const mostCopied = 4

/** What a removal adds to what is counted of its page. */
const noWeight: Weight = { records: 0, open: 0 }
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
  /** Of older partitions, whose pages are mostly dead: what is copied stays in them. */
  readonly #copied = new Map<number, RecordRows>()
  /** Dead lines are counted: a removal goes when there are none. Where they are not, it stays. */
  readonly #counts: boolean

  constructor(records: Records<T>, dirty: DirtyRecords<T>, target: Target) {
    const { tables } = records.store
    this.#records = records
    this.#dirty = dirty
    this.#target = target
    this.#left = target.fall === 0 ? tables : tables.of(tables.files.filter(({ ref }) => stays(target, ref)))
    this.#rows = createRecordRows(records.spec)
    this.#counts = forgets(records.spec)
  }

  get isEmpty(): boolean {
    const { records, tombstones, forgotten } = this.#dirty
    return records.size === 0 && tombstones.size === 0 && forgotten.size === 0
  }

  async write(page: PageDraft): Promise<readonly PartRows[]> {
    const { records, tombstones, forgotten } = this.#dirty
    for (const [id, record] of records) await this.#put(page, id, record)
    for (const id of tombstones.keys()) if (!records.has(id)) this.#bury(page, id)
    for (const id of forgotten.keys()) await this.#forget(page, id)
    if (this.#target.fall > 0) await this.#carry(page)
    for (const ref of page.wasteful().slice(0, mostCopied)) {
      await this.#copy(page, ref)
      page.drop(ref)
    }
    const copied = Array.from(this.#copied, ([part, rows]) => ({ part, rows: rows.rows() }))
    return [{ part: this.#target.part, rows: this.#rows.rows() }, ...copied]
  }

  apply(): void {
    const { cache } = this.#records
    const { records, tombstones, forgotten } = this.#dirty
    if (this.#target.fall > 0) cache.clear()
    for (const ids of [records, tombstones, forgotten]) for (const id of ids.keys()) cache.delete(id)
  }

  async #put(page: PageDraft, id: string, dirty: DirtyRecord<T>): Promise<void> {
    const after = stateOf(this.#records.spec, id, dirty.record)
    const row = dirty.isNew ? undefined : this.#left.find(idSection, [id])
    const before = row && this.#release(page, id, row)
    const location = await page.add(recordText(id, dirty), weightOf(after))
    this.#rows.put(id, location, { before, after, dead: this.#deadBehind(row) })
  }

  #bury(page: PageDraft, id: string): void {
    const row = this.#left.find(idSection, [id])
    if (row === undefined || isRemovedRow(row)) return
    const before = this.#release(page, id, row)
    if (before !== undefined) this.#rows.remove(id, before)
  }

  /** A line says that it is gone: its older lines would bring it back when the tables are made again. */
  async #forget(page: PageDraft, id: string): Promise<void> {
    const row = this.#left.find(idSection, [id])
    if (row === undefined || isRemovedRow(row)) return
    const before = this.#release(page, id, row)
    const location = await page.add(removalText(id), noWeight)
    this.#rows.forget(id, location, { before, dead: this.#deadBehind(row) })
  }

  /** The line of this row no longer counts; returns what tables that stay say of the record, if it is one. */
  #release(page: PageDraft, id: string, row: Row): KnownState | undefined {
    const location = locationOf(row)
    const part = page.olderPart(location)
    const state = isRemovedRow(row) ? undefined : this.#stateOn(id, row)
    page.release(location, state === undefined ? noWeight : weightOf(state))
    return state && { part, ...state }
  }

  /** What the tables say of a record now. */
  #stateOn(id: string, row: Row): RecordState {
    return isOpenRow(row) ? { settled: false } : stateOf(this.#records.spec, id, readRecord(this.#records, id))
  }

  /** Dead lines of an id when the line of this row is not the newest any more; a removal is none. */
  #deadBehind(row: Row | undefined): number {
    if (row === undefined || !this.#counts) return 0
    return isRemovedRow(row) ? deadOf(row) : deadOf(row) + 1
  }

  /** Records that can still change do not fall. */
  async #carry(page: PageDraft): Promise<void> {
    for (const id of openIds(this.#records)) {
      if (this.#dirty.records.has(id) || this.#isRemoved(id) || this.#left.find(idSection, [id]) !== undefined) continue
      const record = readRecord(this.#records, id)
      const after = stateOf(this.#records.spec, id, record)
      const location = await page.add(recordText(id, { record, text: undefined }), weightOf(after))
      this.#rows.put(id, location, { before: undefined, after, dead: 0 })
    }
  }

  /** Copies what still counts of a page; a damaged line may be of that, so its page is not given up. */
  async #copy(page: PageDraft, ref: PageRef): Promise<void> {
    const removals: string[] = []
    for (const [line, location] of this.#records.store.pages.scanSound(ref)) {
      const row = this.#rowNow(line.id)
      if (row === undefined) continue
      if (isRemovalLine(line)) {
        if (isAt(row, location)) removals.push(line.id)
      } else if (isAt(row, location)) await this.#copyRecord(page, line, row)
      else if (this.#counts) this.#countDown(page, line.id, row)
    }
    for (const id of removals) await this.#copyRemoval(page, id)
  }

  async #copyRecord(page: PageDraft, line: RecordLine<T>, row: Row): Promise<void> {
    const state = stateAs(this.#records.spec, line, !isOpenRow(row))
    const part = page.olderPart(locationOf(row))
    const copy = await page.add(recordText(line.id, { record: line.r, text: undefined }), weightOf(state), part)
    this.#rowsIn(part).put(line.id, copy, { before: state, after: state, dead: deadOf(row) })
  }

  #rowsIn(part: number | undefined): RecordRows {
    if (part === undefined) return this.#rows
    const known = this.#copied.get(part)
    if (known !== undefined) return known
    const rows = createRecordRows(this.#records.spec)
    this.#copied.set(part, rows)
    return rows
  }

  /** A dead line of it goes with its page; with the last one its removal is needed no more. */
  #countDown(page: PageDraft, id: string, row: Row): void {
    const dead = Math.max(0, deadOf(row) - 1)
    if (dead > 0 || !isRemovedRow(row)) return this.#rows.locate(id, locationOf(row), { ...lineStateOf(row), dead })
    page.release(locationOf(row), noWeight)
    this.#rows.drop(id)
  }

  async #copyRemoval(page: PageDraft, id: string): Promise<void> {
    const row = this.#rowNow(id)
    if (row !== undefined) this.#rows.locate(id, await page.add(removalText(id), noWeight), lineStateOf(row))
  }

  #isRemoved(id: string): boolean {
    return this.#dirty.tombstones.has(id) || this.#dirty.forgotten.has(id)
  }

  /** Where the line of this id stands that counts, with what this checkpoint wrote. */
  #rowNow(id: string): Row | undefined {
    const drafted = this.#rows.find(id)
    if (drafted === undefined) return this.#dirty.tombstones.has(id) ? undefined : rowOf(this.#records, id)
    return isRemoval(idSection, drafted) ? undefined : drafted
  }
}

const isAt = (row: Row, { page, offset }: Location): boolean => {
  const at = locationOf(row)
  return at.page === page && at.offset === offset
}
