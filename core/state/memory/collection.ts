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

export interface StoredCollection<T extends object> extends Collection<T> {
  insert(record: T): Change
  put(record: T): Change
  remove(id: string, reason: string): Change | undefined
  /** Applies operations of the log at start. */
  replayPut(id: string, record: T): void
  replayRemove(id: string, reason: string): void
  /** Adds what a checkpoint holds, at start. */
  loadHot(id: string, record: T): void
  loadPlaces(id: string, places: readonly Place[]): void
  loadTombstone(id: string): void
  settleIndexes(): void
  /** Takes what became durable since the last call. */
  takeDirty(): DirtyRecords<T>
  /**
   * Puts back what could not be written. A record whose removal is not durable yet is kept: the removal may
   * still be undone.
   */
  restoreDirty(dirty: DirtyRecords<T>): void
  /** Removes settled records from memory that are on their pages now. */
  evict(dirty: DirtyRecords<T>): void
  places(id: string, record: T): readonly Place[]
  readonly indexes: ReadonlyMap<string, RecordIndex<T>>
  /** Every id, in no order; some twice, some of removed records. */
  everyId(): Iterable<string>
}

const both = (first: () => Iterable<string>, second: () => Iterable<string>): Iterable<string> => ({
  *[Symbol.iterator]() {
    yield* first()
    yield* second()
  },
})

export const createCollection = <T extends object>(
  spec: CollectionSpec<T>,
  pages: CheckpointedRecords<T>,
): StoredCollection<T> => {
  const hot = new Map<string, T>()
  const deleted = new Set<string>()
  const indexes = new Map(Object.entries(spec.indexes).map(([name, index]) => [name, createRecordIndex(index)]))
  let dirty = new Map<string, DirtyRecord<T>>()
  let tombstones = new Map<string, string>()
  const name = JSON.stringify(spec.name)

  const has = (id: string): boolean => hot.has(id) || (pages.has(id) && !deleted.has(id))
  const find = (id: string): T | undefined =>
    hot.get(id) ?? (pages.has(id) && !deleted.has(id) ? pages.read(id) : undefined)
  const index = (wanted: string): RecordIndex<T> => {
    const found = indexes.get(wanted)
    if (found === undefined) throw fault(`collection ${spec.name} has no index ${wanted}`)
    return found
  }
  const reindex = (id: string, before: T | undefined, after: T | undefined): void => {
    for (const one of indexes.values()) one.move(id, before && one.place(id, before), after && one.place(id, after))
  }
  /** Sets memory back to a record that was hot, cold or absent. */
  const restore = (
    id: string,
    current: T | undefined,
    { before, wasHot }: { before: T | undefined; wasHot: boolean },
  ): void => {
    if (before !== undefined && wasHot) hot.set(id, before)
    else hot.delete(id)
    reindex(id, current, before)
  }
  const write = (id: string, record: T): Change => {
    const text = serialise(record)
    const wasHot = hot.has(id)
    const before = find(id)
    hot.set(id, record)
    reindex(id, before, record)
    return {
      op: `["put",${name},${JSON.stringify(id)},${text}]`,
      undo: () => restore(id, record, { before, wasHot }),
      onDurable: () => void dirty.set(id, { record, text }),
    }
  }
  const addTombstone = (id: string, reason: string): void => {
    dirty.delete(id)
    tombstones.set(id, reason)
  }
  const insert = (record: T): Change => {
    const id = spec.id(record)
    if (deleted.has(id) || has(id)) throw storageErrors.id_taken()
    return write(id, record)
  }
  const put = (record: T): Change => {
    const id = spec.id(record)
    if (deleted.has(id)) throw storageErrors.id_taken()
    return write(id, record)
  }
  const remove = (id: string, reason: string): Change | undefined => {
    const before = find(id)
    if (before === undefined) return undefined
    const wasHot = hot.delete(id)
    deleted.add(id)
    reindex(id, before, undefined)
    const undo = (): void => {
      deleted.delete(id)
      restore(id, undefined, { before, wasHot })
    }
    return {
      op: `["del",${name},${JSON.stringify(id)},${serialise(reason)}]`,
      undo,
      onDurable: () => addTombstone(id, reason),
    }
  }
  const replayPut = (id: string, record: T): void => {
    reindex(id, find(id), record)
    hot.set(id, record)
    dirty.set(id, { record, text: undefined })
  }
  const replayRemove = (id: string, reason: string): void => {
    const before = find(id)
    if (before !== undefined) reindex(id, before, undefined)
    hot.delete(id)
    deleted.add(id)
    addTombstone(id, reason)
  }
  const findOr = (id: string, skip: PageQuery['skip']): T | undefined => {
    try {
      return find(id)
    } catch (error) {
      if (skip === undefined) throw error
      skip(id, error)
      return undefined
    }
  }
  /** Records that are left out make room for others, so that a page is short only at the end. */
  const list = (query: PageQuery, skipped = 0): T[] => {
    const ids = index(query.index).page({ ...query, limit: query.limit + skipped })
    const found: T[] = []
    for (const id of ids) {
      const record = findOr(id, query.skip)
      if (record !== undefined) found.push(record)
    }
    const missing = ids.length - found.length
    return missing === skipped || ids.length < query.limit + skipped ? found : list(query, missing)
  }
  const takeDirty = (): DirtyRecords<T> => {
    const taken = { records: dirty, tombstones }
    dirty = new Map()
    tombstones = new Map()
    return taken
  }
  const restoreDirty = (taken: DirtyRecords<T>): void => {
    for (const [id, record] of taken.records) if (!dirty.has(id) && !tombstones.has(id)) dirty.set(id, record)
    for (const [id, reason] of taken.tombstones) tombstones.set(id, reason)
  }
  const evict = (taken: DirtyRecords<T>): void => {
    for (const [id, { record }] of taken.records)
      if (hot.get(id) === record && spec.settled?.(record) === true) hot.delete(id)
  }
  return {
    spec,
    find,
    has,
    list: (query) => list(query),
    insert,
    put,
    remove,
    replayPut,
    replayRemove,
    takeDirty,
    restoreDirty,
    evict,
    indexes,
    everyId: () => both(() => hot.keys(), pages.ids),
    isDeleted: (id) => deleted.has(id),
    count: (wanted, group) => index(wanted).count(group),
    groups: (wanted) => index(wanted).groups(),
    ids: (wanted, group) => index(wanted).ids(group),
    loadHot: (id, record) => void hot.set(id, record),
    loadPlaces: (id, places) =>
      [...indexes.values()].forEach((one, at) => {
        const place = places[at]
        if (place !== undefined) one.load(id, place)
      }),
    loadTombstone: (id) => void deleted.add(id),
    settleIndexes: () => indexes.forEach((one) => one.settle()),
    places: (id, record) => [...indexes.values()].map((one) => one.place(id, record)),
  }
}
