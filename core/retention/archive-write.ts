/** Keeps what falls in a file outside the root: whole and on the disk before anything falls, or not there at all. */
import path from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { FallingLine } from '../state/contract.js'
import type { Disk } from '../state/disk/disk.js'
import { archiveBytes, type ArchiveCounts, type ArchiveHeader } from './archive-lines.js'

export interface ArchiveTarget {
  readonly disk: Disk
  /** Must be there. */
  readonly folder: string
}

export interface Archived extends ArchiveCounts {
  readonly path: string
  /** Of the file, compressed. */
  readonly bytes: number
}

/** `runs-2027-01-31T09-00-00-000Z.ndjson.gz`, in a folder of the root's own. */
const placeOf = (folder: string, { of, root, archived_at_ms }: ArchiveHeader): string =>
  path.join(folder, root, `${of}-${new Date(archived_at_ms).toISOString().replaceAll(/[:.]/gu, '-')}.ndjson.gz`)

/** What was cut off in its middle has this behind its name, and is no archive. */
const unfinished = '.part'

const writeWhole = async (disk: Disk, file: string, bytes: Iterable<Uint8Array>): Promise<number> => {
  if (disk.stat(file) !== undefined) await disk.unlink(file)
  const out = await disk.open(file, 'create')
  let written = 0
  try {
    await pipeline(Readable.from(bytes), createGzip(), async (source: AsyncIterable<Uint8Array>) => {
      for await (const piece of source) {
        await out.write(piece, written)
        written += piece.length
      }
    })
    await out.sync()
    return written
  } finally {
    await out.close()
  }
}

/** Resolves when the file and its name are on the disk. Rejects with what the disk said, and leaves no archive then. */
export const writeArchive = async (
  { disk, folder }: ArchiveTarget,
  header: ArchiveHeader,
  lines: Iterable<FallingLine>,
): Promise<Archived> => {
  const to = placeOf(folder, header)
  const own = path.dirname(to)
  await disk.makeFolder(own)
  await disk.syncFolder(folder)
  let counts: ArchiveCounts = { records: 0, entries: 0 }
  const bytes = await writeWhole(
    disk,
    to + unfinished,
    archiveBytes(header, lines, (found) => {
      counts = found
    }),
  ).catch(async (error: unknown) => {
    await disk.unlink(to + unfinished).catch(() => undefined)
    throw error
  })
  await disk.rename(to + unfinished, to)
  await disk.syncFolder(own)
  return { path: to, bytes, ...counts }
}
