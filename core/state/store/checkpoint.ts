/**
 * The checkpoint: what the log said moves to pages, then the manifest names
 * them and forgets the log. Commits go on meanwhile; the pause is that of
 * beginning a new segment.
 */
import type { Ids } from '../../base/ids.js'
import type { Log } from '../../base/log.js'
import type { Json } from '../../base/schema.js'
import type { DirtyRecords, StoredCollection } from '../memory/collection.js'
import type { Disk } from '../disk/disk.js'
import type { Layout } from '../format/layout.js'
import type { LogKeeper } from '../log/log-keeper.js'
import type { Manifest, ManifestHolder, SegmentRef, PagesRef } from '../format/manifest.js'
import type { PagesDraft } from '../pages/record-pages.js'
import type { PageStores } from '../pages/page-stores.js'
import { lastingReason } from '../storage-errors.js'
import type { StorageMode } from '../disk/storage-mode.js'
import type { Store } from './store.js'
import type { StoredStream, DirtyEntries } from '../memory/stream.js'
import { namedFiles, unnamedFiles } from '../pages/sweep.js'
import { writeTombstones } from '../pages/tombstones.js'

export interface CheckpointerOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly ids: Ids
  readonly log: Log
  readonly manifest: ManifestHolder
  readonly mode: StorageMode
  readonly store: Store
  readonly pageStores: PageStores
  readonly keeper: LogKeeper
  /** Bytes of log that are worth a checkpoint. */
  readonly segmentBytes: number
  /** Stamp of the last commit. */
  readonly stamp: () => number
}

export interface Checkpointer {
  /** Starts one in the background if the log has grown enough. */
  consider(): void
  /** Runs one now, or waits for the one that runs. False: it failed and everything is still in the log. */
  run(): Promise<boolean>
  /** Waits for one that runs. */
  idle(): Promise<void>
}

interface RecordPart {
  readonly collection: StoredCollection<object>
  readonly dirty: DirtyRecords<object>
}
interface EntryPart {
  readonly stream: StoredStream<Json>
  readonly dirty: DirtyEntries
}
/** Everything that became durable up to one sequence and is on no page yet. */
interface Load {
  readonly sequence: number
  readonly t: number
  readonly records: readonly RecordPart[]
  readonly entries: readonly EntryPart[]
}
interface Written {
  readonly collections: Record<string, PagesRef>
  readonly streams: Record<string, PagesRef>
  readonly tombstones: Record<string, number>
  readonly drafts: PagesDraft[]
}

export const createCheckpointer = (options: CheckpointerOptions): Checkpointer => {
  const { disk, paths, manifest, mode, store, pageStores, keeper, log } = options
  let running: Promise<boolean> | undefined

  const take = (): Omit<Load, 'sequence'> => ({
    t: options.stamp(),
    records: Array.from(store.collections.values(), (collection) => ({ collection, dirty: collection.takeDirty() })),
    entries: Array.from(store.streams.values(), (stream) => ({ stream, dirty: stream.takeDirty() })),
  })
  const restoreDirty = (load: Omit<Load, 'sequence'>): void => {
    for (const { collection, dirty } of load.records) collection.restoreDirty(dirty)
    for (const { stream, dirty } of load.entries) stream.restoreDirty(dirty)
  }
  const writeRecords = async ({ collection, dirty }: RecordPart, written: Written): Promise<void> => {
    const { name } = collection.spec
    const draft = await pageStores.records(name).write(dirty, collection)
    if (draft !== undefined) {
      written.collections[name] = draft.ref
      written.drafts.push(draft)
    }
    if (dirty.tombstones.size === 0) return
    const length = manifest.current.tombstones[name] ?? 0
    const target = { disk, folder: paths.tombstones, ids: options.ids, root: manifest.current.root }
    written.tombstones[name] = await writeTombstones(target, name, { length, tombstones: dirty.tombstones })
  }
  const writeEntries = async ({ stream, dirty }: EntryPart, written: Written): Promise<void> => {
    const draft = await pageStores.entries(stream.spec.name).write(dirty)
    if (draft === undefined) return
    written.streams[stream.spec.name] = draft.ref
    written.drafts.push(draft)
  }
  const writeAll = async (load: Load): Promise<Written> => {
    const written: Written = { collections: {}, streams: {}, tombstones: {}, drafts: [] }
    for (const part of load.records) await writeRecords(part, written)
    for (const part of load.entries) await writeEntries(part, written)
    if (Object.keys(written.tombstones).length > 0) await disk.syncFolder(paths.tombstones)
    return written
  }
  const name = (current: Manifest, load: Load, written: Written): Manifest => ({
    ...current,
    sequence: load.sequence,
    t: load.t,
    segments: current.segments.filter((segment: SegmentRef) => segment.first > load.sequence),
    collections: { ...current.collections, ...written.collections },
    streams: { ...current.streams, ...written.streams },
    tombstones: { ...current.tombstones, ...written.tombstones },
  })
  const forget = (load: Load, written: Written): void => {
    for (const draft of written.drafts) draft.apply()
    for (const { collection, dirty } of load.records) collection.evict(dirty)
    for (const { stream, dirty } of load.entries) stream.evict(dirty)
  }
  /** Files that the manifest no longer names. One that stays is removed at the next start. */
  const removeOld = async (before: Manifest, after: Manifest): Promise<void> => {
    const named = namedFiles(paths, after)
    for (const path of namedFiles(paths, before).keys()) if (!named.has(path)) await disk.unlink(path)
  }
  const write = async (load: Load): Promise<void> => {
    const written = await writeAll(load)
    let before = manifest.current
    let after = before
    await manifest.update((current) => {
      before = current
      after = name(current, load, written)
      return after
    })
    forget(load, written)
    await removeOld(before, after).catch((error: unknown) => log.warn('old files could not be removed', { error }))
  }
  /** What a failed checkpoint wrote is removed at once: a disk that fills is filled by every attempt. */
  const removeDrafts = async (): Promise<void> => {
    if (manifest.uncertain || mode.halted) return
    for (const path of unnamedFiles(disk, paths, manifest.current))
      if (!path.startsWith(`${paths.log}/`)) await disk.unlink(path)
  }
  const perform = async (): Promise<boolean> => {
    let taken: Omit<Load, 'sequence'> | undefined
    try {
      const first = await keeper.rotate(() => {
        taken = take()
      })
      if (taken !== undefined) await write({ ...taken, sequence: first - 1 })
      return true
    } catch (error) {
      if (taken !== undefined) restoreDirty(taken)
      await removeDrafts().catch((reason: unknown) => log.warn('a draft could not be removed', { error: reason }))
      mode.count()
      log.warn('a checkpoint failed; the log keeps everything', { error })
      const reason = lastingReason(error)
      if (reason !== undefined) keeper.refuse(reason)
      return false
    }
  }
  const run = (): Promise<boolean> => {
    running ??= perform().finally(() => {
      running = undefined
    })
    return running
  }
  return {
    run,
    consider: () => {
      if (running === undefined && mode.mode === 'ok' && keeper.commits.written >= options.segmentBytes) void run()
    },
    idle: async () => {
      await running
    },
  }
}
