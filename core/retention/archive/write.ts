/** Keeps what falls in a file outside the root: whole and on the disk before anything falls, or not there at all. */
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { noProgress, type Progress } from '../../base/text/progress.js'
import type { FallingLine } from '../../state/contract.js'
import type { Disk, DiskFile } from '../../state/disk/disk.js'
import { codeOf } from '../../state/errors.js'
import { isUnfinished, placeOf, unfinished } from './names.js'
import { archiveBytes, type ArchiveCounts, type ArchiveHeader } from './lines.js'

export interface ArchiveTarget {
  readonly disk: Disk
  /** Must be there. */
  readonly folder: string
  /** Told of each byte before it is compressed. */
  readonly progress?: Progress
  /** Once it aborts, the archive is given up. */
  readonly signal?: AbortSignal | undefined
}

export interface Archived extends ArchiveCounts {
  readonly path: string
  /** Of the file, compressed. */
  readonly bytes: number
}

/** Of lives of this root that were killed while they wrote. */
const sweep = async (disk: Disk, own: string): Promise<void> => {
  for (const name of disk.list(own).filter(isUnfinished)) await disk.unlink(path.join(own, name))
}

/** Made by nobody else, and no archive has its name: none gets it before this is renamed or removed. */
const beginUnfinished = async (
  disk: Disk,
  place: { readonly folder: string; readonly header: ArchiveHeader },
  no = 1,
): Promise<{ readonly to: string; readonly out: DiskFile }> => {
  const to = placeOf(place.folder, place.header, no)
  const isTaken = (): boolean => disk.stat(to) !== undefined
  const out = isTaken()
    ? undefined
    : await disk.open(to + unfinished, 'create').catch((error: unknown) => {
        if (codeOf(error) === 'EEXIST') return undefined
        throw error
      })
  if (out !== undefined && !isTaken()) return { to, out }
  if (out !== undefined) {
    await out.close()
    await disk.unlink(to + unfinished)
  }
  return beginUnfinished(disk, place, no + 1)
}

const writeWhole = async (out: DiskFile, bytes: Iterable<Uint8Array>): Promise<number> => {
  let written = 0
  /** What the disk said first: the pipeline tells that it was aborted. */
  let said: unknown
  const write = async (piece: Uint8Array): Promise<void> => {
    await out.write(piece, written).catch((error: unknown) => {
      said ??= error
      throw error
    })
    written += piece.length
  }
  try {
    await pipeline(Readable.from(bytes), createGzip(), async (source: AsyncIterable<Uint8Array>) => {
      for await (const piece of source) await write(piece)
    })
    await out.sync()
    return written
  } catch (error) {
    throw said ?? error
  } finally {
    await out.close()
  }
}

function* told(
  bytes: Iterable<Uint8Array>,
  { progress = noProgress, signal }: Pick<ArchiveTarget, 'progress' | 'signal'>,
): Iterable<Uint8Array> {
  for (const piece of bytes) {
    yield piece
    signal?.throwIfAborted()
    progress.advance(piece.length)
  }
}

/** Resolves when the file and its name are on the disk. Rejects with what the disk said, and leaves no archive then. */
export const writeArchive = async (
  target: ArchiveTarget,
  header: ArchiveHeader,
  lines: Iterable<FallingLine>,
): Promise<Archived> => {
  const { disk, folder } = target
  const own = path.join(folder, header.root)
  await disk.makeFolder(own)
  await disk.syncFolder(folder)
  await sweep(disk, own)
  const { to, out } = await beginUnfinished(disk, { folder, header })
  let counts: ArchiveCounts = { records: 0, entries: 0 }
  const whole = archiveBytes(header, lines, (found) => {
    counts = found
  })
  const bytes = await writeWhole(out, told(whole, target)).catch(async (error: unknown) => {
    await disk.unlink(to + unfinished).catch(() => undefined)
    throw error
  })
  await disk.rename(to + unfinished, to)
  await disk.syncFolder(own)
  return { path: to, bytes, ...counts }
}
