/** What an open root is made of, and whether it may be written to. */
import type { Clock } from '../../base/clock.js'
import type { IdSource } from '../../base/ids.js'
import { createMeter, paceText, type Pace } from '../../base/text/progress.js'
import type { Log } from '../../base/text/log.js'
import { fault } from '../../base/assert.js'
import { createPause } from '../../base/turns.js'
import type { PartitionLimits } from '../contract.js'
import type { Disk } from '../disk/disk.js'
import { createBallast, makeRoom, type Ballast } from '../disk/ballast.js'
import type { Checkpointer } from './checkpoint.js'
import type { Merger } from './merger.js'
import { gateDisk } from '../disk/gate.js'
import { layout, type Layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import type { ManifestHolder } from '../format/manifest.js'
import type { LogKeeper } from '../log/log-keeper.js'
import { createPins, type Pins } from '../disk/pins.js'
import { prepareRoot } from '../root/prepare.js'
import { createRootForms, type RootForms } from '../root/root-forms.js'
import { PageStores } from '../pages/page-stores.js'
import { createSideFiles, type SideFiles } from '../side/side-files.js'
import type { ReadOnlyReason } from '../storage-errors.js'
import { createStorageMode, type StorageMode } from '../disk/storage-mode.js'
import { readRoot } from '../root/root-document.js'
import { createStore, type Store } from './store.js'
import { createHands, type StateHands } from '../memory/hands.js'
import { createTransactions, type Publish, type Transactions } from '../memory/transaction.js'
import { defaultTuning, type Tuning } from '../tuning.js'

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
  /** Told of damage that is met when something is read, each time. */
  readonly onDamage?: (fault: Fault) => void
}

/** From the end of recovery on. */
export interface Running {
  readonly keeper: LogKeeper
  readonly checkpointer: Checkpointer
  readonly merger: Merger
}

/** Whether the root may be written to, and with what. */
export interface Access {
  readonly mode: StorageMode
  readonly owned: () => boolean
  running: Running | undefined
}

/** An open root: its parts, and how far it has come. */
export interface Root {
  readonly options: OpenStateOptions
  readonly tuning: Tuning
  readonly paths: Layout
  readonly access: Access
  readonly pins: Pins
  readonly ballast: Ballast
  readonly manifest: ManifestHolder
  readonly forms: RootForms
  /** Why the manifest cannot be used. */
  readonly broken: Fault | undefined
  readonly pageStores: PageStores
  readonly store: Store
  readonly hands: StateHands
  readonly sideFiles: SideFiles
  readonly transactions: Transactions
  /** When partitions of a kind close, as somebody has asked for. */
  readonly limits: Map<string, PartitionLimits>
  isLoaded: boolean
  closing: Promise<boolean> | undefined
}

export const runningOf = ({ running }: Access): Running => {
  if (running === undefined) throw fault('the state is not loaded')
  return running
}

export const refuse = ({ mode, running }: Access, reason: ReadOnlyReason): void =>
  running === undefined ? mode.refuse(reason) : running.keeper.refuse(reason)

export const isHalted = (access: Access): boolean => {
  const { mode, owned } = access
  if (!mode.halted && !owned()) refuse(access, 'lock_lost')
  return mode.halted
}

/** Everything of a root that is there before it is read. */
export const prepare = async (options: OpenStateOptions): Promise<Root> => {
  const { root, ids, generation, rootId, owned = () => true } = options
  const mode = createStorageMode()
  const access: Access = { mode, owned, running: undefined }
  const tuning = { ...defaultTuning, ...options.tuning }
  const paths = layout(root)
  const pins = createPins(gateDisk(options.disk, { wasHalted: () => mode.halted, isHalted: () => isHalted(access) }))
  const { disk } = pins
  await makeRoom(disk, root, paths.ballast)
  const { manifest, damage } = await prepareRoot({ disk, paths, ids, generation, rootId })
  const parts = { options, tuning, paths, access, pins, manifest }
  const pageStores = pageStoresOf(parts)
  const hands = createHands()
  const store = createStore({ pageStores, madeAt: readRoot({ root, disk })?.created_at_ms ?? 0, hands })
  return {
    ...parts,
    forms: createRootForms({ disk, root }),
    broken: damage,
    ballast: createBallast(disk, paths.ballast, tuning.ballastBytes),
    pageStores,
    store,
    hands,
    sideFiles: createSideFiles({
      disk,
      paths,
      mode,
      refuse: (reason) => refuse(access, reason),
      freeBytes: tuning.freeBytes,
    }),
    transactions: transactionsOf(parts, store),
    limits: new Map(),
    isLoaded: false,
    closing: undefined,
  }
}

type Parts = Pick<Root, 'options' | 'tuning' | 'paths' | 'access' | 'pins' | 'manifest'>

/** How often a start tells how far it is with making tables again. */
const tellEveryMs = 5000

/** Leaves that a checkpoint writes in one turn of the event loop: the more, the further the log has grown meanwhile. */
const leavesAtOnce = (segments: number): number => Math.min(Math.ceil(4 * segments), 64)

const pageStoresOf = ({ options, tuning, paths, access, pins: { disk }, manifest }: Parts): PageStores => {
  const { ids, clock, log } = options
  const onDamage = (fault: Fault): void => {
    refuse(access, 'damaged')
    options.onDamage?.(fault)
  }
  const show = (pace: Pace): void => log.info('an index is being made again', { progress: paceText(pace) })
  const progress = createMeter({ clock, everyMs: tellEveryMs, show })
  const pause = createPause(() => leavesAtOnce((access.running?.keeper.commits.written ?? 0) / tuning.segmentBytes))
  return new PageStores({ disk, paths, ids, manifest, tuning, progress, pause, onDamage })
}

const transactionsOf = ({ options, tuning, access }: Parts, store: Store): Transactions => {
  const { clock, log, publish } = options
  return createTransactions({
    shapes: store,
    commits: () => runningOf(access).keeper.commits,
    mode: access.mode,
    clock,
    log,
    publish,
    longestLine: tuning.longestLine,
  })
}
