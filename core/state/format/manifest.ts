/**
 * The manifest names every file of the log and of the checkpoint and how many
 * of its bytes count. Replacing it is the commit point of a checkpoint and of
 * a new segment: bytes and files that it does not name hold nothing that was
 * acknowledged.
 */
import type { Disk } from '../disk/disk.js'
import type { Fault } from './line.js'
import { seal, unseal } from './sealed.js'
import { storageErrors } from '../storage-errors.js'

export interface SegmentRef {
  readonly no: number
  /** Sequence of its first line. */
  readonly first: number
  /** Bytes that count; null for the last one, which is still written. */
  readonly length: number | null
}
export interface PageRef {
  readonly no: number
  readonly length: number
  /** Bytes of records that were not replaced since. */ readonly live: number
  /** The partition that it belongs to; absent where it is not kept in partitions. */
  readonly part?: number
  /** Records or entries of those bytes, and how many of them can still change; absent where nobody counted. */
  readonly records?: number
  readonly open?: number
}
export interface TableRef {
  readonly no: number
  readonly length: number
  /** Where its last line begins. */ readonly footer: number
  readonly rows: number
  readonly part?: number
  /** The oldest partition of which its rows take something away, or stand again for something; absent: only its own. */
  readonly reach?: number
  /** Of the records that lead their kind, no row is of one with an earlier `since`. */
  readonly oldest?: Oldest
}
export interface Oldest {
  readonly id: string
  readonly since: number
}
/** What a collection or stream is kept as. */
export interface KeptRef {
  readonly kind: string
  /** Of the ids that fell, the one that was made last, empty if none was made here; absent where nothing fell. */
  readonly fell?: string
}
/**
 * The checkpointed files of one collection or stream; its tables, the oldest first, are made again from the pages where
 * there are none.
 */
export interface PagesRef {
  readonly pages: readonly PageRef[]
  readonly tables: readonly TableRef[]
  /** Where earlier versions named their index: they find none, and make it from the pages. */
  readonly index: null
  readonly kept?: KeptRef
}

export interface PartitionRef {
  readonly no: number
  /** Stamps of its first and its last checkpoint, Unix ms; `from` is 0 where an earlier version wrote it. */
  readonly from: number
  readonly to: number
}
/** What is kept as one kind, the oldest partition first. */
export interface KindRef {
  readonly partitions: readonly PartitionRef[]
  /** What leads the kind fell up to this one. */
  readonly fell: number
}

export interface Manifest {
  readonly v: 1
  readonly k: 'manifest'
  readonly root: string
  readonly generation: number
  /** Pages, streams and tombstones hold every commit up to this sequence. */
  readonly sequence: number
  /** Stamp of that commit, Unix ms. */
  readonly t: number
  readonly segments: readonly SegmentRef[]
  readonly collections: Readonly<Record<string, PagesRef>>
  readonly streams: Readonly<Record<string, PagesRef>>
  /** Bytes that count of each collection's tombstones. */
  readonly tombstones: Readonly<Record<string, number>>
  readonly kinds: Readonly<Record<string, KindRef>>
}

export const emptyManifest = (root: string, generation: number): Manifest => ({
  v: 1,
  k: 'manifest',
  root,
  generation,
  sequence: 0,
  t: 0,
  segments: [],
  collections: {},
  streams: {},
  tombstones: {},
  kinds: {},
})

/** Whether a partition of anything fell. */
export const hasFallen = ({ collections, streams }: Manifest): boolean =>
  [...Object.values(collections), ...Object.values(streams)].some(({ kept }) => kept?.fell !== undefined)

export type ManifestRead =
  | { readonly ok: true; readonly manifest: Manifest | undefined }
  | { readonly ok: false; readonly fault: Fault }

/** Reads and checks a manifest; undefined where there is none. */
export const readManifest = (disk: Disk, path: string): ManifestRead => {
  const bytes = disk.readFile(path)
  if (bytes === undefined) return { ok: true, manifest: undefined }
  const value = unseal<Manifest>(bytes)
  if (value === undefined) return { ok: false, fault: { file: path, offset: 0, rule: 'the digest does not match' } }
  const { kinds = {} }: Partial<Manifest> = value
  const [collections, streams] = [carried(value.collections), carried(value.streams)]
  return { ok: true, manifest: { ...value, collections, streams, kinds } }
}

/** Earlier versions named one index for each, whose rows are made again. */
const carried = (refs: Manifest['collections']): Manifest['collections'] =>
  Object.fromEntries(
    Object.entries(refs).map(([name, { pages, tables, kept }]: [string, Partial<PagesRef>]) => [
      name,
      { pages: pages ?? [], tables: tables ?? [], index: null, ...(kept !== undefined && { kept }) },
    ]),
  )

const bytesOf = (manifest: Manifest): Uint8Array => seal(manifest)

export interface ManifestHolder {
  readonly current: Manifest
  /**
   * A replace failed so late that a restart may find what it wrote: nothing may be written that this manifest alone
   * names.
   */
  readonly uncertain: boolean
  /** Goes on from another one than stands on the disk, which the next replace writes. */
  adopt(manifest: Manifest): void
  /** Replaces the manifest by what `change` makes of the current one; one at a time, in order of calls. */
  update(change: (manifest: Manifest) => Manifest): Promise<void>
}

export const holdManifest = (disk: Disk, path: string, initial: Manifest): ManifestHolder => {
  let current = initial
  let durable = initial
  let uncertain = false
  let turn: Promise<void> = Promise.resolve()
  /** False if a failed replace got as far as the rename: then nobody knows which of the two a restart would find. */
  const isStill = (manifest: Manifest): boolean => {
    try {
      const bytes = disk.readFile(path)
      return bytes === undefined || Buffer.compare(bytes, bytesOf(manifest)) === 0
    } catch {
      return false
    }
  }
  const replace = async (change: (manifest: Manifest) => Manifest): Promise<void> => {
    const next = change(current)
    try {
      await disk.replace(path, bytesOf(next))
    } catch (error) {
      uncertain = !isStill(durable)
      if (uncertain) throw storageErrors.storage_sync_failed({ cause: error })
      throw error
    }
    current = next
    durable = next
    uncertain = false
  }
  const update = (change: (manifest: Manifest) => Manifest): Promise<void> => {
    const done = turn.then(() => replace(change))
    turn = done.catch(() => undefined)
    return done
  }
  return {
    get current() {
      return current
    },
    get uncertain() {
      return uncertain
    },
    adopt: (manifest) => {
      current = manifest
    },
    update,
  }
}
