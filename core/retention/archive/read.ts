/** Reads an archive line by line, and refuses one that is not as it was written. */
import { createGunzip } from 'node:zlib'
import { Readable } from 'node:stream'
import type { Disk } from '../../state/disk/disk.js'
import { rangeOf } from '../../state/disk/pieces.js'
import { readHeader } from '../../state/format/line-file.js'
import { checkLine, lineValue, saltSeed } from '../../state/format/line.js'
import { unsafeCast } from '../../base/schema.js'
import type { ArchiveCounts, ArchiveHeader, ArchiveLine } from './lines.js'
import { errors } from './errors.js'

const pieceBytes = 512 * 1024
const newline = 10

function* compressed(disk: Disk, path: string): Iterable<Uint8Array> {
  const file = disk.openSync(path)
  try {
    const { length, read } = rangeOf(file)
    for (let at = 0; at < length; at += pieceBytes) yield read(at, Math.min(pieceBytes, length - at))
  } finally {
    void file.close()
  }
}

/** Lines with their newline; what stands behind the last newline is told as one that has none. */
async function* linesOf(disk: Disk, path: string): AsyncIterable<Uint8Array> {
  const unzipped: AsyncIterable<Buffer> = Readable.from(compressed(disk, path)).pipe(createGunzip())
  let begun: Buffer[] = []
  for await (const piece of unzipped) {
    let start = 0
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, start)) {
      yield Buffer.concat([...begun, piece.subarray(start, end + 1)])
      begun = []
      start = end + 1
    }
    if (start < piece.length) begun.push(piece.subarray(start))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}

const damaged = (path: string, reason: string) => errors.archive_damaged({ details: { path, reason } })

/** What an archive is of; the lines follow. */
export interface Archive {
  readonly header: ArchiveHeader
  /** All lines but the last. Throws `archive_damaged` where one is wrong or missing. */
  readonly lines: AsyncIterable<Exclude<ArchiveLine, { end: true }>>
}

async function* checked(
  path: string,
  rows: AsyncIterator<Uint8Array>,
  seed: number,
): AsyncIterable<Exclude<ArchiveLine, { end: true }>> {
  const seen = { records: 0, entries: 0 }
  let end: ArchiveCounts | undefined
  for (let no = 2; ; no += 1) {
    const { value, done } = await rows.next()
    if (done === true) break
    const check = checkLine(value, 0, seed)
    if (!check.ok || end !== undefined)
      throw damaged(path, `line ${no}: ${check.ok ? 'it is behind the end' : check.rule}`)
    const line = lineValue<ArchiveLine>(value, 0, value.length)
    if ('end' in line) end = line
    else {
      if ('collection' in line) seen.records += 1
      else seen.entries += line.entries.length
      yield line
    }
  }
  if (end === undefined) throw damaged(path, 'it was cut off')
  if (end.records !== seen.records || end.entries !== seen.entries) throw damaged(path, 'lines are missing')
}

/** What decompression says of bytes that are none of its own, as a problem of the archive. */
async function* readable<T>(path: string, lines: AsyncIterable<T>): AsyncIterable<T> {
  try {
    yield* lines
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!code.startsWith('Z_')) throw error
    throw damaged(path, code === 'Z_BUF_ERROR' ? 'it was cut off' : 'it cannot be decompressed')
  }
}

/** Throws `archive_absent` where there is no file, `archive_damaged` where it is none of ours or not whole. */
export const openArchive = async (disk: Disk, path: string): Promise<Archive> => {
  if (disk.stat(path)?.kind !== 'file') throw errors.archive_absent({ details: { path } })
  const rows = readable(path, linesOf(disk, path))[Symbol.asyncIterator]()
  const first = await rows.next()
  const read = first.done === true ? undefined : readHeader(path, first.value)
  if (read?.ok !== true) throw damaged(path, 'it has no header')
  const header = unsafeCast<ArchiveHeader>(read.header)
  if (header.k !== 'archive') throw damaged(path, 'it has no header')
  return { header, lines: checked(path, rows, saltSeed(header.salt)) }
}
