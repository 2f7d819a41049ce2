/**
 * Group commit: one writer takes everything that waits, writes it at once,
 * syncs once, then settles in commit order. The running sync is the window;
 * there is no delay.
 */
import { setImmediate } from 'node:timers/promises'
import { fault } from '../../base/assert.js'
import type { Clock } from '../../base/clock.js'
import type { Problem } from '../../base/errors.js'
import type { Metric } from '../../metrics/contract.js'
import { createCount, createMeasure } from '../../metrics/instruments.js'
import { reasonOf, storageErrors, type ReadOnlyReason } from '../storage-errors.js'
import { createLineBuffer } from '../format/line.js'
import type { SegmentFile } from './segment-file.js'

/** A commit on its way to the disk. */
export interface Pending {
  /** `"t":…,"ops":[…]`; undefined: it changes nothing and only waits for those before it. */
  readonly text: string | undefined
  /** It changes a collection that forgets. */
  readonly forgets: boolean
  /** The line is on disk. */
  settle(): void
  /** Takes it out of memory. */
  undo(): void
  reject(problem: Problem): void
}

export interface CommitLog {
  /** Last durable sequence. */
  readonly sequence: number
  /** Bytes acknowledged since the last call of `use`. */
  readonly written: number
  /** False while commits wait or are being written. */
  readonly idle: boolean
  push(pending: Pending): void
  /** Resolves when everything pushed so far is durable or undone. */
  drained(): Promise<void>
  /** Runs a task between two batches: nothing is being written meanwhile. */
  between<R>(task: () => Promise<R>): Promise<R>
  /** Writes to this segment from now on. Only at start and inside `between`. */
  use(segment: SegmentFile): void
  readonly segment: SegmentFile | undefined
  /** Undoes everything that is not durable. */
  abandon(problem: Problem): void
  /** Number of times that changes were undone. */
  readonly undone: number
  readonly metrics: readonly Metric[]
}

export interface CommitLogOptions {
  readonly sequence: number
  /** Called when a batch could not be written or synced, after everything was undone. */
  readonly failed: (reason: ReadOnlyReason, error: unknown) => void
  /** Called after each durable batch. */
  readonly advanced: () => void
  /** Called before a batch; false: nothing may be written now. */
  readonly permitted: () => boolean
  /** Called before a batch that changes a collection that forgets, and waited for. */
  readonly beforeForgetting: () => Promise<void>
  readonly clock: Pick<Clock, 'elapsed'>
  /** Called after a batch; true: it does not count. */
  readonly halted: () => boolean
}

const batchBytes = 4 * 1024 * 1024
const batchLines = 4096

/** A character takes three bytes at most; only of a long text they are counted. */
const mostBytesOf = (text = ''): number => (text.length < 65_536 ? text.length * 3 : Buffer.byteLength(text))

/** Counts bytes: of a batch that a crash cut off, no more may stand on the disk than a start takes for a torn tail. */
const takeBatch = (queue: Pending[]): Pending[] => {
  let bytes = 0
  let count = 0
  while (count < queue.length && count < batchLines && (count === 0 || bytes < batchBytes)) {
    bytes += mostBytesOf(queue[count]?.text)
    count += 1
  }
  return queue.splice(0, count)
}

const createMeasures = () => ({
  commits: createCount({ name: 'service_commits_total', help: 'Commits that are on disk.' }),
  bytes: createCount({ name: 'service_commit_bytes_total', help: 'Bytes of commits that are on disk.' }),
  seconds: createMeasure({
    name: 'service_commit_batch_seconds',
    help: 'How long it took to write and sync the commits that waited, all at once.',
  }),
})

class BatchWriter implements CommitLog {
  readonly #options: CommitLogOptions
  readonly #lines = createLineBuffer()
  readonly #tasks: (() => Promise<void>)[] = []
  #queue: Pending[] = []
  #batch: Pending[] = []
  #segment: SegmentFile | undefined
  #sequence: number
  #written = 0
  #undone = 0
  #isRunning = false
  readonly #measures = createMeasures()

  constructor(options: CommitLogOptions) {
    this.#options = options
    this.#sequence = options.sequence
  }

  get sequence(): number {
    return this.#sequence
  }
  get written(): number {
    return this.#written
  }
  get idle(): boolean {
    return this.#batch.length === 0 && this.#queue.length === 0
  }
  get segment(): SegmentFile | undefined {
    return this.#segment
  }
  get metrics(): readonly Metric[] {
    return [this.#measures.commits.metric, this.#measures.bytes.metric, this.#measures.seconds.metric]
  }
  get undone(): number {
    return this.#undone
  }

  push(pending: Pending): void {
    this.#queue.push(pending)
    this.#wake()
  }

  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.idle) resolve()
      else this.push({ text: undefined, forgets: false, settle: resolve, undo: () => {}, reject: () => resolve() })
    })
  }

  between<R>(task: () => Promise<R>): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject))
      this.#wake()
    })
  }

  use(segment: SegmentFile): void {
    this.#segment = segment
    this.#written = 0
  }

  abandon(problem: Problem): void {
    const lost = [...this.#batch, ...this.#queue]
    this.#batch = []
    this.#queue = []
    if (lost.some((pending) => pending.text !== undefined)) this.#undone += 1
    for (const pending of lost.toReversed()) pending.undo()
    for (const pending of lost) pending.reject(problem)
  }

  #wake(): void {
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#tasks.length > 0 || this.#queue.length > 0) {
      await setImmediate()
      await this.#tasks.shift()?.()
      if (this.#queue.length > 0) await this.#writeBatch()
    }
    this.#isRunning = false
  }

  async #writeBatch(): Promise<void> {
    this.#batch = takeBatch(this.#queue)
    let wrote = false
    const from = this.#options.clock.elapsed()
    try {
      if (this.#segment === undefined || !this.#options.permitted()) throw fault('there is no segment to write to')
      if (this.#batch.some(({ forgets }) => forgets)) await this.#options.beforeForgetting()
      const count = this.#compose(this.#segment.seed)
      if (count > 0)
        await this.#segment.append(this.#lines.bytes(), () => {
          wrote = true
        })
      else this.#lines.clear()
      if (this.#options.halted()) throw fault('the lock was lost while writing')
      if (count > 0) this.#measure(count, from)
      this.#settle(count)
    } catch (error) {
      this.#fail(wrote, error)
    }
  }

  /** Lines of the batch, each naming the first sequence of the batch. */
  #compose(seed: number): number {
    const first = this.#sequence + 1
    let next = first
    this.#lines.clear()
    for (const { text } of this.#batch) {
      if (text === undefined) continue
      this.#lines.add(text, seed, `{"s":${next},"b":${first},`)
      next += 1
    }
    return next - first
  }

  #measure(count: number, from: number): void {
    this.#measures.commits.add(count)
    this.#measures.bytes.add(this.#lines.length)
    this.#measures.seconds.observe((this.#options.clock.elapsed() - from) / 1000)
  }

  #settle(count: number): void {
    this.#sequence += count
    this.#written += this.#lines.length
    const done = this.#batch
    this.#batch = []
    for (const pending of done) pending.settle()
    if (count > 0) this.#options.advanced()
  }

  #fail(wrote: boolean, error: unknown): void {
    const make = wrote ? storageErrors.storage_sync_failed : storageErrors.storage_write_failed
    this.abandon(make({ cause: error, retryAfter: 5 }))
    this.#options.failed(wrote ? 'sync_failed' : reasonOf(error), error)
  }
}

export const createCommitLog = (options: CommitLogOptions): CommitLog => new BatchWriter(options)
