/**
 * Group commit: one writer takes everything that waits, writes it at once,
 * syncs once, then settles in commit order. The running sync is the window;
 * there is no delay.
 */
import { setImmediate } from 'node:timers/promises'
import { fault } from '../../base/assert.js'
import type { Problem } from '../../base/errors.js'
import { reasonOf, storageErrors, type ReadOnlyReason } from '../storage-errors.js'
import { createLineBuffer } from '../format/line.js'
import type { SegmentFile } from './segment-file.js'

/** A commit on its way to the disk. */
export interface Pending {
  /** `"t":…,"ops":[…]`; undefined: it changes nothing and only waits for those before it. */
  readonly text: string | undefined
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
}

export interface CommitLogOptions {
  readonly sequence: number
  /** Called when a batch could not be written or synced, after everything was undone. */
  readonly failed: (reason: ReadOnlyReason, error: unknown) => void
  /** Called after each durable batch. */
  readonly advanced: () => void
  /** Called before a batch; false: nothing may be written now. */
  readonly permitted: () => boolean
  /** Called after a batch; true: it does not count. */
  readonly halted: () => boolean
}

const batchBytes = 4 * 1024 * 1024
const batchLines = 4096

/** Counts bytes: of a batch that a crash cut off, no more may stand on the disk than a start takes for a torn tail. */
const takeBatch = (queue: Pending[]): Pending[] => {
  let bytes = 0
  let count = 0
  while (count < queue.length && count < batchLines && (count === 0 || bytes < batchBytes)) {
    bytes += Buffer.byteLength(queue[count]?.text ?? '')
    count += 1
  }
  return queue.splice(0, count)
}

export const createCommitLog = (options: CommitLogOptions): CommitLog => {
  const lines = createLineBuffer()
  const tasks: (() => Promise<void>)[] = []
  let queue: Pending[] = []
  let batch: Pending[] = []
  let segment: SegmentFile | undefined
  let sequence = options.sequence
  let written = 0
  let running = false
  let undone = 0

  const abandon = (problem: Problem): void => {
    const lost = [...batch, ...queue]
    batch = []
    queue = []
    if (lost.some((pending) => pending.text !== undefined)) undone += 1
    for (const pending of lost.toReversed()) pending.undo()
    for (const pending of lost) pending.reject(problem)
  }
  const fail = (wrote: boolean, error: unknown): void => {
    const make = wrote ? storageErrors.storage_sync_failed : storageErrors.storage_write_failed
    abandon(make({ cause: error, retryAfter: 5 }))
    options.failed(wrote ? 'sync_failed' : reasonOf(error), error)
  }
  /** Lines of the batch, each naming the first sequence of the batch. */
  const compose = (seed: number): number => {
    const first = sequence + 1
    let next = first
    lines.clear()
    for (const { text } of batch) {
      if (text === undefined) continue
      lines.add(`{"s":${next},"b":${first},${text}`, seed)
      next += 1
    }
    return next - first
  }
  const settle = (count: number): void => {
    sequence += count
    written += lines.length
    const done = batch
    batch = []
    for (const pending of done) pending.settle()
    if (count > 0) options.advanced()
  }
  const writeBatch = async (): Promise<void> => {
    batch = takeBatch(queue)
    let wrote = false
    try {
      if (segment === undefined || !options.permitted()) throw fault('there is no segment to write to')
      const count = compose(segment.seed)
      if (count > 0)
        await segment.append(lines.bytes(), () => {
          wrote = true
        })
      else lines.clear()
      if (options.halted()) throw fault('the lock was lost while writing')
      settle(count)
    } catch (error) {
      fail(wrote, error)
    }
  }
  const run = async (): Promise<void> => {
    running = true
    while (tasks.length > 0 || queue.length > 0) {
      await setImmediate()
      await tasks.shift()?.()
      if (queue.length > 0) await writeBatch()
    }
    running = false
  }
  const wake = (): void => {
    if (!running) void run()
  }
  const isIdle = (): boolean => batch.length === 0 && queue.length === 0
  const push = (pending: Pending): void => {
    queue.push(pending)
    wake()
  }
  const between = <R>(task: () => Promise<R>): Promise<R> =>
    new Promise((resolve, reject) => {
      tasks.push(() => task().then(resolve, reject))
      wake()
    })
  return {
    get sequence() {
      return sequence
    },
    get written() {
      return written
    },
    get idle() {
      return isIdle()
    },
    get segment() {
      return segment
    },
    get undone() {
      return undone
    },
    push,
    drained: () =>
      new Promise((resolve) => {
        if (isIdle()) resolve()
        else push({ text: undefined, settle: resolve, undo: () => {}, reject: () => resolve() })
      }),
    between,
    use: (next) => {
      segment = next
      written = 0
    },
    abandon,
  }
}
