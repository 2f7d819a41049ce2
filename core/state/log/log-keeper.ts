/** Opens segments, keeps the watermark, and brings the log back after a failed write. */
import { fault } from '../../base/assert.js'
import type { Clock } from '../../base/clock.js'
import type { Ids } from '../../base/ids.js'
import type { Log } from '../../base/text/log.js'
import { createCommitLog, type CommitLog } from './commit-log.js'
import type { Disk } from '../disk/disk.js'
import type { Layout } from '../format/layout.js'
import type { ManifestHolder, SegmentRef } from '../format/manifest.js'
import { sealLast, Segments } from './segments.js'
import { behindLoss, isBehindLoss, lastingReason, reasonOf, type ReadOnlyReason } from '../storage-errors.js'
import type { StorageMode } from '../disk/storage-mode.js'
import type { Tuning } from '../tuning.js'
import { writeWatermark } from '../format/watermark.js'

export interface LogKeeperOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly manifest: ManifestHolder
  readonly mode: StorageMode
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly tuning: Tuning
  readonly generation: number
  readonly sequence: number
  /** Asks whether the root is still ours. */
  readonly isHalted: () => boolean
  /** Called before a batch that changes a collection that forgets, and waited for. */
  readonly beforeForgetting: () => Promise<void>
  /** Called after each durable batch. */
  readonly advanced: () => void
}

export interface LogKeeper {
  readonly commits: CommitLog
  /** True if the file system has more free than the floor. */
  hasRoom(): boolean
  /** Starts to write: a new segment behind the sealed ones. On a full disk the start is put off until there is room. */
  start(sealed: readonly SegmentRef[]): Promise<void>
  /**
   * Begins a new segment between two batches; returns the first sequence that is in it. `frozen` runs at that moment.
   */
  rotate(frozen: () => void): Promise<number>
  /** The segments as of the last batch, with the length of each. Throws the problem of a log that is not read whole. */
  sealed(): readonly SegmentRef[]
  /** Tries to leave a passing read-only mode, at a close also with little space. True if writes are taken again. */
  recover(how?: 'at any cost'): Promise<boolean>
  /** Lines are in the log that no checkpoint has. */
  readonly dirty: boolean
  refuse(reason: ReadOnlyReason): void
  /** Waits for what was taken, then marks the end of the log; call when nothing more is taken. True if it is marked. */
  close(): Promise<boolean>
}

class Keeper implements LogKeeper {
  readonly commits: CommitLog
  readonly #options: LogKeeperOptions
  readonly #segments: Segments
  /** The segments behind which the log begins; undefined until it is started. */
  #sealed: readonly SegmentRef[] | undefined
  #marked = -1
  #cancelMark: (() => void) | undefined
  #cancelRetry: (() => void) | undefined
  #pause: number
  #isClosed = false

  constructor(options: LogKeeperOptions) {
    const { sequence, isHalted, manifest, tuning, beforeForgetting } = options
    this.#options = options
    this.#pause = tuning.retryMs
    this.commits = createCommitLog({
      clock: options.clock,
      sequence,
      failed: (reason, error) => this.#failed(reason, error),
      advanced: () => this.#advanced(),
      permitted: () => !isHalted() && !manifest.uncertain,
      beforeForgetting,
      halted: isHalted,
    })
    this.#segments = new Segments(options, this.commits)
  }

  get dirty(): boolean {
    return this.commits.sequence > this.#options.manifest.current.sequence
  }

  hasRoom(): boolean {
    const { disk, paths, tuning } = this.#options
    return disk.space(paths.root).free >= tuning.freeBytes
  }

  async start(sealed: readonly SegmentRef[]): Promise<void> {
    const { mode } = this.#options
    this.#sealed = sealed
    try {
      await this.#begin()
    } catch (error) {
      mode.refuse(lastingReason(error) ?? reasonOf(error))
      if (!mode.passing) throw error
      this.#scheduleRetry()
    }
  }

  rotate(frozen: () => void): Promise<number> {
    const { mode } = this.#options
    return this.commits.between(async () => {
      const { segment } = this.commits
      if (segment === undefined || mode.mode !== 'ok') throw mode.problem()
      await this.#segments.openNext(segment)
      frozen()
      return this.commits.sequence + 1
    })
  }

  sealed(): readonly SegmentRef[] {
    const { segment } = this.commits
    if (segment !== undefined) return sealLast(segment.length)(this.#options.manifest.current.segments)
    if (this.#sealed === undefined) throw this.#options.mode.problem()
    return this.#sealed
  }

  async recover(how?: 'at any cost'): Promise<boolean> {
    const { mode, tuning, log } = this.#options
    if (!mode.passing || this.#isClosed) return mode.mode === 'ok'
    try {
      if (how === undefined && !this.hasRoom()) return this.#stay('disk_full')
      await this.commits.between(() => this.#reopen())
      this.#pause = tuning.retryMs
      if (!mode.recover()) return false
      log.info('storage takes changes again')
      return true
    } catch (error) {
      return this.#stay(lastingReason(error) ?? reasonOf(error))
    }
  }

  refuse(reason: ReadOnlyReason): void {
    const { mode, log } = this.#options
    const before = mode.reason
    mode.refuse(reason)
    // Why nothing is written any more is told by the lock.
    if (mode.halted) this.commits.abandon(behindLoss())
    else if (mode.reason !== before) log.error('storage refuses changes', { reason: mode.reason })
    this.#scheduleRetry()
  }

  async close(): Promise<boolean> {
    this.#isClosed = true
    this.#cancelMark?.()
    this.#cancelRetry?.()
    await this.commits.drained()
    const marked = await this.commits.between(() => this.#markEnd())
    await this.commits.segment?.close()
    return marked
  }

  #stay(reason: ReadOnlyReason): false {
    this.#options.mode.refuse(reason)
    this.#scheduleRetry()
    return false
  }

  async #begin(): Promise<void> {
    if (this.#sealed === undefined) throw fault('the log was not started')
    await this.#segments.openBehind(this.#sealed)
    await this.#mark(false)
  }

  async #reopen(): Promise<void> {
    const { segment } = this.commits
    if (segment === undefined) return this.#begin()
    await this.#segments.verify(segment)
    await this.#segments.openNext(segment)
    await this.#mark(false)
  }

  #failed(reason: ReadOnlyReason, error: unknown): void {
    const { mode, log } = this.#options
    mode.count()
    if (!mode.halted) log.error('a write of the commit log failed', { error })
    this.refuse(reason)
  }

  #advanced(): void {
    this.#scheduleMark()
    this.#options.advanced()
  }

  async #mark(clean: boolean): Promise<void> {
    const { disk, paths, manifest, generation, mode } = this.#options
    const { sequence } = this.commits
    await writeWatermark(disk, paths.watermark, { root: manifest.current.root, generation, sequence, clean })
    this.#marked = sequence
    mode.strain(undefined)
  }

  async #markEnd(): Promise<boolean> {
    const { mode, log } = this.#options
    if (mode.mode !== 'ok') return false
    try {
      await this.#mark(true)
      return true
    } catch (error) {
      log.warn('the close could not be marked; the next start replays the log', { error })
      return false
    }
  }

  #scheduleMark(): void {
    const { clock, tuning } = this.#options
    if (this.#isClosed || this.#cancelMark !== undefined) return
    this.#cancelMark = clock.after(tuning.watermarkMs, () => {
      this.#cancelMark = undefined
      void this.#markNow()
    })
  }

  async #markNow(): Promise<void> {
    const { mode, log } = this.#options
    if (mode.mode !== 'ok') return
    try {
      if (!this.hasRoom()) return this.refuse('disk_full')
      await this.#mark(false)
    } catch (error) {
      mode.count()
      mode.strain(reasonOf(error))
      log[isBehindLoss(error) ? 'debug' : 'warn']('the watermark could not be written', { error })
    }
    if (this.commits.sequence !== this.#marked) this.#scheduleMark()
  }

  #scheduleRetry(): void {
    const { clock, mode, tuning } = this.#options
    if (this.#isClosed || this.#cancelRetry !== undefined || !mode.passing) return
    this.#cancelRetry = clock.after(this.#pause, () => {
      this.#cancelRetry = undefined
      void this.recover()
    })
    this.#pause = Math.min(this.#pause * 2, tuning.longestRetryMs)
  }
}

export const createLogKeeper = (options: LogKeeperOptions): LogKeeper => new Keeper(options)
