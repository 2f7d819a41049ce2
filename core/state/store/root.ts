/** Opens a state root: what plugins declare is loaded, then every change goes through `commit`. */
import type { Clock } from '../../base/clock.js'
import type { IdSource } from '../../base/ids.js'
import type { Log } from '../../base/log.js'
import { fault } from '../../base/assert.js'
import type { State, StorageHealth } from '../contract.js'
import type { Disk } from '../disk/disk.js'
import type { Cut } from '../inspect/backup.js'
import { createBallast, makeRoom } from '../disk/ballast.js'
import { createCheckpointer, type Checkpointer } from './checkpoint.js'
import { gateDisk } from '../disk/gate.js'
import { layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { createLogKeeper, type LogKeeper } from '../log/log-keeper.js'
import { createPins } from '../disk/pins.js'
import { prepareRoot } from '../root/prepare.js'
import { recoverLog, type LogRecovery, type RecoveryReport } from './recovery.js'
import { createPageStores } from '../pages/page-stores.js'
import { createSideFiles } from '../side/side-files.js'
import type { ReadOnlyReason } from '../storage-errors.js'
import { createStorageMode } from '../disk/storage-mode.js'
import { createStore } from './store.js'
import { takeSnapshot } from '../inspect/snapshot.js'
import { sweep } from '../pages/sweep.js'
import { createTransactions, type Publish } from '../memory/transaction.js'
import { defaultTuning, type Tuning } from '../tuning.js'

export type { RecoveryReport } from './recovery.js'

export interface OpenStateOptions {
  readonly root: string
  /** The id in `root.json`; made at random for a root without one. */
  readonly rootId?: string
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: IdSource
  readonly log: Log
  readonly publish: Publish
  /** Of the lock: it is in the header of every segment. */
  readonly generation: number
  /**
   * Asked before each batch is written, before it is acknowledged, and before files are named: false halts the state.
   */
  readonly owned?: () => boolean
  readonly tuning?: Partial<Tuning>
  /** Cuts damage off instead of starting read-only: an operator decided so. What is cut goes to the quarantine. */
  readonly acceptLoss?: boolean
  /** Told of damage that is met when something is read, each time. */
  readonly onDamage?: (fault: Fault) => void
}

export interface OpenState {
  readonly state: State
  /** Call once, after everything is declared and before any commit. */
  load(): Promise<RecoveryReport>
  /** Nothing is written any more from this moment on, such as after the lock was lost. */
  halt(reason: 'lock_lost'): void
  /** Tries to leave a read-only mode that can pass. */
  recover(): Promise<boolean>
  /** Moves what the log holds to pages now; false if that failed, and then the log still holds it. */
  checkpoint(): Promise<boolean>
  /**
   * Runs `copy` with the state as of one commit; what the cut names stays on disk until it is done. Commits go on
   * meanwhile.
   */
  snapshot<R>(copy: (cut: Cut) => Promise<R>): Promise<R>
  /**
   * Takes no further change, waits for what was committed, then closes. True if the log is marked clean; false if the
   * next start has to find out how it ends.
   */
  close(): Promise<boolean>
}

/** From the end of recovery on. */
interface Running {
  readonly keeper: LogKeeper
  readonly checkpointer: Checkpointer
}

export const openState = async (options: OpenStateOptions): Promise<OpenState> => {
  const { root, clock, ids, log, generation, acceptLoss = false, owned = () => true } = options
  const tuning = { ...defaultTuning, ...options.tuning }
  const paths = layout(root)
  const mode = createStorageMode()
  let running: Running | undefined
  const refuse = (reason: ReadOnlyReason): void =>
    running === undefined ? mode.refuse(reason) : running.keeper.refuse(reason)
  const isHalted = (): boolean => {
    if (!mode.halted && !owned()) refuse('lock_lost')
    return mode.halted
  }
  const pins = createPins(gateDisk(options.disk, { wasHalted: () => mode.halted, isHalted }))
  const { disk } = pins
  const ballast = createBallast(disk, paths.ballast, tuning.ballastBytes)
  await makeRoom(disk, root, paths.ballast)
  const { manifest, damage: broken } = await prepareRoot({ disk, paths, ids, generation, rootId: options.rootId })
  const onDamage = (fault: Fault): void => {
    refuse('damaged')
    options.onDamage?.(fault)
  }
  const pageStores = createPageStores({ disk, paths, ids, manifest, tuning, acceptLoss, onDamage })
  const store = createStore(pageStores)
  const sideFiles = createSideFiles({ disk, paths, mode, refuse, freeBytes: tuning.freeBytes })
  const theRunning = (): Running => {
    if (running === undefined) throw fault('the state is not loaded')
    return running
  }
  const transactions = createTransactions({
    shapes: store,
    commits: () => theRunning().keeper.commits,
    mode,
    clock,
    log,
    publish: options.publish,
    longestLine: tuning.longestLine,
  })
  const run = (sequence: number): Running => {
    const keeper: LogKeeper = createLogKeeper({
      disk,
      paths,
      manifest,
      mode,
      clock,
      ids,
      log,
      tuning,
      generation,
      sequence,
      isHalted,
      advanced: () => checkpointer.consider(),
    })
    const checkpointer = createCheckpointer({
      disk,
      paths,
      ids,
      log,
      manifest,
      mode,
      store,
      pageStores,
      keeper,
      segmentBytes: tuning.segmentBytes,
      stamp: () => transactions.last,
    })
    running = { keeper, checkpointer }
    return running
  }
  /**
   * From here on commits are taken. What was read is on the disk for certain before anything is removed on the strength
   * of it.
   */
  const begin = async ({ sealed, replay }: LogRecovery): Promise<string[]> => {
    transactions.resumeAt(replay.t)
    const { keeper, checkpointer } = run(replay.sequence)
    await keeper.start(sealed)
    const swept = await sweep(disk, paths, manifest.current)
    if (keeper.hasRoom())
      await ballast.place().catch((error: unknown) => log.warn('the ballast could not be written', { error }))
    if (!keeper.hasRoom()) refuse('disk_full')
    else mode.begin()
    if (replay.bytes >= tuning.segmentBytes || pageStores.rebuilt.length > 0) void checkpointer.run()
    return swept
  }
  const recoverAll = async (): Promise<{ found: LogRecovery; damage: Fault | undefined }> => {
    store.load()
    const found = await recoverLog({ disk, paths, manifest, store, acceptLoss, damage: broken ?? pageStores.damage })
    for (const collection of store.collections.values()) ids.goOnBehind(collection.everyId())
    return { found, damage: found.damage ?? pageStores.damage }
  }
  let loaded = false
  const load = async (): Promise<RecoveryReport> => {
    const started = clock.elapsed()
    const { found, damage } = await recoverAll()
    loaded = damage === undefined || (broken === undefined && pageStores.whole && found.whole)
    const aside = damage === undefined ? await sideFiles.load() : { swept: [], quarantined: [], spools: [] }
    const swept = damage === undefined ? await begin(found) : []
    if (damage !== undefined) {
      run(found.replay.sequence)
      mode.refuse('damaged')
    }
    return {
      sequence: found.replay.sequence,
      replayed: found.replay.lines,
      segments: found.replay.sound.length,
      torn: found.torn,
      damage,
      swept: [...swept, ...aside.swept],
      quarantined: aside.quarantined,
      spools: aside.spools,
      unclean: found.unclean,
      rebuilt: [...found.rebuilt, ...pageStores.rebuilt],
      lost: [...pageStores.lost, ...found.lost],
      milliseconds: clock.elapsed() - started,
    }
  }
  const shut = async ({ keeper, checkpointer }: Running): Promise<boolean> => {
    await keeper.commits.drained()
    await checkpointer.idle()
    if (mode.reason === 'disk_full') {
      await ballast.release()
      await keeper.recover('at any cost')
    }
    if (mode.mode === 'ok' && keeper.dirty) await checkpointer.run()
    return keeper.close()
  }
  const closeAll = async (): Promise<boolean> => {
    mode.leave()
    const marked = running === undefined || (await shut(running))
    mode.close()
    await pageStores.close()
    return marked
  }
  let closing: Promise<boolean> | undefined
  const close = (): Promise<boolean> => (closing ??= closeAll())
  const snapshot: OpenState['snapshot'] = (copy) =>
    takeSnapshot({ commits: theRunning().keeper.commits, manifest, paths, pins }, copy)
  const health: StorageHealth = {
    get mode() {
      return mode.shown
    },
    get loaded() {
      return loaded
    },
    get reason() {
      return mode.reason
    },
    get action() {
      return mode.action
    },
    get writeErrors() {
      return mode.writeErrors
    },
    get undone() {
      return running?.keeper.commits.undone ?? 0
    },
    get sequence() {
      return running?.keeper.commits.sequence ?? 0
    },
    get generation() {
      return generation
    },
  }
  const state: State = {
    collection: store.declareCollection,
    stream: store.declareStream,
    document: sideFiles.documents.document,
    blobs: sideFiles.blobs.area,
    spools: sideFiles.spools.area,
    commit: transactions.commit,
    durable: transactions.durable,
    health,
  }
  return {
    state,
    load,
    close,
    halt: refuse,
    recover: () => theRunning().keeper.recover(),
    checkpoint: () => theRunning().checkpointer.run(),
    snapshot,
  }
}
