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
}
export interface TableRef {
  readonly no: number
  readonly length: number
  /** Where its last line begins. */ readonly footer: number
  readonly rows: number
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
})

export type ManifestRead =
  | { readonly ok: true; readonly manifest: Manifest | undefined }
  | { readonly ok: false; readonly fault: Fault }

/** Reads and checks a manifest; undefined where there is none. */
export const readManifest = (disk: Disk, path: string): ManifestRead => {
  const bytes = disk.readFile(path)
  if (bytes === undefined) return { ok: true, manifest: undefined }
  const value = unseal<Manifest>(bytes)
  if (value === undefined) return { ok: false, fault: { file: path, offset: 0, rule: 'the digest does not match' } }
  return { ok: true, manifest: { ...value, collections: carried(value.collections), streams: carried(value.streams) } }
}

/** Earlier versions named one index for each, whose rows are made again. */
const carried = (refs: Manifest['collections']): Manifest['collections'] =>
  Object.fromEntries(
    Object.entries(refs).map(([name, { pages, tables }]: [string, Partial<PagesRef>]) => [
      name,
      { pages: pages ?? [], tables: tables ?? [], index: null },
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
  /** Replaces the manifest by what `change` makes of the current one; one at a time, in order of calls. */
  update(change: (manifest: Manifest) => Manifest): Promise<void>
}

export const holdManifest = (disk: Disk, path: string, initial: Manifest): ManifestHolder => {
  let current = initial
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
    const before = current
    const next = change(before)
    try {
      await disk.replace(path, bytesOf(next))
    } catch (error) {
      uncertain = !isStill(before)
      if (uncertain) throw storageErrors.storage_sync_failed({ cause: error })
      throw error
    }
    current = next
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
    update,
  }
}
