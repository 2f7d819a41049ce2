/**
 * The checkpoint: what the log said moves to pages, then the manifest names
 * them and forgets the log. Commits go on meanwhile; the pause is that of
 * beginning a new segment.
 */
import { assert } from '../../base/assert.js'
import type { Log } from '../../base/text/log.js'
import type { Fall } from '../contract.js'
import type { LogKeeper } from '../log/log-keeper.js'
import type { Manifest } from '../format/manifest.js'
import type { Transactions } from '../memory/transaction.js'
import type { RootForms } from '../root/root-forms.js'
import { lastingReason } from '../storage-errors.js'
import type { StorageMode } from '../disk/storage-mode.js'
import {
  CheckpointPass,
  type Load,
  type Order,
  type PassOptions,
  type Wanted,
  type Written,
} from './checkpoint-pass.js'
import type { Store } from './store.js'
import type { PageStores } from '../pages/page-stores.js'
import { namedFiles, unnamedFiles } from '../pages/sweep.js'

export interface CheckpointerOptions extends PassOptions {
  readonly log: Log
  readonly mode: StorageMode
  readonly store: Store
  readonly keeper: LogKeeper
  readonly forms: RootForms
  /** Bytes of log that are worth a checkpoint. */
  readonly segmentBytes: number
  /** Called behind each that did not fail. */
  readonly done: () => void
  readonly transactions: Pick<Transactions, 'last' | 'takeLatest' | 'restoreLatest'>
}

export interface Checkpointer {
  /** Starts one in the background if the log has grown enough. */
  consider(): void
  /**
   * Runs one now, or waits for the one that runs unless the newest partitions of some kinds are to close. False: it
   * failed and everything is still in the log.
   */
  run(closing?: ReadonlySet<string>): Promise<boolean>
  /**
   * Runs one now in which partitions fall; `wanted` says which when no other runs any more, and may throw. Rejects with
   * the reason where it failed: then nothing fell.
   */
  fall(wanted: () => Wanted): Promise<Fall>
  /** Waits for one that runs. */
  idle(): Promise<void>
}

type Outcome = { readonly ok: true; readonly fall: Fall | undefined } | { readonly ok: false; readonly error: unknown }

interface Replaced {
  readonly before: Manifest
  readonly after: Manifest
  /** Tables that were read from until now. */
  readonly tables: ReadonlySet<string>
}

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

/** Tables that are there whether the manifest names them or not. */
const filesOf = (stores: PageStores): ReadonlySet<string> => new Set([...stores.tableFiles(), ...stores.mergedFiles()])

class CheckpointWriter implements Checkpointer {
  readonly #options: CheckpointerOptions
  #running: Promise<boolean> | undefined
  /** Bytes of log that are waited for; behind a failure, so many more than there were. */
  #worth: number

  constructor(options: CheckpointerOptions) {
    this.#options = options
    this.#worth = options.segmentBytes
  }

  async run(closing?: ReadonlySet<string>): Promise<boolean> {
    if (closing !== undefined) return (await this.#next(() => ({ closing }))).ok
    this.#running ??= this.#begin({}).then((outcome) => outcome.ok)
    return this.#running
  }

  async fall(wanted: () => Wanted): Promise<Fall> {
    const outcome = await this.#next(() => ({ wanted: wanted() }))
    if (!outcome.ok) throw outcome.error
    assert(outcome.fall, 'a checkpoint forgot what was to fall')
    return outcome.fall
  }

  consider(): void {
    const { mode, keeper } = this.#options
    if (this.#running === undefined && mode.mode === 'ok' && keeper.commits.written >= this.#worth) void this.run()
  }

  async idle(): Promise<void> {
    await this.#running
  }

  /** One that begins when no other runs; what it is to do is asked then. */
  async #next(order: () => Order): Promise<Outcome> {
    while (this.#running !== undefined) await this.#running
    const done = this.#begin(order())
    this.#running = done.then((outcome) => outcome.ok)
    return done
  }

  #begin(order: Order): Promise<Outcome> {
    return this.#perform(order).finally(() => {
      this.#running = undefined
    })
  }

  async #perform(order: Order): Promise<Outcome> {
    const { keeper, log, mode, segmentBytes } = this.#options
    let taken: Omit<Load, 'sequence'> | undefined
    try {
      const first = await keeper.rotate(() => {
        taken = this.#take()
      })
      const fall = taken && (await this.#write({ ...taken, sequence: first - 1 }, order))
      this.#worth = segmentBytes
      this.#options.done()
      return { ok: true, fall }
    } catch (error) {
      this.#worth = keeper.commits.written + segmentBytes
      if (taken !== undefined) this.#restore(taken)
      await this.#removeDrafts().catch((reason: unknown) => log.warn('a draft could not be removed', { error: reason }))
      mode.count()
      log.warn('a checkpoint failed; the log keeps everything', { error })
      const reason = lastingReason(error)
      if (reason !== undefined) keeper.refuse(reason)
      return { ok: false, error }
    }
  }

  #restore(taken: Omit<Load, 'sequence'>): void {
    this.#options.transactions.restoreLatest(taken.latest)
    restoreDirty(taken)
  }

  #take(): Omit<Load, 'sequence'> {
    const { store, transactions } = this.#options
    return {
      t: transactions.last,
      latest: transactions.takeLatest(),
      records: Array.from(store.collections.values(), (collection) => ({ collection, dirty: collection.takeDirty() })),
      entries: Array.from(store.streams.values(), (stream) => ({ stream, dirty: stream.takeDirty() })),
    }
  }

  async #write(load: Load, order: Order): Promise<Fall | undefined> {
    const { manifest, log, pageStores, forms } = this.#options
    const pass = new CheckpointPass(this.#options, load, order)
    const { wanted } = order
    await pass.write()
    if (wanted !== undefined) await forms.name('partitions')
    if (load.records.some(({ dirty }) => dirty.forgotten.size > 0)) await forms.name('forgotten-records')
    let before = manifest.current
    let after = before
    await manifest.update((current) => {
      before = current
      after = pass.manifestBehind(current)
      return after
    })
    const tables = pageStores.tableFiles()
    applyAll(load, pass.written)
    if (wanted !== undefined) for (const { collection } of load.records) collection.forgetFallen()
    await this.#removeOld({ before, after, tables }).catch((error: unknown) =>
      log.warn('old files could not be removed', { error }),
    )
    return pass.fall
  }

  /**
   * Files that the manifest no longer names, and tables that a start made again and no manifest named. One that stays
   * is removed at the next start.
   */
  async #removeOld({ before, after, tables }: Replaced): Promise<void> {
    const { disk, paths } = this.#options
    const named = namedFiles(paths, after)
    for (const path of new Set([...namedFiles(paths, before).keys(), ...tables]))
      if (!named.has(path) && disk.stat(path) !== undefined) await disk.unlink(path)
  }

  /** What a failed checkpoint wrote is removed at once: a disk that fills is filled by every attempt. */
  async #removeDrafts(): Promise<void> {
    const { disk, paths, manifest, mode, pageStores } = this.#options
    if (manifest.uncertain || mode.halted) return
    for (const path of unnamedFiles(disk, paths, { manifest: manifest.current, inUse: filesOf(pageStores) }))
      if (!path.startsWith(`${paths.log}/`)) await disk.unlink(path)
  }
}

export const createCheckpointer = (options: CheckpointerOptions): Checkpointer => new CheckpointWriter(options)
