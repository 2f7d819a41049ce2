/**
 * The pages of every collection and stream of the root: made when it is declared, loaded from what the manifest names.
 */
import { join } from 'node:path'
import { assert } from '../../base/assert.js'
import type { Ids } from '../../base/ids.js'
import type { Progress } from '../../base/text/progress.js'
import type { Pause } from '../../base/turns.js'
import type { Json } from '../../base/schema.js'
import { forgets } from '../memory/removals.js'
import type { StoredCollection } from '../memory/stored-collection.js'
import type { CollectionSpec, StreamSpec } from '../contract.js'
import type { Disk } from '../disk/disk.js'
import { EntryPages } from './entry-pages.js'
import { tombstoneIdentity } from '../format/identity.js'
import type { Layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import type { ManifestHolder, PagesRef } from '../format/manifest.js'
import { OpenPages } from './open-pages.js'
import type { PageOptions } from './page-file.js'
import { withFaults, type Loaded, type Upkeep } from './page-store.js'
import { createRecordPages, type RecordPages } from './record-pages.js'
import { carriedOver } from '../partitions/partitions.js'
import { readTombstones, tombstonePath } from './tombstones.js'
import { createCacheRoom, type CacheRoom } from '../../base/memory/sized-cache.js'
import { createBlockCache, type BlockCache } from '../tables/block-cache.js'
import type { Tuning } from '../tuning.js'

export interface PageStoresOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly ids: Ids
  readonly manifest: ManifestHolder
  readonly tuning: Tuning
  readonly progress: Progress
  /** Called behind each leaf of a table that a checkpoint writes. */
  readonly pause: Pause
  readonly onDamage: (fault: Fault) => void
}

type Declared = Pick<StreamSpec<Json>, 'name' | 'version' | 'kept'>

const empty: PagesRef = { pages: [], tables: [], index: null }

export class PageStores {
  /** What loading found. */
  readonly rebuilt: string[] = []
  /** False if something of it is missing without a trace. */
  whole = true
  damage: Fault | undefined
  readonly #options: PageStoresOptions
  readonly #files: OpenPages
  readonly #blocks: BlockCache
  readonly #room: CacheRoom
  readonly #records = new Map<string, RecordPages<object>>()
  readonly #entries = new Map<string, EntryPages<Json>>()
  /** What was there when something was loaded first, by folder. */
  readonly #there = new Map<string, ReadonlySet<string>>()
  readonly #kinds = { collections: new Map<string, string>(), streams: new Map<string, string>() }
  readonly #leaders = new Set<string>()
  readonly #undeclared = new Set<string>()

  constructor(options: PageStoresOptions) {
    this.#options = options
    this.#files = new OpenPages(options.tuning.openPages)
    this.#blocks = createBlockCache(options.tuning.blockBytes)
    this.#room = createCacheRoom(options.tuning.recordBytes)
  }

  makeRecords<T extends object>(spec: CollectionSpec<T>, isDeclared: boolean): RecordPages<T> {
    this.#declare(spec, 'collections', isDeclared)
    if (spec.kept?.since !== undefined) this.#leaders.add(spec.name)
    const options = this.#pageOptions(this.#options.paths.data, spec)
    const made = createRecordPages(options, spec, { room: this.#room, isDeclared })
    this.#records.set(spec.name, made)
    return made
  }

  makeEntries<E extends Json>(spec: StreamSpec<E>, isDeclared: boolean): EntryPages<E> {
    this.#declare(spec, 'streams', isDeclared)
    const made = new EntryPages<E>(this.#pageOptions(this.#options.paths.streams, spec))
    this.#entries.set(spec.name, made)
    return made
  }

  /** Once everything is declared: everything that is kept in partitions is in one from now on. */
  carryOver(): void {
    const { manifest } = this.#options
    manifest.adopt(carriedOver(manifest.current, this.#kinds))
  }

  /** Whether a collection leads its kind. */
  readonly leads = (collection: string): boolean => this.#leaders.has(collection)

  /** A collection or stream of the kind that nobody declares now. */
  undeclaredOf(kind: string): string | undefined {
    const { collections, streams } = this.#options.manifest.current
    const refs = [...Object.entries(collections), ...Object.entries(streams)]
    return refs.find(([name, { kept }]) => kept?.kind === kind && this.#undeclared.has(name))?.[0]
  }

  async loadRecords(collection: StoredCollection<object>): Promise<void> {
    const { manifest } = this.#options
    const { name } = collection.spec
    const forgotten: string[] = []
    this.#readTombstones(name, (id) =>
      forgets(collection.spec) ? void forgotten.push(id) : collection.loadTombstone(id),
    )
    this.#note(await this.records(name).load(manifest.current.collections[name] ?? empty, collection))
    // They are from a time when it buried what it removed: the next checkpoint leaves nothing of them.
    for (const id of forgotten) collection.replayForget(id)
  }

  async loadEntries(name: string): Promise<void> {
    const { manifest } = this.#options
    this.#note(await this.entries(name).load(manifest.current.streams[name] ?? empty))
  }

  records(name: string): RecordPages<object> {
    const found = this.#records.get(name)
    assert(found, `no pages for collection ${name}`)
    return found
  }

  entries(name: string): EntryPages<Json> {
    const found = this.#entries.get(name)
    assert(found, `no pages for stream ${name}`)
    return found
  }

  /** All of them, as what is to be kept in order. */
  get all(): readonly Upkeep[] {
    return [...this.#records.values(), ...this.#entries.values()].map((pages) => pages.upkeep)
  }

  /** The tables that are read from. */
  tableFiles(): ReadonlySet<string> {
    return new Set(this.all.flatMap((store) => store.tableFiles()))
  }

  /** Tables that no manifest names yet, and one will. */
  mergedFiles(): readonly string[] {
    return this.all.flatMap((store) => store.mergedFiles())
  }

  close(): void {
    for (const store of this.all) store.close()
  }

  #declare(spec: Declared, where: 'collections' | 'streams', isDeclared: boolean): void {
    if (!isDeclared) this.#undeclared.add(spec.name)
    if (spec.kept !== undefined) this.#kinds[where].set(spec.name, spec.kept.kind)
  }

  #pageOptions(folder: string, { name, version }: Declared): PageOptions {
    const { disk, ids, manifest, tuning, progress, pause, onDamage } = this.#options
    const { root } = manifest.current
    const { pageBytes, tables } = tuning
    const shared = { files: this.#files, blocks: this.#blocks, progress, pause, onDamage }
    const wasThere = (): boolean => this.#foldersIn(folder).has(name)
    return { disk, folder: join(folder, name), wasThere, ids, root, of: name, version, pageBytes, tables, ...shared }
  }

  /** A start would look for a folder of each collection, of which most are not there. */
  #foldersIn(folder: string): ReadonlySet<string> {
    const found = this.#there.get(folder) ?? new Set(this.#options.disk.list(folder))
    this.#there.set(folder, found)
    return found
  }

  #readTombstones(name: string, visit: (id: string) => void): void {
    const { disk, paths, manifest } = this.#options
    const length = manifest.current.tombstones[name] ?? 0
    if (length === 0) return
    const faults = readTombstones(disk, tombstonePath(paths.tombstones, name), {
      length,
      identity: tombstoneIdentity({ of: name, root: manifest.current.root }),
      visit,
    })
    this.#note(withFaults(faults))
  }

  #note({ whole, rebuilt, damage }: Loaded): void {
    if (rebuilt !== undefined) this.rebuilt.push(rebuilt)
    this.whole &&= whole
    this.damage ??= damage
  }
}
