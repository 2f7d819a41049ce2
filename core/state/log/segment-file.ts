/** The segment that is written now. */
import { join } from 'node:path'
import type { Disk } from '../disk/disk.js'
import { segmentName } from '../format/layout.js'
import { saltSeed, sealedLine } from '../format/line.js'
import type { SegmentHeader } from '../format/segment.js'

export interface SegmentFile {
  readonly path: string
  readonly no: number
  readonly first: number
  /** Seed of its checksums. */
  readonly seed: number
  /** Bytes that are on disk and acknowledged. */
  readonly length: number
  /** Writes and syncs. `written` is called between the two, to tell which of them failed. */
  append(bytes: Uint8Array, written: () => void): Promise<void>
  close(): Promise<void>
}

/** Creates a segment whose header and name are on disk; nothing names it yet. */
export const createSegmentFile = async (
  disk: Disk,
  folder: string,
  header: Omit<SegmentHeader, 'v' | 'k'>,
): Promise<SegmentFile> => {
  const path = join(folder, segmentName(header.no))
  const { no, root, first, salt, generation } = header
  const line = sealedLine(JSON.stringify({ v: 1, k: 'segment', no, root, first, salt, generation }).slice(0, -1), 0)
  const file = await disk.open(path, 'create')
  let length = line.length
  try {
    await file.write(line, 0)
    await file.sync()
    await disk.syncFolder(folder)
  } catch (error) {
    await file.close().catch(() => undefined)
    await disk.unlink(path).catch(() => undefined)
    throw error
  }
  const append = async (bytes: Uint8Array, written: () => void): Promise<void> => {
    await file.write(bytes, length)
    written()
    await file.sync()
    length += bytes.length
  }
  return {
    path,
    no,
    first,
    seed: saltSeed(salt),
    get length() {
      return length
    },
    append,
    close: () => file.close(),
  }
}
