/**
 * The checkpoint: what the log said moves to pages, then the manifest names
 * them and forgets the log. Commits go on meanwhile; the pause is that of
 * beginning a new segment.
 */
import type { Ids } from '../../base/ids.js'
import type { Log } from '../../base/text/log.js'
import type { Json } from '../../base/schema.js'
import type { DirtyRecords, StoredCollection } from '../memory/stored-collection.js'
import type { Disk } from '../disk/disk.js'
import type { Layout } from '../format/layout.js'
import type { LogKeeper } from '../log/log-keeper.js'
import type { Manifest, ManifestHolder, SegmentRef, PagesRef } from '../format/manifest.js'
import type { PagesDraft } from '../pages/page-store.js'
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

interface Replaced {
  readonly before: Manifest
  readonly after: Manifest
  /** Tables that were read from until now. */
  readonly tables: ReadonlySet<string>
}

/** The manifest that names what was written and forgets the log before it. */
const manifestWith = (current: Manifest, load: Load, written: Written): Manifest => ({
  ...current,
  sequence: load.sequence,
  t: load.t,
  segments: current.segments.filter((segment: SegmentRef) => segment.first > load.sequence),
  collections: { ...current.collections, ...written.collections },
  streams: { ...current.streams, ...written.streams },
  tombstones: { ...current.tombstones, ...written.tombstones },
})

const restoreDirty = (load: Omit<Load, 'sequence'>): void => {
  for (const { collection, dirty } of load.records) collection.restoreDirty(dirty)
  for (const { stream, dirty } of load.entries) stream.restoreDirty(dirty)
}

/** Reads go to the new pages from now on, and memory lets go of what is on them. */
const applyAll = (load: Load, written: Written): void => {
  for (const draft of written.drafts) draft.apply()
  for (const { collection, dirty } of load.records) collection.evict(dirty)
  for (const { stream, dirty } of load.entries) stream.evict(dirty)
}

class CheckpointWriter implements Checkpointer {
  readonly #options: CheckpointerOptions
  #running: Promise<boolean> | undefined
  /** Bytes of log that are waited for; behind a failure, so many more than there were. */
  #worth: number

  constructor(options: CheckpointerOptions) {
    this.#options = options
    this.#worth = options.segmentBytes
  }

  run(): Promise<boolean> {
    this.#running ??= this.#perform().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  consider(): void {
    const { mode, keeper } = this.#options
    if (this.#running === undefined && mode.mode === 'ok' && keeper.commits.written >= this.#worth) void this.run()
  }

  async idle(): Promise<void> {
    await this.#running
  }

  async #perform(): Promise<boolean> {
    const { keeper, log, mode, segmentBytes } = this.#options
    let taken: Omit<Load, 'sequence'> | undefined
    try {
      const first = await keeper.rotate(() => {
        taken = this.#take()
      })
      if (taken !== undefined) await this.#write({ ...taken, sequence: first - 1 })
      this.#worth = segmentBytes
      return true
    } catch (error) {
      this.#worth = keeper.commits.written + segmentBytes
      if (taken !== undefined) restoreDirty(taken)
      await this.#removeDrafts().catch((reason: unknown) => log.warn('a draft could not be removed', { error: reason }))
      mode.count()
      log.warn('a checkpoint failed; the log keeps everything', { error })
      const reason = lastingReason(error)
      if (reason !== undefined) keeper.refuse(reason)
      return false
    }
  }

  #take(): Omit<Load, 'sequence'> {
    const { store, stamp } = this.#options
    return {
      t: stamp(),
      records: Array.from(store.collections.values(), (collection) => ({ collection, dirty: collection.takeDirty() })),
      entries: Array.from(store.streams.values(), (stream) => ({ stream, dirty: stream.takeDirty() })),
    }
  }

  async #write(load: Load): Promise<void> {
    const { manifest, log, pageStores } = this.#options
    const written = await this.#writeAll(load)
    let before = manifest.current
    let after = before
    await manifest.update((current) => {
      before = current
      after = manifestWith(current, load, written)
      return after
    })
    const tables = pageStores.tableFiles()
    applyAll(load, written)
    await this.#removeOld({ before, after, tables }).catch((error: unknown) =>
      log.warn('old files could not be removed', { error }),
    )
  }

  async #writeAll(load: Load): Promise<Written> {
    const { disk, paths } = this.#options
    const written: Written = { collections: {}, streams: {}, tombstones: {}, drafts: [] }
    for (const part of load.records) await this.#writeRecords(part, written)
    for (const part of load.entries) await this.#writeEntries(part, written)
    if (Object.keys(written.tombstones).length > 0) await disk.syncFolder(paths.tombstones)
    return written
  }

  async #writeRecords({ collection, dirty }: RecordPart, written: Written): Promise<void> {
    const { disk, paths, ids, manifest, pageStores } = this.#options
    const { name } = collection.spec
    const draft = await pageStores.records(name).write(dirty)
    if (draft !== undefined) {
      written.collections[name] = draft.ref
      written.drafts.push(draft)
    }
    if (dirty.tombstones.size === 0) return
    const length = manifest.current.tombstones[name] ?? 0
    const target = { disk, folder: paths.tombstones, ids, root: manifest.current.root }
    written.tombstones[name] = await writeTombstones(target, name, { length, tombstones: dirty.tombstones })
  }

  async #writeEntries({ stream, dirty }: EntryPart, written: Written): Promise<void> {
    const draft = await this.#options.pageStores.entries(stream.spec.name).write(dirty)
    if (draft === undefined) return
    written.streams[stream.spec.name] = draft.ref
    written.drafts.push(draft)
  }

  /**
   * Files that the manifest no longer names, and tables that a start made again and no manifest named. One that stays
   * is removed at the next start.
   */
  async #removeOld({ before, after, tables }: Replaced): Promise<void> {
    const { disk, paths } = this.#options
    const named = namedFiles(paths, after)
    for (const path of new Set([...namedFiles(paths, before).keys(), ...tables]))
      if (!named.has(path)) await disk.unlink(path)
  }

  /** What a failed checkpoint wrote is removed at once: a disk that fills is filled by every attempt. */
  async #removeDrafts(): Promise<void> {
    const { disk, paths, manifest, mode, pageStores } = this.#options
    if (manifest.uncertain || mode.halted) return
    for (const path of unnamedFiles(disk, paths, { manifest: manifest.current, inUse: pageStores.tableFiles() }))
      if (!path.startsWith(`${paths.log}/`)) await disk.unlink(path)
  }
}

export const createCheckpointer = (options: CheckpointerOptions): Checkpointer => new CheckpointWriter(options)
