/** One life of a store on a simulated disk: as the daemon opens it, with a few shapes of state of its own. */
import type { Blobs, BlobRef, Collection, CollectionSpec, Document, Stream } from '../../core/state/contract.js'
import { unsafeCast } from '../../core/base/schema.js'
import type { Declarations } from '../../core/state/inspect/verify.js'
import type { OpenState, RecoveryReport } from '../../core/state/store/root.js'
import type { Tuning } from '../../core/state/tuning.js'
import type { Random } from './random.js'
import type { SimulatedDisk } from './simulated-disk.js'
import { createManualClock, createSeededIds, silent, type ManualClock } from './stillness.js'

export interface Item {
  readonly id: string
  readonly owner: string
  readonly n: number
  readonly done: boolean
  readonly text: string
  readonly blob?: BlobRef
}
export type Note = { readonly version: number }

export interface Life {
  readonly disk: SimulatedDisk
  readonly clock: ManualClock
  readonly opened: OpenState
  readonly report: RecoveryReport
  readonly generation: number
  readonly rootId: string
  /** Of the queue's declaration. */
  readonly version: number
  readonly items: Collection<Item>
  /** Ids of removed records come again. */
  readonly queue: Collection<Item>
  readonly journal: Stream<string>
  readonly note: Document<Note>
  readonly blobs: Blobs
}

/** The compiled store that is tested: the daemon's own, or a mutant of it. */
export interface Engine {
  readonly openState: typeof import('../../core/state/store/root.js').openState
  readonly openRootDocument: typeof import('../../core/state/root/root-document.js').openRootDocument
  readonly verifyRoot: typeof import('../../core/state/inspect/verify.js').verifyRoot
}
/** The store as it was compiled into this folder (the one that holds `core/`). */
export const loadEngine = async (folder = new URL('../../', import.meta.url)): Promise<Engine> => {
  const root: Pick<Engine, 'openState'> = unsafeCast(await import(new URL('core/state/store/root.js', folder).href))
  const document: Pick<Engine, 'openRootDocument'> = unsafeCast(
    await import(new URL('core/state/root/root-document.js', folder).href),
  )
  const verify: Pick<Engine, 'verifyRoot'> = unsafeCast(
    await import(new URL('core/state/inspect/verify.js', folder).href),
  )
  return { ...root, ...document, ...verify }
}

export const root = '/r'

/** So small that every workload crosses every border of the store. */
const tiny: Tuning = {
  segmentBytes: 900,
  longestLine: 100_000,
  ballastBytes: 0,
  freeBytes: 0,
  watermarkMs: 1000,
  retryMs: 1000,
  longestRetryMs: 30_000,
  pageBytes: 1000,
  openPages: 3,
  tables: { blockRows: 3, levelRows: 4, fanOut: 2, fullRows: 40 },
  blockBytes: 300,
  recordBytes: 2000,
}

export interface LifeOptions {
  readonly engine: Engine
  readonly disk: SimulatedDisk
  readonly random: Random
  readonly startedAt?: number
  /** As if root.json had been opened; absent: it is. */ readonly opening?: {
    readonly generation: number
    readonly root_id: string
  }
  readonly tuning?: Partial<Tuning>
  /** Of the queue's declaration: where another life had another one, its tables are made again from the pages. */
  readonly version?: number
}

const itemsOf: Pick<CollectionSpec<Item>, 'id' | 'settled' | 'indexes'> = {
  id: (item) => item.id,
  settled: (item) => item.done,
  indexes: {
    all: { group: () => 'all' },
    by_owner: { group: (item) => item.owner, sort: (item) => String(item.n).padStart(6, '0') },
  },
}

const itemsSpec: CollectionSpec<Item> = { name: 'items', version: 1, ...itemsOf }
const queueSpec = (version: number): CollectionSpec<Item> => ({
  name: 'queue',
  version,
  removed: 'forgotten',
  ...itemsOf,
})
/** The declarations of a life, for a check of what it left. */
export const declaredIn = ({ version }: Pick<Life, 'version'>): Declarations => ({
  collections: new Map([
    ['items', unsafeCast(itemsSpec)],
    ['queue', unsafeCast(queueSpec(version))],
  ]),
  streams: new Map(),
})

export const openLife = async (options: LifeOptions): Promise<Life> => {
  const { engine, disk, random, startedAt, opening, tuning, version = 1 } = options
  const clock = createManualClock(startedAt)
  const ids = createSeededIds(random)
  const { generation, root_id } = opening ?? (await engine.openRootDocument({ root, disk, clock, ids }))
  const opened = await engine.openState({
    root,
    rootId: root_id,
    disk,
    clock,
    ids,
    log: silent,
    publish: () => {},
    generation,
    tuning: { ...tiny, ...tuning },
  })
  const items = opened.state.collection(itemsSpec)
  const queue = opened.state.collection(queueSpec(version))
  const journal = opened.state.stream<string>({ name: 'journal', version: 1 })
  const report = await opened.load()
  return {
    disk,
    clock,
    opened,
    report,
    generation,
    rootId: root_id,
    version,
    items,
    queue,
    journal,
    note: opened.state.document<Note>('note'),
    blobs: opened.state.blobs('bytes'),
  }
}
