/** Opens a state root: what plugins declare is loaded, then every change goes through `commit`. */
import type { Clock } from '../clock.js'
import type { Ids } from '../ids.js'
import type { Log } from '../log.js'
import { fault } from '../assert.js'
import type { State, StorageHealth } from './contract.js'
import type { Disk } from './disk.js'
import { createBallast } from './ballast.js'
import { gateDisk } from './gate.js'
import { layout } from './layout.js'
import type { Layout } from './layout.js'
import { createLogKeeper } from './log-keeper.js'
import type { LogKeeper } from './log-keeper.js'
import { emptyManifest, holdManifest, readManifest } from './manifest.js'
import type { ManifestHolder, SegmentRef } from './manifest.js'
import { recoverLog } from './recovery.js'
import type { RecoveryReport } from './recovery.js'
import { createSideFiles } from './side-files.js'
import { createStorageMode } from './storage-mode.js'
import { createStore } from './store.js'
import type { Shelves } from './store.js'
import { createTransactions } from './transaction.js'
import type { Publish } from './transaction.js'
import { defaultTuning } from './tuning.js'
import type { Tuning } from './tuning.js'
import { sweepTemps } from './temps.js'

export type { RecoveryReport } from './recovery.js'

export interface OpenStateOptions {
  readonly root: string
  /** The id in `root.json`; made at random for a root without one. */
  readonly rootId?: string
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly publish: Publish
  /** Of the lock: it is in the header of every segment. */
  readonly generation: number
  readonly tuning?: Partial<Tuning>
  /** Cuts damage off instead of starting read-only: an operator decided so. What is cut goes to the quarantine. */
  readonly acceptLoss?: boolean
}

export interface OpenState {
  readonly state: State
  /** Call once, after everything is declared and before any commit. */
  load(): Promise<RecoveryReport>
  /** Nothing is written any more from this moment on, such as after the lock was lost. */
  halt(reason: 'lock_lost'): void
  /** Tries to leave a read-only mode that can pass. */
  recover(): Promise<boolean>
  /** Waits for what was committed, then closes cleanly. */
  close(): Promise<void>
}

const folders = (paths: Layout): readonly string[] => [paths.log, paths.data, paths.streams, paths.tombstones, paths.quarantine]

/** Makes the folders and, before anything else is in them, the manifest. */
const prepare = async (disk: Disk, paths: Layout, fresh: () => ReturnType<typeof emptyManifest>): Promise<ManifestHolder | RecoveryReport['damage']> => {
  await disk.makeFolder(paths.root)
  await sweepTemps(disk, paths.root)
  for (const folder of folders(paths)) await disk.makeFolder(folder)
  await disk.syncFolder(paths.root)
  const read = readManifest(disk, paths.manifest)
  if (!read.ok) return read.fault
  if (read.manifest !== undefined) return holdManifest(disk, paths.manifest, read.manifest)
  const orphan = [paths.log, paths.data, paths.streams].find((folder) => disk.list(folder).length > 0)
  if (orphan !== undefined) return { file: paths.manifest, offset: 0, rule: `the manifest is missing, but ${orphan} is not empty` }
  const manifest = holdManifest(disk, paths.manifest, fresh())
  await manifest.update((current) => current)
  return manifest
}

const noShelves: Shelves = {
  collection: () => ({ has: () => false, read: () => { throw fault('nothing is on pages') } }),
  stream: () => ({ length: () => 0, read: () => [], owners: () => [] }),
}

export const openState = async (options: OpenStateOptions): Promise<OpenState> => {
  const { root, clock, ids, log, generation } = options
  const tuning = { ...defaultTuning, ...options.tuning }
  const paths = layout(root)
  const mode = createStorageMode()
  const disk = gateDisk(options.disk, () => mode.halted)
  const ballast = createBallast(disk, paths.ballast, tuning.ballastBytes)
  const store = createStore(noShelves)
  const sideFiles = createSideFiles({ disk, paths, mode, refuse: (reason) => keeper?.refuse(reason) })
  let keeper: LogKeeper | undefined
  const theKeeper = (): LogKeeper => {
    if (keeper === undefined) throw fault('the state is not loaded')
    return keeper
  }
  const transactions = createTransactions({
    shapes: store, commits: () => theKeeper().commits, mode, clock, log, publish: options.publish, longestLine: tuning.longestLine,
  })

  /** From here on commits are taken. */
  const begin = async (sealed: readonly SegmentRef[], t: number): Promise<void> => {
    transactions.resumeAt(t)
    await theKeeper().start(sealed)
    await ballast.place().catch((error: unknown) => log.warn('the ballast could not be written', { error }))
    mode.recover()
  }
  const load = async (): Promise<RecoveryReport> => {
    const started = clock.elapsed()
    store.freeze()
    const prepared = await prepare(disk, paths, () => emptyManifest(options.rootId ?? ids.random(16), generation))
    const usable = prepared !== undefined && 'update' in prepared
    const manifest = usable ? prepared : holdManifest(disk, paths.manifest, emptyManifest('', generation))
    const found = usable ? await recoverLog({ disk, paths, manifest, store, acceptLoss: options.acceptLoss === true }) : undefined
    const damage = usable ? found?.damage : prepared
    keeper = createLogKeeper({ disk, paths, manifest, mode, clock, ids, log, tuning, generation, sequence: found?.replay.sequence ?? 0, advanced: () => undefined })
    const aside = damage === undefined ? await sideFiles.load() : { swept: [], quarantined: [] }
    if (damage === undefined) await begin(found?.sealed ?? [], found?.replay.t ?? 0)
    else mode.refuse('damaged')
    return {
      sequence: keeper.commits.sequence, replayed: found?.replay.lines ?? 0, segments: found?.replay.sound.length ?? 0, torn: found?.torn, damage,
      ...aside, rebuilt: found?.rebuilt ?? [], lost: found?.lost ?? [], milliseconds: clock.elapsed() - started,
    }
  }
  const close = async (): Promise<void> => {
    if (mode.reason === 'disk_full') await ballast.release()
    await keeper?.close()
    mode.close()
  }
  const health: StorageHealth = {
    get mode() { return mode.mode },
    get reason() { return mode.reason },
    get action() { return mode.action },
    get writeErrors() { return mode.writeErrors },
    get undone() { return keeper?.commits.undone ?? 0 },
    get sequence() { return keeper?.commits.sequence ?? 0 },
    get generation() { return generation },
  }
  const state: State = {
    collection: store.declareCollection,
    stream: store.declareStream,
    document: sideFiles.documents.document,
    blobs: sideFiles.blobs.area,
    commit: transactions.commit,
    durable: transactions.durable,
    health,
  }
  return { state, load, close, halt: (reason) => theKeeper().refuse(reason), recover: () => theKeeper().recover() }
}
