/**
 * Records of one kind: those that can still change, or that no checkpoint has written yet, are in memory with their
 * indexes; the settled ones are on pages and in the indexes of tables.
 */
import { fault } from '../../base/assert.js'
import { isMadeBy } from '../../base/ids.js'
import { serialise, type Change } from './change.js'
import type { CollectionSpec, PageQuery } from '../contract.js'
import { storageErrors } from '../storage-errors.js'
import type { GroupRange } from '../tables/section-tables.js'
import { mergedPage } from './merged-page.js'
import { createRecordIndex, placeOf, type Place, type RecordIndex } from './record-index.js'
import type { CheckpointedRecords, DirtyRecord, DirtyRecords, StoredCollection } from './stored-collection.js'
import { createShadows, type Shadows } from './shadows.js'

/** What a record was before a change: in memory, or on its page alone. */
interface Before<T> {
  readonly record: T
  readonly wasHot: boolean
}

class MemoryCollection<T extends object> implements StoredCollection<T> {
  readonly spec: CollectionSpec<T>
  /** Of records in memory. */
  readonly #indexes: ReadonlyMap<string, RecordIndex<T>>
  readonly #pages: CheckpointedRecords<T>
  readonly #shadows: Shadows
  readonly #name: string
  readonly #hot = new Map<string, T>()
  readonly #deleted = new Set<string>()
  #dirty = new Map<string, DirtyRecord<T>>()
  #tombstones = new Map<string, string>()

  constructor(spec: CollectionSpec<T>, pages: CheckpointedRecords<T>) {
    this.spec = spec
    this.#indexes = new Map(Object.entries(spec.indexes).map(([name, index]) => [name, createRecordIndex(index)]))
    this.#pages = pages
    this.#shadows = createShadows(Object.keys(spec.indexes))
    this.#name = JSON.stringify(spec.name)
  }

  has(id: string): boolean {
    return this.#hot.has(id) || this.#isOnPage(id)
  }

  find(id: string): T | undefined {
    return this.#hot.get(id) ?? (this.#isOnPage(id) ? this.#pages.read(id) : undefined)
  }

  isDeleted(id: string): boolean {
    return this.#deleted.has(id)
  }

  hasFallen(id: string): boolean {
    return isMadeBy(id, this.#pages.fell) && !this.#deleted.has(id) && !this.has(id)
  }

  count(index: string, group: string): number {
    return this.#index(index).count(group) + this.#pages.count(index, group) - this.#shadows.count(index, group)
  }

  groups(index: string): string[] {
    const groups = new Set(this.#index(index).groups())
    for (const group of this.#pages.groups(index)) if (this.count(index, group) > 0) groups.add(group)
    return [...groups]
  }

  ids(index: string, group: string): readonly string[] {
    return this.page({ index, group, limit: Infinity })
  }

  page(query: PageQuery): string[] {
    return mergedPage(query, {
      warm: this.#index(query.index),
      cold: this.#pages.range(query.index, rangeOf(query)),
      isCold: (id) => !this.#hot.has(id) && !this.#deleted.has(id),
    })
  }

  list(query: PageQuery): T[] {
    return this.#list(query, 0)
  }

  latestIds(): Iterable<string> {
    return { [Symbol.iterator]: () => this.#eachLatest() }
  }

  insert(record: T): Change {
    const id = this.spec.id(record)
    if (this.#deleted.has(id) || this.has(id)) throw storageErrors.id_taken()
    return this.#write(id, record, undefined)
  }

  put(record: T): Change {
    const id = this.spec.id(record)
    if (this.#deleted.has(id)) throw storageErrors.id_taken()
    return this.#write(id, record, this.#before(id))
  }

  remove(id: string, reason: string): Change | undefined {
    const before = this.#before(id)
    if (before === undefined) return undefined
    this.#take(id, before)
    this.#deleted.add(id)
    return {
      op: `["del",${this.#name},${JSON.stringify(id)},${serialise(reason)}]`,
      undo: () => {
        this.#deleted.delete(id)
        this.#giveBack(id, before)
      },
      onDurable: () => this.#addTombstone(id, reason),
    }
  }

  replayPut(id: string, record: T): void {
    this.#replace(id, this.#before(id), record)
    this.#dirty.set(id, { record, text: undefined })
  }

  replayRemove(id: string, reason: string): void {
    const before = this.#before(id)
    if (before !== undefined) this.#take(id, before)
    this.#deleted.add(id)
    this.#addTombstone(id, reason)
  }

  loadHot(id: string, record: T): void {
    this.#hot.set(id, record)
    for (const [index, { group, sort }] of this.#placesOf(id, record)) index.load(id, { group, sort })
  }

  loadTombstone(id: string): void {
    this.#deleted.add(id)
  }

  settleIndexes(): void {
    for (const index of this.#indexes.values()) index.settle()
  }

  takeDirty(): DirtyRecords<T> {
    const taken = { records: this.#dirty, tombstones: this.#tombstones }
    this.#dirty = new Map()
    this.#tombstones = new Map()
    return taken
  }

  restoreDirty({ records, tombstones }: DirtyRecords<T>): void {
    for (const [id, record] of records)
      if (!this.#dirty.has(id) && !this.#tombstones.has(id)) this.#dirty.set(id, record)
    for (const [id, reason] of tombstones) this.#tombstones.set(id, reason)
  }

  forgetFallen(): void {
    this.#shadows.keepOnly((id) => this.#pages.has(id))
  }

  evict({ records, tombstones }: DirtyRecords<T>): void {
    for (const id of tombstones.keys()) this.#shadows.drop(id)
    const leaving = new Map<string, T>()
    for (const [id, { record }] of records) {
      this.#shadows.drop(id)
      if (this.spec.settled?.(record) !== true) continue
      if (this.#hot.get(id) === record) leaving.set(id, record)
      else this.#shadow(id, record)
    }
    this.#letGo(leaving)
  }

  /** Where most of what is in memory leaves it, going through all of it is less work than looking for each. */
  #letGo(leaving: ReadonlyMap<string, T>): void {
    if (leaving.size * 2 < this.#hot.size) {
      for (const [id, record] of leaving) this.#remember(id, record, undefined)
      return
    }
    for (const index of this.#indexes.values()) index.dropAll((id) => leaving.has(id))
    for (const id of leaving.keys()) this.#hot.delete(id)
  }

  #isOnPage(id: string): boolean {
    return !this.#deleted.has(id) && this.#pages.has(id)
  }

  *#eachLatest(): Iterator<string> {
    yield* this.#hot.keys()
    yield* this.#pages.latest()
  }

  #index(name: string): RecordIndex<T> {
    const index = this.#indexes.get(name)
    if (index === undefined) throw fault(`collection ${this.spec.name} has no index ${name}`)
    return index
  }

  #before(id: string): Before<T> | undefined {
    const hot = this.#hot.get(id)
    if (hot !== undefined) return { record: hot, wasHot: true }
    return this.#isOnPage(id) ? { record: this.#pages.read(id), wasHot: false } : undefined
  }

  *#placesOf(id: string, record: T): Iterable<readonly [RecordIndex<T>, Place]> {
    for (const [name, index] of this.#indexes) {
      const spec = this.spec.indexes[name]
      if (spec !== undefined) yield [index, placeOf(spec, id, record)]
    }
  }

  /** All indexes or none: one whose functions throw moves nothing, and what was moved before it is moved back. */
  #reindex(id: string, before: T | undefined, after: T | undefined): void {
    let moved = 0
    try {
      for (const index of this.#indexes.values()) {
        index.move(id, before, after)
        moved += 1
      }
    } catch (error) {
      for (const index of [...this.#indexes.values()].slice(0, moved)) index.move(id, after, before)
      throw error
    }
  }

  /** Sets what memory has of a record, or takes it out. */
  #remember(id: string, before: T | undefined, after: T | undefined): void {
    this.#reindex(id, before, after)
    if (after === undefined) this.#hot.delete(id)
    else this.#hot.set(id, after)
  }

  /** The tables have this record in their indexes, and it does not count there any more. */
  #shadow(id: string, record: T): void {
    if (this.spec.settled?.(record) === true)
      this.#shadows.add(
        id,
        Array.from(this.#placesOf(id, record), ([, place]) => place),
      )
  }

  #replace(id: string, before: Before<T> | undefined, record: T): void {
    this.#remember(id, before?.wasHot === true ? before.record : undefined, record)
    if (before?.wasHot === false) this.#shadow(id, before.record)
  }

  #take(id: string, before: Before<T>): void {
    if (before.wasHot) this.#remember(id, before.record, undefined)
    else this.#shadow(id, before.record)
  }

  #giveBack(id: string, before: Before<T>): void {
    if (before.wasHot) this.#remember(id, undefined, before.record)
    else this.#shadows.drop(id)
  }

  #write(id: string, record: T, before: Before<T> | undefined): Change {
    const text = serialise(record)
    this.#replace(id, before, record)
    return {
      op: `["put",${this.#name},${JSON.stringify(id)},${text}]`,
      undo: () => {
        this.#remember(id, record, undefined)
        if (before !== undefined) this.#giveBack(id, before)
      },
      onDurable: () => void this.#dirty.set(id, { record, text }),
    }
  }

  #addTombstone(id: string, reason: string): void {
    this.#dirty.delete(id)
    this.#tombstones.set(id, reason)
  }

  /** Records that are left out make room for others, so that a page is short only at the end. */
  #list(query: PageQuery, skipped: number): T[] {
    const ids = this.page(skipped === 0 ? query : { ...query, limit: query.limit + skipped })
    const found: T[] = []
    for (const id of ids) {
      const record = this.#findOr(id, query.skip)
      if (record !== undefined) found.push(record)
    }
    const missing = ids.length - found.length
    return missing === skipped || ids.length < query.limit + skipped ? found : this.#list(query, missing)
  }

  #findOr(id: string, skip: PageQuery['skip']): T | undefined {
    try {
      return this.find(id)
    } catch (error) {
      if (skip === undefined) throw error
      skip(id, error)
      return undefined
    }
  }
}

const rangeOf = ({ group, order = 'asc', beyond }: PageQuery): GroupRange => ({ group, order, beyond })

export const createCollection = <T extends object>(
  spec: CollectionSpec<T>,
  pages: CheckpointedRecords<T>,
): StoredCollection<T> => new MemoryCollection(spec, pages)
