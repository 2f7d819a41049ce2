/** What one checkpoint writes to pages: everything that the log has up to a sequence, and what a fall leaves. */
import type { Ids } from '../../base/ids.js'
import type { Json } from '../../base/schema.js'
import type { Fall, Holder, PartitionLimits } from '../contract.js'
import type { Disk } from '../disk/disk.js'
import type { Layout } from '../format/layout.js'
import type { KeptRef, Manifest, ManifestHolder, PagesRef } from '../format/manifest.js'
import { forgets } from '../memory/removals.js'
import type { DirtyRecords, StoredCollection } from '../memory/stored-collection.js'
import type { DirtyEntries, StoredStream } from '../memory/stream.js'
import type { PagesDraft } from '../pages/page-store.js'
import type { PageStores } from '../pages/page-stores.js'
import { noTarget, type Target } from '../pages/target.js'
import { writeTombstones } from '../pages/tombstones.js'
import { fallOf, freeUpto, holderIn } from '../partitions/falls.js'
import { isDue, partitionIn } from '../partitions/listing.js'
import { newestOf, pruned, turned, usualLimits } from '../partitions/partitions.js'

export interface RecordPart {
  readonly collection: StoredCollection<object>
  readonly dirty: DirtyRecords<object>
}
export interface EntryPart {
  readonly stream: StoredStream<Json>
  readonly dirty: DirtyEntries
}
/** Everything that became durable up to one sequence and is on no page yet. */
export interface Load {
  readonly sequence: number
  /** Stamps of the last commit in it, and of the latest. */
  readonly t: number
  readonly latest: number
  readonly records: readonly RecordPart[]
  readonly entries: readonly EntryPart[]
}
export interface Written {
  readonly collections: Record<string, PagesRef>
  readonly streams: Record<string, PagesRef>
  readonly tombstones: Record<string, number>
  readonly kinds: Record<string, Manifest['kinds'][string]>
  readonly drafts: PagesDraft[]
}
/** The partitions of a kind that are to fall, up to this one. */
export interface Wanted {
  readonly kind: string
  readonly upto: number
  /** What follows falls no further than up to this one. */
  readonly free: number
}
/** What a checkpoint does beside moving the log to pages. */
export interface Order {
  readonly wanted?: Wanted
  /** Kinds whose newest partition ends. */
  readonly closing?: ReadonlySet<string> | undefined
}

export interface PassOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly ids: Ids
  readonly manifest: ManifestHolder
  readonly pageStores: PageStores
  /** When partitions of a kind close; the usual limits where nothing is said. */
  readonly limits: ReadonlyMap<string, PartitionLimits>
}

export class CheckpointPass {
  readonly written: Written = { collections: {}, streams: {}, tombstones: {}, kinds: {}, drafts: [] }
  readonly #options: PassOptions
  readonly #load: Load
  readonly #wanted: Wanted | undefined
  readonly #closing: ReadonlySet<string>
  readonly #before: Manifest
  /** What holds dependents of the kind that falls, and up to where they fall. */
  #holder: Holder | undefined
  #free = 0

  constructor(options: PassOptions, load: Load, { wanted, closing = new Set() }: Order) {
    this.#options = options
    this.#load = load
    this.#wanted = wanted
    this.#closing = closing
    this.#before = options.manifest.current
  }

  /** What leads a kind before what follows: that falls as far as nothing holds it that stays. */
  async write(): Promise<void> {
    const { disk, paths } = this.#options
    this.#turnKinds()
    const isLeader = ({ collection: { spec } }: RecordPart): boolean => spec.kept?.since !== undefined
    for (const part of this.#load.records.filter(isLeader)) await this.#writeRecords(part)
    this.#findHolder()
    for (const part of this.#load.records.filter((one) => !isLeader(one))) await this.#writeRecords(part)
    for (const part of this.#load.entries) await this.#writeEntries(part)
    if (Object.keys(this.written.tombstones).length > 0) await disk.syncFolder(paths.tombstones)
  }

  /** The manifest that names what was written and forgets the log before it. */
  manifestBehind(current: Manifest): Manifest {
    const { collections, streams, tombstones, kinds } = this.written
    const { sequence, t } = this.#load
    const next = {
      ...current,
      sequence,
      t,
      segments: current.segments.filter(({ first }) => first > sequence),
      collections: { ...current.collections, ...collections },
      streams: { ...current.streams, ...streams },
      tombstones: this.#buried({ ...current.tombstones, ...tombstones }),
      kinds: { ...current.kinds, ...kinds },
    }
    return { ...next, kinds: pruned(next) }
  }

  /** Collections that forget have none: those from before are on no page any more. */
  #buried(tombstones: Manifest['tombstones']): Manifest['tombstones'] {
    const { records } = this.#load
    const forgetting = new Set(records.flatMap(({ collection: { spec } }) => (forgets(spec) ? [spec.name] : [])))
    return Object.fromEntries(Object.entries(tombstones).filter(([name]) => !forgetting.has(name)))
  }

  /** What fell with it. */
  get fall(): Fall | undefined {
    if (this.#wanted === undefined) return undefined
    const facts = { ...this.#wanted, free: this.#free, holder: this.#holder }
    return fallOf(this.#before, facts, this.#options.pageStores.leads)
  }

  /** The partitions that this checkpoint writes to. */
  #turnKinds(): void {
    for (const kind of this.#changedKinds()) {
      const known = this.#before.kinds[kind]
      const fall = this.#wanted?.kind === kind ? this.#wanted.upto : 0
      this.written.kinds[kind] = turned(known, { t: this.#load.latest, fall, ...this.#newest(kind) })
    }
  }

  #newest(kind: string): { readonly isDue: boolean; readonly isFilled: boolean } {
    const known = this.#before.kinds[kind]
    const ref = known === undefined ? undefined : newestOf(known)
    if (ref === undefined) return { isDue: false, isFilled: false }
    const partition = partitionIn(this.#before, { kind, ref }, this.#options.pageStores.leads)
    const limits = this.#options.limits.get(kind) ?? usualLimits
    const isDueNow = this.#closing.has(kind) || isDue(partition, limits, this.#load.t)
    return { isDue: isDueNow, isFilled: partition.shares.length > 0 }
  }

  #changedKinds(): ReadonlySet<string> {
    const { records, entries } = this.#load
    const kinds = new Set(this.#closing)
    if (this.#wanted !== undefined) kinds.add(this.#wanted.kind)
    for (const { collection, dirty } of records)
      if (dirty.records.size > 0 || dirty.tombstones.size > 0)
        this.#addKind(kinds, this.#keptAs('data', collection.spec))
    for (const { stream, dirty } of entries)
      if (dirty.owners.size > 0) this.#addKind(kinds, this.#keptAs('streams', stream.spec))
    return kinds
  }

  #addKind(kinds: Set<string>, kept: KeptRef | undefined): void {
    if (kept !== undefined) kinds.add(kept.kind)
  }

  #keptAs(where: 'data' | 'streams', { name, kept }: { name: string; kept?: { kind: string } }): KeptRef | undefined {
    const stores = where === 'data' ? this.#before.collections : this.#before.streams
    return stores[name]?.kept ?? (kept === undefined ? undefined : { kind: kept.kind })
  }

  #targetOf(kept: KeptRef | undefined, upto: number): Target {
    if (kept === undefined) return noTarget
    const kind = this.written.kinds[kept.kind] ?? this.#before.kinds[kept.kind]
    const part = kind === undefined ? undefined : newestOf(kind)?.no
    return { part, kept, fall: kept.kind === this.#wanted?.kind ? upto : 0 }
  }

  #findHolder(): void {
    if (this.#wanted === undefined) return
    const { kind, upto, free } = this.#wanted
    const { leads } = this.#options.pageStores
    const after = this.manifestBehind(this.#before)
    const ref = this.written.kinds[kind]
    this.#holder = holderIn(after, { kind, fall: ref?.fell ?? upto, leads })
    const known = this.#before.kinds[kind] ?? { partitions: [], fell: 0 }
    this.#free = Math.min(free, freeUpto(known, { upto, holder: this.#holder }))
  }

  async #writeRecords({ collection: { spec }, dirty }: RecordPart): Promise<void> {
    const { pageStores } = this.#options
    const leads = spec.kept?.since !== undefined
    const target = this.#targetOf(this.#keptAs('data', spec), leads ? (this.#wanted?.upto ?? 0) : this.#free)
    const draft = await pageStores.records(spec.name).write(dirty, target)
    if (draft !== undefined) {
      this.written.collections[spec.name] = draft.ref
      this.written.drafts.push(draft)
    }
    if (dirty.tombstones.size > 0) await this.#writeTombstones(spec.name, dirty.tombstones)
  }

  async #writeTombstones(name: string, tombstones: ReadonlyMap<string, string>): Promise<void> {
    const { disk, paths, ids } = this.#options
    const length = this.#before.tombstones[name] ?? 0
    const target = { disk, folder: paths.tombstones, ids, root: this.#before.root }
    this.written.tombstones[name] = await writeTombstones(target, name, { length, tombstones })
  }

  async #writeEntries({ stream: { spec }, dirty }: EntryPart): Promise<void> {
    const target = this.#targetOf(this.#keptAs('streams', spec), this.#free)
    const draft = await this.#options.pageStores.entries(spec.name).write(dirty, target)
    if (draft === undefined) return
    this.written.streams[spec.name] = draft.ref
    this.written.drafts.push(draft)
  }
}
