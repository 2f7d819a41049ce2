/** Opens segments, keeps the watermark, and brings the log back after a failed write. */
import { join } from 'node:path'
import { fault } from '../../base/assert.js'
import type { Clock } from '../../base/clock.js'
import type { Ids } from '../../base/ids.js'
import type { Log } from '../../base/log.js'
import { createCommitLog, type CommitLog } from './commit-log.js'
import type { Disk } from '../disk/disk.js'
import { createFileLines } from '../format/file-lines.js'
import { numberOf, segmentName, type Layout } from '../format/layout.js'
import type { ManifestHolder, SegmentRef } from '../format/manifest.js'
import { longestTail } from './replay.js'
import { scanSegment } from '../format/segment.js'
import { createSegmentFile, type SegmentFile } from './segment-file.js'
import { lastingReason, reasonOf, storageErrors, type ReadOnlyReason } from '../storage-errors.js'
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
  /** Tries to leave a passing read-only mode, at a close also with little space. True if writes are taken again. */
  recover(how?: 'at any cost'): Promise<boolean>
  /** Lines are in the log that no checkpoint has. */
  readonly dirty: boolean
  refuse(reason: ReadOnlyReason): void
  /** Waits for what was taken, then marks the end of the log; call when nothing more is taken. True if it is marked. */
  close(): Promise<boolean>
}

const sealLast = (segments: readonly SegmentRef[], length: number): SegmentRef[] =>
  segments.map((segment) => (segment.length === null ? { ...segment, length } : segment))

export const createLogKeeper = (options: LogKeeperOptions): LogKeeper => {
  const { disk, paths, manifest, mode, clock, tuning, generation } = options
  const root = manifest.current.root
  let nextNo = 1 + Math.max(0, ...disk.list(paths.log).map((name) => numberOf(name) ?? 0))
  let marked = -1
  let cancelMark: (() => void) | undefined
  let cancelRetry: (() => void) | undefined
  let pause = tuning.retryMs
  let closed = false
  let begin = async (): Promise<void> => {
    throw fault('the log was not started')
  }

  const mark = async (clean: boolean): Promise<void> => {
    const sequence = commits.sequence
    await writeWatermark(disk, paths.watermark, { root, generation, sequence, clean })
    marked = sequence
    mode.strain(undefined)
  }
  const hasRoom = (): boolean => disk.space(paths.root).free >= tuning.freeBytes
  const tick = async (): Promise<void> => {
    cancelMark = undefined
    if (mode.mode !== 'ok') return
    try {
      if (!hasRoom()) return refuse('disk_full')
      await mark(false)
    } catch (error) {
      mode.count()
      mode.strain(reasonOf(error))
      options.log.warn('the watermark could not be written', { error })
    }
    if (commits.sequence !== marked) scheduleMark()
  }
  const scheduleMark = (): void => {
    if (!closed && cancelMark === undefined) cancelMark = clock.after(tuning.watermarkMs, () => void tick())
  }
  const scheduleRetry = (): void => {
    if (closed || cancelRetry !== undefined || !mode.passing) return
    cancelRetry = clock.after(pause, () => {
      cancelRetry = undefined
      void recover()
    })
    pause = Math.min(pause * 2, tuning.longestRetryMs)
  }
  const refuse = (reason: ReadOnlyReason): void => {
    mode.refuse(reason)
    options.log.error('storage refuses changes', { reason: mode.reason })
    if (mode.halted) commits.abandon(storageErrors.storage_read_only({ details: { reason: 'lock_lost' } }))
    scheduleRetry()
  }
  const failed = (reason: ReadOnlyReason, error: unknown): void => {
    mode.count()
    options.log.error('a write of the commit log failed', { error })
    refuse(reason)
  }
  const advanced = (): void => {
    scheduleMark()
    options.advanced()
  }
  const commits = createCommitLog({
    sequence: options.sequence,
    failed,
    advanced,
    permitted: () => !options.isHalted() && !manifest.uncertain,
    halted: options.isHalted,
  })

  /**
   * Names a new segment behind the sealed ones and writes to it from now on. Segments without a line are dropped.
   * What is named is decided when the manifest's turn comes: a checkpoint may have removed segments meanwhile.
   */
  const openSegment = async (seal: (named: readonly SegmentRef[]) => readonly SegmentRef[]): Promise<void> => {
    const first = commits.sequence + 1
    const no = nextNo
    nextNo += 1
    const segment = await createSegmentFile(disk, paths.log, {
      no,
      root,
      first,
      salt: options.ids.random(4),
      generation,
    })
    let empty: readonly SegmentRef[] = []
    try {
      await manifest.update((current) => {
        const sealed = seal(current.segments)
        empty = sealed.filter((ref) => ref.first >= first)
        return {
          ...current,
          generation,
          segments: [...sealed.filter((ref) => ref.first < first), { no, first, length: null }],
        }
      })
    } catch (error) {
      await segment.close().catch(() => undefined)
      throw error
    }
    const before = commits.segment
    commits.use(segment)
    await before?.close().catch(() => undefined)
    for (const ref of empty) await disk.unlink(join(paths.log, segmentName(ref.no))).catch(() => undefined)
  }
  /** The file of the segment must hold exactly what was acknowledged; what a failed write left behind is cut. */
  const verify = async (segment: SegmentFile): Promise<void> => {
    const file = await disk.open(segment.path, 'write')
    try {
      const scan = scanSegment(
        createFileLines(disk, segment.path),
        { file: segment.path, root, no: segment.no, first: segment.first, longestTail, end: segment.length },
        () => undefined,
      )
      if (scan.fault !== undefined || scan.last !== commits.sequence)
        throw storageErrors.storage_damaged({ details: { file: segmentName(segment.no), offset: scan.sound } })
      if (file.size() > segment.length) await file.truncate(segment.length)
      await file.sync().catch((cause: unknown) => {
        throw storageErrors.storage_sync_failed({ cause })
      })
    } finally {
      await file.close()
    }
  }
  const reopen = async (): Promise<void> => {
    const { segment } = commits
    if (segment === undefined) return begin()
    await verify(segment)
    await openSegment((named) => sealLast(named, segment.length))
    await mark(false)
  }
  const recover = async (how?: 'at any cost'): Promise<boolean> => {
    if (!mode.passing || closed) return mode.mode === 'ok'
    try {
      if (how === undefined && !hasRoom()) throw storageErrors.storage_read_only({ details: { reason: 'disk_full' } })
      await commits.between(reopen)
      pause = tuning.retryMs
      if (!mode.recover()) return false
      options.log.info('storage takes changes again')
      return true
    } catch (error) {
      if (hasRoom()) mode.refuse(lastingReason(error) ?? reasonOf(error))
      scheduleRetry()
      return false
    }
  }
  const rotate = (frozen: () => void): Promise<number> =>
    commits.between(async () => {
      const { segment } = commits
      if (segment === undefined || mode.mode !== 'ok') throw mode.problem()
      await openSegment((named) => sealLast(named, segment.length))
      frozen()
      return commits.sequence + 1
    })
  const markEnd = async (): Promise<boolean> => {
    if (mode.mode !== 'ok') return false
    try {
      await mark(true)
      return true
    } catch (error) {
      options.log.warn('the close could not be marked; the next start replays the log', { error })
      return false
    }
  }
  const close = async (): Promise<boolean> => {
    closed = true
    cancelMark?.()
    cancelRetry?.()
    await commits.drained()
    const marked = await commits.between(markEnd)
    await commits.segment?.close()
    return marked
  }
  return {
    commits,
    recover,
    refuse,
    rotate,
    close,
    get dirty() {
      return commits.sequence > manifest.current.sequence
    },
    hasRoom,
    start: async (sealed) => {
      begin = async () => {
        await openSegment(() => sealed)
        await mark(false)
      }
      try {
        await begin()
      } catch (error) {
        mode.refuse(lastingReason(error) ?? reasonOf(error))
        if (!mode.passing) throw error
        scheduleRetry()
      }
    },
  }
}
