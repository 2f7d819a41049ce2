/**
 * Tables that have become many become one in the background: a checkpoint is short however much is stored, and memory
 * lets go of what it wrote. The next checkpoint names what was merged.
 */
import type { Clock } from '../../base/clock.js'
import type { Log } from '../../base/text/log.js'
import { createShare, type Pause } from '../../base/turns.js'
import type { StorageMode } from '../disk/storage-mode.js'
import type { PageStores } from '../pages/page-stores.js'
import { lastingReason, type ReadOnlyReason } from '../storage-errors.js'

/** Checkpoints that are let pass behind a failure, at most: each failure doubles them. */
const longestRest = 64
/** Rounds at a time: what a checkpoint added is merged beside a large merge that takes long. */
const mostRounds = 3
/** Of the time, for each round: a busy daemon needs less than this for all of them together. */
const part = 0.2

export interface MergerOptions {
  readonly clock: Pick<Clock, 'elapsed' | 'sleep'>
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

class TableMerger implements Merger {
  readonly #options: MergerOptions
  readonly #rounds = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #rest = 0
  #restsLeft = 0

  constructor(options: MergerOptions) {
    this.#options = options
  }

  consider(): void {
    this.#restsLeft -= 1
    if (this.#isHalted || this.#restsLeft > 0 || this.#rounds.size >= mostRounds) return
    const round: Promise<void> = this.#round().finally(() => this.#rounds.delete(round))
    this.#rounds.add(round)
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#rounds)
  }

  /** A store whose tables cannot be merged keeps no other from it. */
  async #round(): Promise<void> {
    const pause = this.#createPause()
    let failures = 0
    for (const store of this.#options.pageStores.all) {
      if (this.#isHalted) return
      await store.merge(pause).catch((error: unknown) => {
        failures += 1
        if (!this.#stop.signal.aborted) this.#failed(error)
      })
    }
    this.#rest = failures === 0 ? 0 : Math.min(Math.max(1, this.#rest * 2), longestRest)
    this.#restsLeft = this.#rest
  }

  get #isHalted(): boolean {
    return this.#stop.signal.aborted || this.#options.mode.mode !== 'ok'
  }

  #failed(error: unknown): void {
    const { log, mode, refuse } = this.#options
    mode.count()
    log.warn('tables could not be merged; they stay as they are', { error })
    const reason = lastingReason(error)
    if (reason !== undefined) refuse(reason)
  }

  #createPause(): Pause {
    const { signal } = this.#stop
    const pause = createShare(this.#options.clock, { part, signal })
    return () => pause()?.then(() => signal.throwIfAborted())
  }
}

export const createMerger = (options: MergerOptions): Merger => new TableMerger(options)
