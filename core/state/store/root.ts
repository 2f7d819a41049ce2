/** Opens a state root: what plugins declare is loaded, then every change goes through `commit`. */
import type { State, StorageHealth } from '../contract.js'
import type { Metric } from '../../metrics/contract.js'
import type { Cut } from '../inspect/backup.js'
import { load } from './load-root.js'
import { prepare, refuse, runningOf, type OpenStateOptions, type Root, type Running } from './open-root.js'
import type { RecoveryReport } from './recovery.js'
import { createRetention } from './retention.js'
import { takeSnapshot } from '../inspect/snapshot.js'

export type { OpenStateOptions } from './open-root.js'
export type { RecoveryReport } from './recovery.js'

export interface OpenState {
  readonly state: State
  /** Call once, after everything is declared and before any commit. */
  load(): Promise<RecoveryReport>
  /** Whoever reads a record from now on, or has put one, cannot write to it: others than we do. */
  freezeRecords(): void
  /** Nothing is written any more from this moment on, such as after the lock was lost. */
  halt(reason: 'lock_lost'): void
  /** What the log of commits has written in this life. */
  metrics(): readonly Metric[]
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

export const openState = async (options: OpenStateOptions): Promise<OpenState> => {
  const root = await prepare(options)
  const { access, manifest, paths, pins } = root
  return {
    state: stateOf(root),
    load: () => load(root),
    close: () => (root.closing ??= close(root)),
    freezeRecords: root.hands.freeze,
    halt: (reason) => refuse(access, reason),
    metrics: () => access.running?.keeper.commits.metrics ?? [],
    recover: () => runningOf(access).keeper.recover(),
    checkpoint: () => runningOf(access).checkpointer.run(),
    snapshot: (copy) => takeSnapshot({ keeper: runningOf(access).keeper, manifest, paths, pins }, copy),
  }
}

const close = async (root: Root): Promise<boolean> => {
  const {
    access: { mode, running },
    pageStores,
  } = root
  mode.leave()
  const marked = running === undefined || (await shut(root, running))
  mode.close()
  pageStores.close()
  await root.sideFiles.blobs.close()
  return marked
}

const shut = async (
  { access: { mode }, ballast, pageStores }: Root,
  { keeper, checkpointer, merger }: Running,
): Promise<boolean> => {
  await keeper.commits.drained()
  await merger.stop()
  await checkpointer.idle()
  if (mode.reason === 'disk_full') {
    await ballast.release()
    await keeper.recover('at any cost')
  }
  const isBehind = keeper.dirty || pageStores.mergedFiles().length > 0
  if (mode.mode === 'ok' && isBehind) await checkpointer.run()
  return keeper.close()
}

const stateOf = (root: Root): State => {
  const { store, sideFiles, transactions } = root
  return {
    collection: store.declareCollection,
    stream: store.declareStream,
    document: sideFiles.documents.document,
    blobs: sideFiles.blobs.area,
    spools: sideFiles.spools.area,
    commit: (change) => transactions.commit(change),
    durable: (since) => transactions.durable(since),
    retention: createRetention(root),
    health: healthOf(root),
  }
}

const healthOf = (root: Root): StorageHealth => {
  const { access, options } = root
  const { mode } = access
  return {
    get mode() {
      return mode.shown
    },
    get loaded() {
      return root.isLoaded
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
      return access.running?.keeper.commits.undone ?? 0
    },
    get sequence() {
      return access.running?.keeper.commits.sequence ?? 0
    },
    generation: options.generation,
  }
}
