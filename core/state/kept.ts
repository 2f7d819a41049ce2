/** What is kept in partitions that fall as a whole: how it is declared, told and let go. */
import type { Json } from '../base/schema.js'

/**
 * What a collection or stream is kept as: everything of a kind is divided into the same partitions, and falls by them.
 * What says `since` leads its kind: the rest follows when nothing that leads and is kept may have a part in it.
 */
export interface KeptWith<T> {
  /** `[a-z][a-z0-9_]*`, such as `runs`. */
  readonly kind: string
  /**
   * Unix ms of the oldest thing that the record may have anywhere in its kind: not later than `tx.now` of the commit
   * that wrote it. Must be pure.
   */
  since?(record: T): number
  /**
   * While a record of this collection can still change, nothing of another kind falls that was written since then.
   * `since`: Unix ms; undefined: it holds nothing. `release`: what somebody does about it, a sentence with the command.
   * Both must be pure.
   */
  readonly holds?: { readonly kind: string; since(record: T): number | undefined; release?(record: T): string }
  /**
   * Of one that leads: how long somebody was promised that it is kept, ms. Unless the configuration says otherwise it
   * falls when it is older, and never to make room. Absent: kept for ever unless the configuration says otherwise.
   */
  readonly promise?: number
}

/** Partitions close behind any of these, at the next checkpoint that writes to their kind. */
export interface PartitionLimits {
  /** Ms since its first checkpoint. */
  readonly age: number
  /** Records that lead the kind. */
  readonly records: number
  /** Bytes on disk of everything of the kind. */
  readonly bytes: number
}
/** What one collection or stream has in a partition. */
export interface PartitionShare {
  /** The collection's or stream's name. */
  readonly name: string
  readonly leads: boolean
  /** Records, or entries, that are there as of the last checkpoint. Of roots of earlier versions at most so many. */
  readonly records: number
  /** Of them those that can still change: a fall carries them into the newest partition. */
  readonly open: number
  /** On disk. */
  readonly bytes: number
}
/** A part of a kind that falls as a whole: what was written between two checkpoints. */
export interface Partition {
  readonly no: number
  /** Stamp of its first checkpoint, Unix ms; 0: an earlier version wrote it, and nobody knows. */
  readonly from: number
  /** Stamp of its last checkpoint so far, Unix ms: nothing in it was committed later. */
  readonly to: number
  /** What leads the kind in it is not older, by what its records say, Unix ms; absent where nobody knows. */
  readonly since?: number
  /** Those of which nothing is left in it are not there. */
  readonly shares: readonly PartitionShare[]
}
/** What may have a part in partitions that would fall otherwise. */
export interface Holder {
  readonly collection: string
  readonly id: string
  /** What the record says, Unix ms. */
  readonly since: number
  /** It can still change. */
  readonly isOpen?: true
  /** What somebody does so that it holds nothing any more, a sentence; absent where nobody says so. */
  readonly release?: string
}
/** Everything that is kept as one kind, as of the last checkpoint. */
export interface KeptKind {
  readonly kind: string
  /** From the oldest to the newest, which is the one that is written to. */
  readonly partitions: readonly Partition[]
  /** What leads the kind fell up to this partition; 0: nothing fell yet. */
  readonly fell: number
  /** A collection or stream of it that no plugin declares now: nothing of the kind falls meanwhile. */
  readonly undeclared: string | undefined
}
/** What a fall takes. */
export interface Fall {
  readonly kind: string
  /** What leads the kind falls up to this partition. */
  readonly upto: number
  /** What follows falls up to this one, because nothing that stays may have a part in it. */
  readonly free: number
  /** What leaves each partition; records that can still change are not counted. */
  readonly partitions: readonly Partition[]
  /** Of partitions up to there, what stays because of the holder. */
  readonly held: { readonly by: Holder; readonly bytes: number } | undefined
}
/** A record or some entries of a partition that would fall. */
export type FallingLine =
  | { readonly collection: string; readonly id: string; readonly record: object }
  | { readonly stream: string; readonly owner: string; readonly from: number; readonly entries: readonly Json[] }

/** Bytes of blobs that go by themselves behind a fall. */
export interface Beside {
  /** Of records whose leader fell: they are on their way out. */
  readonly gone: number
  /** Of the others, by the number of the partition that takes them along. */
  readonly parts: ReadonlyMap<number, number>
}

/** A kind of which something that leads is declared. */
export type DeclaredKind = Pick<KeptWith<never>, 'kind' | 'promise'>

/** What is kept, in partitions that fall as a whole and leave no tombstones. Nothing falls by itself. */
export interface Retention {
  declared(): readonly DeclaredKind[]
  /** What is bounded by settings of its own, in words, by its name. */
  bounded(): ReadonlyMap<string, string>
  /** As of the last checkpoint; reads nothing. */
  kinds(): readonly KeptKind[]
  /** When partitions of a kind close from now on; kinds that nobody sets close theirs after 30 days or 1 GiB. */
  closeAt(kind: string, limits: PartitionLimits): void
  /**
   * Moves the log to pages, so that partitions that are due close and `kinds` is up to date; false if that failed. The
   * newest partition of each kind in `closing` closes whether it is due or not: nothing is written to it from then on.
   */
  checkpoint(closing?: ReadonlySet<string>): Promise<boolean>
  /**
   * As of the last checkpoint, the record of another kind that holds the most of this one: what was written since then
   * does not fall.
   */
  heldBy(kind: string): Holder | undefined
  /** What follows the kind and stands in none of its partitions. Reads all of these records, in turns. */
  beside(kind: string): Promise<Beside>
  /** True of a file of the root, by its path, that goes as soon as nobody copies it: it holds nothing that stays. */
  isLeaving(path: string): boolean
  /**
   * Runs `work` with the room that is kept for a full disk, where storage refuses changes because of that. What falls
   * makes room.
   */
  withRoom<R>(work: () => Promise<R>): Promise<R>
  /** What `fall` would take as of the last checkpoint. Reads records that can still change, and changes nothing. */
  preview(kind: string, upto: number): Fall
  /** The last partition of which what follows would fall with those up to `upto`; else as `preview`. */
  freeUpto(kind: string, upto: number): number
  /**
   * Hands `read` what `fall` would take, as it stands on pages, and resolves with what `read` does. Pages stay until
   * then, also where a checkpoint moves what still counts of them to new ones. The lines throw `storage_damaged` where
   * one cannot be read.
   */
  contents<R>(fall: Fall, read: (lines: Iterable<FallingLine>) => Promise<R>): Promise<R>
  /**
   * Lets fall what a preview has told, and never more, in one commit of a checkpoint; it was all or nothing also where
   * the daemon dies. Records that can still change are carried; what may belong to a record that is kept stays until a
   * later call, also one with the same `upto`. Rejects with `fall_outdated` where a partition is still written to or
   * holds more than was told, with the problem of the disk, or with a fault where the kind is unknown or not declared;
   * then nothing fell. After `storage_sync_failed` the next start knows.
   */
  fall(told: Fall): Promise<Fall>
  /** Calls back behind each fall, with its kind: what goes behind it by itself can go now. Must not throw. */
  onFall(listener: (kind: string) => void): void
}
