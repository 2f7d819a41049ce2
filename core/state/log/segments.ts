/** The segments of the log: begins a new one behind the others, and makes sure of the last after a failed write. */
import { join } from 'node:path'
import type { Ids } from '../../base/ids.js'
import type { CommitLog } from './commit-log.js'
import type { Disk } from '../disk/disk.js'
import { createFileLines } from '../format/file-lines.js'
import { numberOf, segmentName, type Layout } from '../format/layout.js'
import type { ManifestHolder, SegmentRef } from '../format/manifest.js'
import { longestTail } from './replay.js'
import { scanSegment } from '../format/segment.js'
import { createSegmentFile, type SegmentFile } from './segment-file.js'
import { storageErrors } from '../storage-errors.js'

export interface SegmentsOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly manifest: ManifestHolder
  readonly ids: Ids
  readonly generation: number
}

type Seal = (named: readonly SegmentRef[]) => readonly SegmentRef[]

/** Says how long the segment is that was written so far. */
export const sealLast =
  (length: number): Seal =>
  (named) =>
    named.map((segment) => (segment.length === null ? { ...segment, length } : segment))

export class Segments {
  readonly #options: SegmentsOptions
  readonly #commits: CommitLog
  readonly #root: string
  #nextNo: number

  constructor(options: SegmentsOptions, commits: CommitLog) {
    const { disk, paths, manifest } = options
    this.#options = options
    this.#commits = commits
    this.#root = manifest.current.root
    this.#nextNo = 1 + Math.max(0, ...disk.list(paths.log).map((name) => numberOf(name) ?? 0))
  }

  /** Begins the first segment behind those that a start found. */
  openBehind(sealed: readonly SegmentRef[]): Promise<void> {
    return this.#open(() => sealed)
  }

  /** Begins a new segment behind the one that is written. */
  openNext({ length }: SegmentFile): Promise<void> {
    return this.#open(sealLast(length))
  }

  /** The file of the segment must hold exactly what was acknowledged; what a failed write left behind is cut. */
  async verify(segment: SegmentFile): Promise<void> {
    const { disk } = this.#options
    const file = await disk.open(segment.path, 'write')
    try {
      this.#scan(segment)
      if (file.size() > segment.length) await file.truncate(segment.length)
      await file.sync().catch((cause: unknown) => {
        throw storageErrors.storage_sync_failed({ cause })
      })
    } finally {
      await file.close()
    }
  }

  #scan({ path, no, first, length }: SegmentFile): void {
    const scan = scanSegment(
      createFileLines(this.#options.disk, path),
      { file: path, root: this.#root, no, first, longestTail, end: length },
      () => undefined,
    )
    if (scan.fault !== undefined || scan.last !== this.#commits.sequence)
      throw storageErrors.storage_damaged({ details: { file: segmentName(no), offset: scan.sound } })
  }

  /** Names a new segment behind the sealed ones and writes to it from now on. Segments without a line are dropped. */
  async #open(seal: Seal): Promise<void> {
    const { disk, paths, manifest } = this.#options
    const segment = await this.#create()
    const empty = await this.#name(segment, seal).catch(async (error: unknown) => {
      const mayBeNamed = manifest.uncertain
      await segment.close().catch(() => undefined)
      if (!mayBeNamed) await disk.unlink(segment.path).catch(() => undefined)
      throw error
    })
    const before = this.#commits.segment
    this.#commits.use(segment)
    await before?.close().catch(() => undefined)
    for (const { no } of empty) await disk.unlink(join(paths.log, segmentName(no))).catch(() => undefined)
  }

  #create(): Promise<SegmentFile> {
    const { disk, paths, ids, generation } = this.#options
    const header = {
      no: this.#nextNo,
      root: this.#root,
      first: this.#commits.sequence + 1,
      salt: ids.random(4),
      generation,
    }
    this.#nextNo += 1
    return createSegmentFile(disk, paths.log, header)
  }

  /**
   * Returns the segments without a line. What is named is decided when the manifest's turn comes: a checkpoint may have
   * removed segments meanwhile.
   */
  async #name({ no, first }: SegmentFile, seal: Seal): Promise<readonly SegmentRef[]> {
    const { manifest, generation } = this.#options
    let empty: readonly SegmentRef[] = []
    await manifest.update((current) => {
      const sealed = seal(current.segments)
      empty = sealed.filter((ref) => ref.first >= first)
      const segments = [...sealed.filter((ref) => ref.first < first), { no, first, length: null }]
      return { ...current, generation, segments }
    })
    return empty
  }
}
