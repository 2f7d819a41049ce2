/**
 * Records of one kind: those that can still change, or that no checkpoint has written yet, are in memory with their
 * indexes; the settled ones are on pages and in the indexes of tables.
 */
import { fault } from '../../base/assert.js'
import { isMadeBy } from '../../base/ids.js'
import { serialise, type Before, type Change, type Known } from './change.js'
import type { CollectionSpec, PageQuery, Sieve } from '../contract.js'
import { storageErrors } from '../storage-errors.js'
import type { GroupRange } from '../tables/section-tables.js'
import { Edges } from './edges.js'
import { listed } from './listed.js'
import { mergedPage } from './merged-page.js'
import { createHands, type Hands, type Shared } from './hands.js'
import { forgets, Removals } from './removals.js'
import { createRecordIndex, moveInAll, placeOf, type Place, type RecordIndex } from './record-index.js'
import type { CheckpointedRecords, DirtyRecord, DirtyRecords, StoredCollection } from './stored-collection.js'
import { createShadows, type Shadows } from './shadows.js'

class MemoryCollection<T extends object> implements StoredCollection<T> {
  readonly spec: CollectionSpec<T>
  /** Of records in memory. */
  readonly #indexes: ReadonlyMap<string, RecordIndex<T>>
  readonly #all: readonly RecordIndex<T>[]
  readonly #pages: CheckpointedRecords<T>
  readonly #shadows: Shadows
  readonly #edges: Edges<T>
  readonly #name: string
  readonly #hot = new Map<string, T>()
  readonly #removals: Removals
  readonly #source = { page: (query: PageQuery) => this.page(query), find: (id: string) => this.find(id) }
  readonly #madeAt: number
  readonly #hands: Hands
  #dirty = new Map<string, DirtyRecord<T>>()
  #falls = 0

  constructor(spec: CollectionSpec<T>, pages: CheckpointedRecords<T>, { madeAt, hands }: Shared) {
    this.#madeAt = madeAt
    this.#hands = hands
    this.spec = spec
    this.#indexes = new Map(Object.entries(spec.indexes).map(([name, index]) => [name, createRecordIndex(index)]))
    this.#all = [...this.#indexes.values()]
    this.#pages = pages
    this.#shadows = createShadows(Object.keys(spec.indexes))
    this.#edges = new Edges(spec)
    this.#name = JSON.stringify(spec.name)
    this.#removals = new Removals(forgets(spec))
  }

  has(id: string): boolean {
    return this.#hot.has(id) || (!this.#removals.hides(id) && this.#pages.has(id))
  }

  find(id: string, sieve?: Sieve): T | undefined {
    return this.#hands.out(this.#hot.get(id) ?? this.#cold(id, sieve))
  }

  isDeleted(id: string): boolean {
    return this.#removals.isBuried(id)
  }

  hasFallen(id: string): boolean {
    return isMadeBy(id, this.#pages.fell, this.#madeAt) && !this.isDeleted(id) && !this.has(id)
  }

  get falls(): number {
    return this.#falls + (this.#pages.hasFallen ? 1 : 0)
  }

  count(index: string, group: string, beyond?: string): number {
    const [warm, cold] = [this.#index(index).count(group, beyond), this.#pages.count(index, group, beyond)]
    return warm + cold - this.#shadows.count(index, group, beyond)
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
      cold: () => this.#pages.range(query.index, rangeOf(query)),
      edges: this.#edges,
      isCold: (id) => !this.#hot.has(id) && !this.#removals.hides(id),
    })
  }

  list(query: PageQuery): T[] {
    return listed(query, this.#source)
  }

  latestIds(): Iterable<string> {
    return { [Symbol.iterator]: () => this.#eachLatest() }
  }

  insert(record: T): Change {
    const id = this.spec.id(record)
    const isNew = !this.#hot.has(id) && !this.#removals.hides(id) && !this.#pages.knows(id)
    if (!isNew && (this.#removals.isBuried(id) || this.has(id))) throw storageErrors.id_taken()
    return this.#write(id, record, { isNew })
  }

  put(record: T): Change {
    const id = this.spec.id(record)
    if (this.#removals.isBuried(id)) throw storageErrors.id_taken()
    return this.#write(id, record, { before: this.#before(id) })
  }

  remove(id: string, reason: string): Change | undefined {
    const before = this.#before(id)
    if (before === undefined) return undefined
    const op = this.#removals.forgets ? 'rem' : 'del'
    this.#take(id, before)
    const number = this.#removals.add(id)
    return {
      op: `["${op}",${this.#name},${JSON.stringify(id)},${serialise(reason)}]`,
      undo: () => {
        this.#removals.takeBack(id)
        this.#giveBack(id, before)
      },
      onDurable: () => {
        this.#dirty.delete(id)
        this.#removals.settle(id, { reason, number })
      },
    }
  }

  replayPut(id: string, record: T): void {
    this.#replace(id, this.#before(id), record)
    this.#removals.comeBack(id)
    this.#setDirty(id, { record, text: undefined, isNew: false })
  }

  replayRemove(id: string, reason: string): void {
    if (this.#removals.forgets) return this.replayForget(id)
    const before = this.#before(id)
    if (before !== undefined) this.#take(id, before)
    this.#dirty.delete(id)
    this.#removals.settle(id, { reason, number: this.#removals.add(id) })
  }

  replayForget(id: string): void {
    const before = this.#before(id)
    if (before === undefined) return
    this.#take(id, before)
    this.#dirty.delete(id)
    this.#removals.forget(id)
  }

  loadHot(id: string, record: T): void {
    this.#hot.set(id, record)
    for (const [index, { group, sort }] of this.#placesOf(id, record)) index.load(id, { group, sort })
  }

  loadTombstone(id: string): void {
    this.#removals.bury(id)
  }

  settleIndexes(): void {
    for (const index of this.#indexes.values()) index.settle()
  }

  takeDirty(): DirtyRecords<T> {
    const taken = { records: this.#dirty, ...this.#removals.take() }
    this.#dirty = new Map()
    return taken
  }

  restoreDirty(dirty: DirtyRecords<T>): void {
    for (const [id, record] of dirty.records)
      if (!this.#dirty.has(id) && !this.#removals.isDirty(id)) this.#dirty.set(id, { ...record, isNew: false })
    this.#removals.restore(dirty, (id) => this.#dirty.has(id))
  }

  forgetFallen(): void {
    this.#falls += 1
    this.#shadows.keepOnly((id) => this.#pages.has(id))
  }

  evict(dirty: DirtyRecords<T>): void {
    const { records, tombstones, forgotten } = dirty
    for (const id of tombstones.keys()) this.#shadows.drop(id)
    for (const id of forgotten.keys()) this.#shadows.drop(id)
    this.#removals.evict(dirty)
    const leaving = new Map<string, T>()
    for (const [id, { record }] of records) {
      this.#shadows.drop(id)
      if (this.spec.settled?.(record) !== true) continue
      this.#edges.extend(id, record)
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

  #cold(id: string, sieve?: Sieve): T | undefined {
    return this.#removals.hides(id) ? undefined : this.#pages.find(id, sieve)
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
    const record = hot ?? this.#cold(id)
    return record && { record, wasHot: hot !== undefined }
  }

  *#placesOf(id: string, record: T): Iterable<readonly [RecordIndex<T>, Place]> {
    for (const [name, index] of this.#indexes) {
      const spec = this.spec.indexes[name]
      if (spec !== undefined) yield [index, placeOf(spec, id, record)]
    }
  }

  /** Sets what memory has of a record, or takes it out. */
  #remember(id: string, before: T | undefined, after: T | undefined): void {
    moveInAll(this.#all, id, [before, after])
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

  #write(id: string, record: T, { before, isNew = false }: Known<T>): Change {
    const text = serialise(record)
    this.#hands.in(record)
    this.#replace(id, before, record)
    const gone = this.#removals.comeBack(id)
    return {
      op: `["put",${this.#name},${JSON.stringify(id)},${text}]`,
      undo: () => {
        this.#remember(id, record, undefined)
        if (before !== undefined) this.#giveBack(id, before)
        else if (gone !== undefined) this.#removals.leave(id, gone)
      },
      onDurable: () => this.#setDirty(id, { record, text, isNew: isNew || this.#dirty.get(id)?.isNew === true }),
    }
  }

  #setDirty(id: string, record: DirtyRecord<T>): void {
    this.#dirty.set(id, record)
    this.#removals.isBack(id)
  }
}

const rangeOf = ({ group, order = 'asc', beyond }: PageQuery): GroupRange => ({ group, order, beyond })

export const createCollection = <T extends object>(
  spec: CollectionSpec<T>,
  pages: CheckpointedRecords<T>,
  { madeAt = 0, hands = createHands() }: Partial<Shared> = {},
): StoredCollection<T> => new MemoryCollection(spec, pages, { madeAt, hands })
