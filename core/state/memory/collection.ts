/** Records of one kind: hot ones in memory, settled ones on their page, every one in the indexes. */
import { fault } from '../../base/assert.js'
import { serialise, type Change } from './change.js'
import type { Collection, CollectionSpec, PageQuery } from '../contract.js'
import { storageErrors } from '../storage-errors.js'
import { createRecordIndex, type Place, type RecordIndex } from './record-index.js'

/** Records that a checkpoint wrote. */
export interface CheckpointedRecords<T> {
  has(id: string): boolean
  ids(): Iterable<string>
  read(id: string): T
}

/** A durable record that no checkpoint has written yet. */
export interface DirtyRecord<T> {
  readonly record: T
  /** Its JSON; made when needed if it came from the log. */ readonly text: string | undefined
}

/**
 * What a checkpoint has to write of a collection as of one sequence: changed records, and ids with their tombstones'
 * reasons.
 */
export interface DirtyRecords<T> {
  readonly records: ReadonlyMap<string, DirtyRecord<T>>
  readonly tombstones: ReadonlyMap<string, string>
}

/** Records in memory that take what a checkpoint holds, at start. */
export interface LoadedRecords<T> {
  isDeleted(id: string): boolean
  loadHot(id: string, record: T): void
  loadPlaces(id: string, places: readonly Place[]): void
  settleIndexes(): void
}

export interface StoredCollection<T extends object> extends Collection<T>, LoadedRecords<T> {
  insert(record: T): Change
  put(record: T): Change
  remove(id: string, reason: string): Change | undefined
  /** Applies operations of the log at start. */
  replayPut(id: string, record: T): void
  replayRemove(id: string, reason: string): void
  /** Adds an id that was deleted, at start. */
  loadTombstone(id: string): void
  /** Takes what became durable since the last call. */
  takeDirty(): DirtyRecords<T>
  /**
   * Puts back what could not be written. A record whose removal is not durable yet is kept: the removal may
   * still be undone.
   */
  restoreDirty(dirty: DirtyRecords<T>): void
  /** Removes settled records from memory that are on their pages now. */
  evict(dirty: DirtyRecords<T>): void
  /** Every id, in no order; some twice, some of removed records. Can be walked more than once. */
  everyId(): Iterable<string>
}

/** What a record was before a change: hot, cold or absent. */
interface Before<T> {
  readonly record: T | undefined
  readonly wasHot: boolean
}

class MemoryCollection<T extends object> implements StoredCollection<T> {
  readonly spec: CollectionSpec<T>
  readonly #indexes: ReadonlyMap<string, RecordIndex<T>>
  readonly #pages: CheckpointedRecords<T>
  readonly #name: string
  readonly #hot = new Map<string, T>()
  readonly #deleted = new Set<string>()
  #dirty = new Map<string, DirtyRecord<T>>()
  #tombstones = new Map<string, string>()

  constructor(spec: CollectionSpec<T>, pages: CheckpointedRecords<T>) {
    this.spec = spec
    this.#indexes = new Map(Object.entries(spec.indexes).map(([name, index]) => [name, createRecordIndex(index)]))
    this.#pages = pages
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

  count(index: string, group: string): number {
    return this.#index(index).count(group)
  }

  groups(index: string): string[] {
    return this.#index(index).groups()
  }

  ids(index: string, group: string): readonly string[] {
    return this.#index(index).ids(group)
  }

  list(query: PageQuery): T[] {
    return this.#list(query, 0)
  }

  everyId(): Iterable<string> {
    return { [Symbol.iterator]: () => this.#eachId() }
  }

  insert(record: T): Change {
    const id = this.spec.id(record)
    if (this.#deleted.has(id) || this.has(id)) throw storageErrors.id_taken()
    return this.#write(id, record)
  }

  put(record: T): Change {
    const id = this.spec.id(record)
    if (this.#deleted.has(id)) throw storageErrors.id_taken()
    return this.#write(id, record)
  }

  remove(id: string, reason: string): Change | undefined {
    const record = this.find(id)
    if (record === undefined) return undefined
    const wasHot = this.#hot.delete(id)
    this.#deleted.add(id)
    this.#reindex(id, record, undefined)
    return {
      op: `["del",${this.#name},${JSON.stringify(id)},${serialise(reason)}]`,
      undo: () => {
        this.#deleted.delete(id)
        this.#restore(id, undefined, { record, wasHot })
      },
      onDurable: () => this.#addTombstone(id, reason),
    }
  }

  replayPut(id: string, record: T): void {
    this.#reindex(id, this.find(id), record)
    this.#hot.set(id, record)
    this.#dirty.set(id, { record, text: undefined })
  }

  replayRemove(id: string, reason: string): void {
    const before = this.find(id)
    if (before !== undefined) this.#reindex(id, before, undefined)
    this.#hot.delete(id)
    this.#deleted.add(id)
    this.#addTombstone(id, reason)
  }

  loadHot(id: string, record: T): void {
    this.#hot.set(id, record)
  }

  loadPlaces(id: string, places: readonly Place[]): void {
    let at = 0
    for (const index of this.#indexes.values()) {
      const place = places[at]
      if (place !== undefined) index.load(id, place)
      at += 1
    }
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

  evict({ records }: DirtyRecords<T>): void {
    for (const [id, { record }] of records)
      if (this.#hot.get(id) === record && this.spec.settled?.(record) === true) this.#hot.delete(id)
  }

  #isOnPage(id: string): boolean {
    return this.#pages.has(id) && !this.#deleted.has(id)
  }

  *#eachId(): Iterator<string> {
    yield* this.#hot.keys()
    yield* this.#pages.ids()
  }

  #index(name: string): RecordIndex<T> {
    const index = this.#indexes.get(name)
    if (index === undefined) throw fault(`collection ${this.spec.name} has no index ${name}`)
    return index
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

  #write(id: string, record: T): Change {
    const text = serialise(record)
    const hot = this.#hot.get(id)
    const before = { wasHot: hot !== undefined, record: hot ?? this.find(id) }
    this.#reindex(id, before.record, record)
    this.#hot.set(id, record)
    return {
      op: `["put",${this.#name},${JSON.stringify(id)},${text}]`,
      undo: () => this.#restore(id, record, before),
      onDurable: () => void this.#dirty.set(id, { record, text }),
    }
  }

  /** Sets memory back to what the record was. */
  #restore(id: string, current: T | undefined, { record, wasHot }: Before<T>): void {
    if (record !== undefined && wasHot) this.#hot.set(id, record)
    else this.#hot.delete(id)
    this.#reindex(id, current, record)
  }

  #addTombstone(id: string, reason: string): void {
    this.#dirty.delete(id)
    this.#tombstones.set(id, reason)
  }

  /** Records that are left out make room for others, so that a page is short only at the end. */
  #list(query: PageQuery, skipped: number): T[] {
    const ids = this.#index(query.index).page({ ...query, limit: query.limit + skipped })
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

export const createCollection = <T extends object>(
  spec: CollectionSpec<T>,
  pages: CheckpointedRecords<T>,
): StoredCollection<T> => new MemoryCollection(spec, pages)
