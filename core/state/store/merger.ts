/**
 * Tables that have become many become one in the background: a checkpoint is short however much is stored, and memory
 * lets go of what it wrote. The next checkpoint names what was merged.
 */
import { createPause } from '../../base/turns.js'
import type { Log } from '../../base/text/log.js'
import type { StorageMode } from '../disk/storage-mode.js'
import type { PageStores } from '../pages/page-stores.js'
import { lastingReason, type ReadOnlyReason } from '../storage-errors.js'

/** Checkpoints that are let pass behind a failure, at most: each failure doubles them. */
const longestRest = 64
/** Leaves that are written in one turn of the event loop, at most: a few milliseconds. */
const mostLeaves = 64

export interface MergerOptions {
  readonly log: Log
  readonly mode: StorageMode
  readonly pageStores: Pick<PageStores, 'all'>
  readonly refuse: (reason: ReadOnlyReason) => void
}

export interface Merger {
  /** To be called behind each checkpoint: begins in the background where tables have become many. */
  consider(): void
  /** Begins nothing more, gives up what is under way, and waits for that. */
  stop(): Promise<void>
}

class StoppedError extends Error {}

class TableMerger implements Merger {
  readonly #options: MergerOptions
  #running: Promise<void> | undefined
  /** Checkpoints since there was nothing to merge: the more, the more is merged in a turn. */
  #behind = 0
  #rest = 0
  #restsLeft = 0
  #isStopped = false

  constructor(options: MergerOptions) {
    this.#options = options
  }

  consider(): void {
    this.#behind += 1
    this.#restsLeft -= 1
    if (this.#isStopped || this.#restsLeft > 0 || this.#options.mode.mode !== 'ok') return
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      for (const store of this.#options.pageStores.all) await store.merge(this.#createPause())
      this.#behind = 0
      this.#rest = 0
    } catch (error) {
      if (!(error instanceof StoppedError)) this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    const { log, mode, refuse } = this.#options
    this.#rest = Math.min(Math.max(1, this.#rest * 2), longestRest)
    this.#restsLeft = this.#rest
    mode.count()
    log.warn('tables could not be merged; they stay as they are', { error })
    const reason = lastingReason(error)
    if (reason !== undefined) refuse(reason)
  }

  #createPause(): () => Promise<void> | undefined {
    const pause = createPause(() => Math.min(1 + this.#behind, mostLeaves))
    const check = (): void => {
      if (this.#isStopped) throw new StoppedError()
    }
    return () => pause()?.then(check)
  }
}

export const createMerger = (options: MergerOptions): Merger => new TableMerger(options)
