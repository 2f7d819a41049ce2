/** Reads an archive line by line, and refuses one that is not as it was written. */
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { Readable } from 'node:stream'
import type { Disk } from '../../state/disk/disk.js'
import { rangeOf } from '../../state/disk/pieces.js'
import { checkLine, saltSeed } from '../../state/format/line.js'
import { parse } from '../../base/parse.js'
import type { StructOf } from '../../base/schema.js'
import { isModest, maxDepth } from '../../base/text/nesting.js'
import { ArchiveHeader, ArchiveLine, type ArchiveCounts, type ArchivedLine } from './lines.js'
import { errors } from './errors.js'
import { isArchive, momentIn } from './names.js'

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

/** A stream's line has what one checkpoint wrote of its owner: no more than a log that is replayed at once. */
const longestLine = 64 * 1024 * 1024
const longestHeader = 1024
/** What comes from outside has half of it, and a record and its line are around it. */
const modest = { depth: 2 * maxDepth, most: 5_000_000 }

const damaged = (path: string, reason: string) => errors.archive_damaged({ details: { path, reason } })
const wrong = (path: string, no: number, rule: string) => damaged(path, `line ${no}: ${rule}`)

/** Lines with their newline; what stands behind the last newline is told as one that has none. */
async function* linesOf(disk: Disk, path: string): AsyncIterable<Uint8Array> {
  const unzip = createGunzip()
  const unzipped: AsyncIterable<Buffer> = Readable.from(compressed(disk, path)).pipe(unzip)
  let [begun, length, no]: [Buffer[], number, number] = [[], 0, 1]
  const add = (part: Buffer): void => {
    const most = no === 1 ? longestHeader : longestLine
    length += part.length
    if (length > most) throw wrong(path, no, `it is longer than ${most} bytes`)
    begun.push(part)
  }
  for await (const piece of unzipped) {
    let start = 0
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, start)) {
      add(piece.subarray(start, end + 1))
      yield Buffer.concat(begun)
      ;[begun, length, no, start] = [[], 0, no + 1, end + 1]
    }
    if (start < piece.length) add(piece.subarray(start))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
  const size = disk.stat(path)?.size
  if (unzip.bytesWritten !== size) throw damaged(path, 'something stands behind its end')
}

/** What an archive is of; the lines follow. */
export interface Archive {
  readonly header: ArchiveHeader
  /** All lines but the last. Throws `archive_damaged` where one is wrong or missing. */
  readonly lines: AsyncIterable<ArchivedLine>
}

/** A line's value, if it has the form that it must have: who writes an archive may be anybody who can seal a line. */
const valueOf = <T>(bytes: Uint8Array, struct: StructOf<T>): T | undefined => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  if (!isModest(text, modest)) return undefined
  try {
    const parsed = parse(struct, JSON.parse(text))
    return parsed.ok ? parsed.value : undefined
  } catch {
    return undefined
  }
}

async function* checked(path: string, rows: AsyncIterator<Uint8Array>, seed: number): AsyncIterable<ArchivedLine> {
  const seen = { records: 0, entries: 0 }
  let end: ArchiveCounts | undefined
  for (let no = 2; ; no += 1) {
    const { value, done } = await rows.next()
    if (done === true) break
    const check = checkLine(value, 0, seed)
    if (!check.ok) throw wrong(path, no, check.rule)
    if (end !== undefined) throw wrong(path, no, 'it is behind the end')
    const line = valueOf(value, ArchiveLine)
    if (line === undefined) throw wrong(path, no, 'it is neither a record nor entries nor the end')
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

const headerOf = (bytes: Uint8Array): ArchiveHeader | undefined =>
  checkLine(bytes, 0, 0).ok ? valueOf(bytes, ArchiveHeader) : undefined

/** Names that are told of a folder. */
const mostNames = 3
/** The newest archives of a folder of one root, or of the folder above. */
const sayInside = (disk: Disk, folder: string): string => {
  const own = disk.list(folder).flatMap((name) => {
    const inside = disk.stat(join(folder, name))?.kind === 'folder' ? disk.list(join(folder, name)) : []
    return [name, ...inside.map((one) => join(name, one))]
  })
  const newest = own.filter(isArchive).toSorted((a, b) => momentIn(b).localeCompare(momentIn(a)))
  if (newest.length === 0) return 'there is none in it'
  return `the newest in it are ${newest.slice(0, mostNames).join(', ')}`
}

/**
 * Throws `archive_is_folder` for a folder, `archive_absent` where there is no file, `archive_damaged` where it is none
 * of ours or not whole.
 */
export const openArchive = async (disk: Disk, path: string): Promise<Archive> => {
  const kind = disk.stat(path)?.kind
  if (kind === 'folder') throw errors.archive_is_folder({ details: { path, inside: sayInside(disk, path) } })
  if (kind !== 'file') throw errors.archive_absent({ details: { path } })
  const rows = readable(path, linesOf(disk, path))[Symbol.asyncIterator]()
  const first = await rows.next()
  const header = first.done === true ? undefined : headerOf(first.value)
  if (header === undefined) throw damaged(path, 'it does not begin as an archive of this version does')
  return { header, lines: checked(path, rows, saltSeed(header.salt)) }
}
