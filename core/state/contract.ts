/**
 * The five shapes of state that a plugin sees, and the commit that changes
 * them. Only `core/state` knows files. See docs/state-format.md.
 */
import type { AnyStruct, Json, JsonObject } from '../base/schema.js'
import type { EventSpec, EventKeys } from '../events/contract.js'
import type { BlobRef, Blobs } from './blobs.js'
import type { KeptWith, Retention } from './kept.js'

export type * from './blobs.js'
export type * from './kept.js'

/**
 * An ordered view of a collection. Records that share a group are listed by
 * ascending sort key, then id.
 */
export interface IndexSpec<T> {
  /** The group a record is listed in; undefined leaves it out. Must be pure. */
  group(record: T): string | undefined
  /** The position in its group; the id when absent. Must be pure. */
  sort?(record: T): string
}

/** Declares records by id: name, shape version, indexes. */
export interface CollectionSpec<T extends object> {
  /** The folder's name under `data/`: `[a-z][a-z0-9_]*`, unique in the daemon. */
  readonly name: string
  /**
   * Version of the record's shape, and of what `settled`, `group` and `sort` say of it: raise it when one of them says
   * something else, so that the indexes on disk are made again. Written into each page.
   */
  readonly version: number
  id(record: T): string
  readonly indexes: Readonly<Record<string, IndexSpec<T>>>
  /**
   * True for a record that need not be in memory, because it no longer changes or rarely does: after a checkpoint it is
   * read from its page, and its places in the indexes from tables. A change brings it back until the next checkpoint.
   */
  settled?(record: T): boolean
  /** Absent: its records are kept until they are removed. One that can still change never falls. */
  readonly kept?: KeptWith<T>
  /**
   * What becomes of a removed record's id. `buried`, the default: its tombstone stays, and it is never used again.
   * `forgotten`: nothing stays, and it may be inserted again. What belongs to a kind cannot be forgotten.
   */
  readonly removed?: 'buried' | 'forgotten'
  /**
   * What of it is bounded otherwise than by its kind, by the name under which somebody looks for it in
   * `config/retention.toml`: the settings that do it, in words.
   */
  readonly bounded?: Readonly<Record<string, string>>
  /**
   * Its records stand in no partition, and go by themselves, with their blobs, when the record of this kind fell that
   * they name. `index`: one that has all of them, by unique sort keys. `at`: Unix ms of the last change of a record.
   */
  readonly follows?: { readonly kind: string; readonly index: string; at(record: T): number }
  /** Checked by `state verify`, never on the hot path. */
  readonly schema?: AnyStruct
  /** Ids of other collections that this record names; `state verify` checks that they exist. */
  references?(record: T): readonly { readonly collection: string; readonly id: string }[]
  /** Blobs that this record names; `state verify` checks that they are there, whole. */
  blobs?(record: T): readonly (BlobRef & { readonly area: string })[]
}

/** Asks for a part of one group of an index. */
export interface PageQuery {
  readonly index: string
  readonly group: string
  /** Most records to return. */
  readonly limit: number
  readonly order?: 'asc' | 'desc'
  /** Only records whose sort key is strictly beyond this one, in the direction of `order`. */
  readonly beyond?: string
  /** Given each record whose page is damaged, which is left out; without it the list throws. */
  readonly skip?: ((id: string, error: unknown) => void) | undefined
}

/**
 * Looks at a record as a page has it, JSON in UTF-8 without blanks, before anything is made of it: false where it is
 * not what is sought. Of a record in memory it is not asked. The bytes are there during the call alone.
 */
export type Sieve = (line: Uint8Array) => boolean

/**
 * Records by id. Reads are synchronous and see what the running commit wrote. Returned records are frozen or must be
 * treated so.
 */
export interface Collection<T extends object> {
  readonly spec: CollectionSpec<T>
  /** The record, read from its page if it has left memory; undefined, too, where `sieve` says no to its bytes. */
  find(id: string, sieve?: Sieve): T | undefined
  has(id: string): boolean
  /** True if the id was deleted once and is buried: it is never used again. */
  isDeleted(id: string): boolean
  /**
   * True if it is not there, and its id says that it was made in the time of this root, no later than the last one that
   * fell: it fell, for all we know. An id that somebody made up in that form is not told from it.
   */
  hasFallen(id: string): boolean
  /** Grows when something of its kind falls: until then no record is missing that was there. 0: nothing ever fell. */
  readonly falls: number
  /**
   * How many records a group has; with `beyond` those whose sort key is greater. Reads no record: in memory and in
   * tables it costs a search.
   */
  count(index: string, group: string, beyond?: string): number
  /** Groups of an index that hold at least one record. */
  groups(index: string): string[]
  /** Ids of one group in order, all of them: for groups that stay small. Does not read records. */
  ids(index: string, group: string): readonly string[]
  /** Ids of a part of a group; does not read records. */
  page(query: PageQuery): readonly string[]
  list(query: PageQuery): T[]
}

/**
 * The links of an entry: the hash of the entry before it, empty in the first; its own; and the one that it must have.
 */
export interface ChainLink {
  readonly prev: string
  readonly hash: string
  readonly right: string
}
/**
 * Says how the entries of one owner are linked, so that an edit, a removal, an insertion or a swap shows even where
 * every checksum is right.
 */
export interface ChainSpec<E> {
  /**
   * The collection that holds `{ entries, hash }` of the last entry under the owner's name, put in the commit of that
   * entry.
   */
  readonly heads: string
  /** Must be pure. */
  link(entry: E, owner: string): ChainLink
}

/** Declares an append-only stream per owner. */
export interface StreamSpec<E extends Json> {
  /** The folder's name under `streams/`. */
  readonly name: string
  readonly version: number
  /** Absent: its entries are kept for ever. It never leads. */
  readonly kept?: Pick<KeptWith<E>, 'kind'>
  readonly schema?: AnyStruct
  /** Entries carry hashes that link them; `state verify` follows the links. */
  readonly chained?: ChainSpec<E>
  /** For the compiler only: the type of an entry. */
  readonly entry?: E
}

/** One entry with its number, from 1. */
export interface StreamEntry<E> {
  readonly seq: number
  readonly entry: E
}

/** Append-only entries of an owner, numbered 1, 2, 3 … without gaps. */
export interface Stream<E extends Json> {
  readonly spec: StreamSpec<E>
  /** The last sequence: the number of entries, with those that fell. */
  length(owner: string): number
  /** Sequence of the oldest entry that is there; where none is, that of the next one. 1 unless something fell. */
  first(owner: string): number
  /**
   * Entries with `after < seq <= after + limit`, oldest first. Those that fell are missing: who wants the oldest that
   * are there begins at `first`.
   */
  read(owner: string, range: { readonly after: number; readonly limit: number }): StreamEntry<E>[]
  owners(): Iterable<string>
}

/** One small JSON file: whole old or whole new, never half. Not part of a commit. */
export interface Document<T extends JsonObject> {
  readonly path: string
  read(): T | undefined
  write(value: T): Promise<void>
}

/**
 * How much was put out: `total` is what is `kept`, what rotations took away and what was `lost` because it could not be
 * written. Bytes.
 */
export interface SpoolAccount {
  readonly kept: number
  readonly total: number
  readonly lost: number
  readonly rotations: number
}
/** The last bytes of a spool. */
export interface SpoolReading {
  readonly path: string
  readonly account: SpoolAccount
  readonly bytes: Uint8Array
}
/** A spool that is written to. */
export interface Spool {
  readonly path: string
  readonly account: SpoolAccount
  /**
   * Adds bytes; one after the other. Never rejects: what cannot be written is counted as lost, and a line in the spool
   * says so as soon as there is room.
   */
  append(bytes: Uint8Array): Promise<void>
  /** Brings what was added to the disk, as far as it takes it. Nothing may be added afterwards. */
  close(): Promise<SpoolAccount>
}

/**
 * Output of bounded size, each an owner's: the newest part is kept. Not part of a commit, not in backups: nothing that
 * was acknowledged may rest on it.
 */
export interface Spools {
  /** Begins the spool of an owner that has none. Rejects with `storage_read_only` while storage takes no changes. */
  begin(owner: string): Promise<Spool>
  /** At most `most` bytes of the end; undefined if nothing is there that can be read. */
  read(owner: string, most: number): SpoolReading | undefined
  /** Removes a spool that nobody writes to; no effect if it is absent. */
  remove(owner: string): Promise<void>
  /** Removes the spools of all other owners but those that are written to; returns how many. */
  keepOnly(owners: Iterable<string>): Promise<number>
}

/** The changes of one commit. Every method applies at once in memory and is undone if the commit fails. */
export interface Tx {
  /**
   * Unix ms of this commit. Smaller than that of the commit before it only if the clock was set back by more than a
   * minute: a record that has stamps takes the later one, `Math.max(tx.now, record.updated_at_ms)`.
   */
  readonly now: number
  /** Adds a record. Throws `id_taken` if the id is in use or buried. */
  insert<T extends object>(collection: Collection<T>, record: T): void
  /** Adds or replaces a record. Throws `id_taken` if the id is buried. */
  put<T extends object>(collection: Collection<T>, record: T): void
  /** Removes a record; its id is buried, or forgotten where the collection says so. No effect if it is absent. */
  remove<T extends object>(collection: Collection<T>, id: string, reason: string): void
  /** Appends an entry; returns its sequence. */
  append<E extends Json>(stream: Stream<E>, owner: string, entry: E): number
  /**
   * Publishes an event when this commit is durable, in commit order. The data is made on first use: it must not read
   * state that can change.
   */
  emit<D extends object>(event: EventSpec<D>, keys: EventKeys, data: () => D): void
  /** Runs a part of the commit. If it throws, what that part did is taken back, and the rest of the commit stands. */
  tryPart<R>(part: () => R): R
  /**
   * Runs when this commit is durable, in commit order. Must not throw; must not start another commit synchronously that
   * others wait for.
   */
  after(effect: () => void): void
}

/** The state as a plugin sees it: five shapes, and the commit that changes two of them. */
export interface State {
  collection<T extends object>(spec: CollectionSpec<T>): Collection<T>
  stream<E extends Json>(spec: StreamSpec<E>): Stream<E>
  document<T extends JsonObject>(name: string): Document<T>
  blobs(area: string): Blobs
  spools(area: string): Spools
  /**
   * Runs `change` synchronously against the current state and appends what it did as one line. Resolves with its result
   * when the line is on disk. Rejects with the problem `storage_read_only` when storage refuses writes, with what
   * `change` threw, or with `storage_write_failed`; then nothing of it is left in memory. After `storage_sync_failed`
   * the outcome is unknown.
   */
  commit<R>(change: (tx: Tx) => R): Promise<R>
  /**
   * Resolves when everything committed so far is on disk: what a reader saw may then leave the daemon. Rejects if it
   * was undone. With `since`, the value of `health.undone` when the reader began, it also rejects if something was
   * undone between then and this call.
   */
  durable(since?: number): Promise<void>
  /** What is kept in partitions, and their fall. */
  readonly retention: Retention
  readonly health: StorageHealth
}

/** Whether storage takes changes now (state-12 to state-14). */
export interface StorageHealth {
  readonly mode: 'ok' | 'read_only' | 'closed'
  /**
   * False if something that was acknowledged could not be loaded and is missing without a trace: nothing may be served
   * from it.
   */
  readonly loaded: boolean
  /**
   * Stable reason code while read-only, such as `disk_full`, `sync_failed`, `lock_lost`, `damaged`; in mode `ok` why
   * something beside the log cannot be written.
   */
  readonly reason?: string | undefined
  /** What the operator can do, one sentence. */
  readonly action?: string | undefined
  readonly writeErrors: number
  /** How often changes that readers may have seen were undone because they could not be written. */
  readonly undone: number
  /** Last durable sequence. */
  readonly sequence: number
  readonly generation: number
}
