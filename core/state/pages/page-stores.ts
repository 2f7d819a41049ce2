/**
 * The pages of every collection and stream of the root: made when it is declared, loaded from what the manifest names.
 */
import { join } from 'node:path'
import { assert } from '../../base/assert.js'
import type { Ids } from '../../base/ids.js'
import { unsafeCast, type Json } from '../../base/schema.js'
import type { StoredCollection } from '../memory/collection.js'
import type { CollectionSpec, StreamSpec } from '../contract.js'
import type { Disk } from '../disk/disk.js'
import { createEntryPages, type EntryPages } from './entry-pages.js'
import type { Layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import type { ManifestHolder, PagesRef } from '../format/manifest.js'
import type { PageSetOptions } from './page-set.js'
import { createRecordPages, type Loaded, type RecordPages } from './record-pages.js'
import { readTombstones, tombstonePath } from './tombstones.js'
import type { Tuning } from '../tuning.js'

export interface PageStoresOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly ids: Ids
  readonly manifest: ManifestHolder
  readonly tuning: Tuning
  readonly acceptLoss: boolean
  readonly onDamage: (fault: Fault) => void
}

export interface PageStores {
  makeRecords<T extends object>(spec: CollectionSpec<T>): RecordPages<T>
  makeEntries<E extends Json>(spec: StreamSpec<E>): EntryPages<E>
  loadRecords(collection: StoredCollection<object>): void
  loadEntries(name: string): void
  records(name: string): RecordPages<object>
  entries(name: string): EntryPages<Json>
  /** What loading found. */
  readonly rebuilt: readonly string[]
  /** False if something of it is missing without a trace. */
  readonly whole: boolean
  readonly damage: Fault | undefined
  readonly lost: readonly Fault[]
  close(): Promise<void>
}

const empty: PagesRef = { pages: [], index: null }

export const createPageStores = ({
  disk,
  paths,
  ids,
  manifest,
  tuning,
  acceptLoss,
  onDamage,
}: PageStoresOptions): PageStores => {
  const records = new Map<string, RecordPages<object>>()
  const entries = new Map<string, EntryPages<Json>>()
  const rebuilt: string[] = []
  const lost: Fault[] = []
  let damage: Fault | undefined
  let whole = true
  const pageOptions = (folder: string, { name, version }: { name: string; version: number }): PageSetOptions => ({
    disk,
    folder: join(folder, name),
    ids,
    root: manifest.current.root,
    of: name,
    version,
    pageBytes: tuning.pageBytes,
    onDamage,
  })
  const note = (loaded: Loaded): void => {
    if (loaded.rebuilt !== undefined) rebuilt.push(loaded.rebuilt)
    lost.push(...loaded.lost)
    whole &&= loaded.whole
    damage ??= loaded.damage
  }
  const noteFaults = (faults: readonly Fault[]): void => {
    whole &&= faults.length === 0
    if (acceptLoss) lost.push(...faults)
    else damage ??= faults[0]
  }
  const recordsOf = (name: string): RecordPages<object> => {
    const found = records.get(name)
    assert(found, `no pages for collection ${name}`)
    return found
  }
  const entriesOf = (name: string): EntryPages<Json> => {
    const found = entries.get(name)
    assert(found, `no pages for stream ${name}`)
    return found
  }
  return {
    rebuilt,
    lost,
    get whole() {
      return whole
    },
    get damage() {
      return damage
    },
    records: recordsOf,
    entries: entriesOf,
    makeRecords: (spec) => {
      const made = createRecordPages(pageOptions(paths.data, spec), spec)
      records.set(spec.name, unsafeCast(made))
      return made
    },
    makeEntries: (spec) => {
      const made = createEntryPages(pageOptions(paths.streams, spec), spec)
      entries.set(spec.name, unsafeCast(made))
      return made
    },
    loadRecords: (collection) => {
      const { name } = collection.spec
      const { collections, tombstones } = manifest.current
      const length = tombstones[name] ?? 0
      if (length > 0)
        noteFaults(
          readTombstones(disk, tombstonePath(paths.tombstones, name), {
            length,
            visit: (id) => collection.loadTombstone(id),
          }),
        )
      note(recordsOf(name).load(collections[name] ?? empty, collection, acceptLoss))
    },
    loadEntries: (name) => note(entriesOf(name).load(manifest.current.streams[name] ?? empty, acceptLoss)),
    close: async () => {
      for (const pages of [...records.values(), ...entries.values()]) await pages.close()
    },
  }
}
