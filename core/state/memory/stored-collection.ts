/** A collection as the store sees it: what loads it, takes its changes to a checkpoint and lets it go of memory. */
import type { Collection, Sieve } from '../contract.js'
import type { Row } from '../tables/rows.js'
import type { GroupRange } from '../tables/section-tables.js'
import type { Change } from './change.js'
import type { DirtyRemovals } from './removals.js'

/** Records that a checkpoint wrote. Its indexes have those that were settled then; the others are in memory. */
export interface CheckpointedRecords<T> {
  has(id: string): boolean
  /** Its tables have a row of this id, if only of its removal. */
  knows(id: string): boolean
  /** Throws `storage_damaged` if it stands there and cannot be read; undefined, too, where the sieve says no to it. */
  find(id: string, sieve?: Sieve): T | undefined
  /** The ids among which is the one that was made last. */
  latest(): Iterable<string>
  /** Of the ids that fell the one that was made last; empty if there is none. */
  readonly fell: string
  /** Something of its kind fell, also where no id tells it. */
  readonly hasFallen: boolean
  count(index: string, group: string, beyond?: string): number
  /** Groups in order; some have no record any more. */
  groups(index: string): Iterable<string>
  /** Group, sort key and id of each record. */
  range(index: string, range: GroupRange): Iterable<Row>
}

/** A durable record that no checkpoint has written yet. */
export interface DirtyRecord<T> {
  readonly record: T
  /** Its JSON; made when needed if it came from the log. */
  readonly text: string | undefined
  /** No table has a row of its id: it was looked for before, and no checkpoint took it since. */
  readonly isNew: boolean
}

/** What a checkpoint has to write of a collection as of one sequence: changed records, and ids of removed ones. */
export interface DirtyRecords<T> extends DirtyRemovals {
  readonly records: ReadonlyMap<string, DirtyRecord<T>>
}

/** Records in memory that take what a checkpoint holds, at start. */
export interface LoadedRecords<T> {
  isDeleted(id: string): boolean
  loadHot(id: string, record: T): void
  /** Everything was loaded. */
  settleIndexes(): void
}

export interface StoredCollection<T extends object> extends Collection<T>, LoadedRecords<T> {
  insert(record: T): Change
  put(record: T): Change
  remove(id: string, reason: string): Change | undefined
  /** Applies operations of the log at start. */
  replayPut(id: string, record: T): void
  replayRemove(id: string, reason: string): void
  replayForget(id: string): void
  /** Adds an id that was deleted, at start. */
  loadTombstone(id: string): void
  /** Takes what became durable since the last call. */
  takeDirty(): DirtyRecords<T>
  /**
   * Puts back what could not be written. A record whose removal is not durable yet is kept: the removal may
   * still be undone.
   */
  restoreDirty(dirty: DirtyRecords<T>): void
  /** The tables know what was taken: settled records leave memory. */
  evict(dirty: DirtyRecords<T>): void
  /** Partitions fell: what stood there is in no table any more. */
  forgetFallen(): void
  /** Some ids, in no order, among which is the one that was made last. Can be walked more than once. */
  latestIds(): Iterable<string>
}
