/** A file of sealed lines behind a header line: pages, indexes and tombstones. Appended to by checkpoints only. */
import { fault } from '../../base/assert.js'
import { Problem } from '../../base/errors.js'
import type { Disk, DiskFile } from '../disk/disk.js'
import { checkLineAt, type FileLines } from './file-lines.js'
import { checkLine, createLineBuffer, lineValue, saltSeed, type Fault, type LineBuffer } from './line.js'
import { storageErrors } from '../storage-errors.js'

/** The first line of every file of lines; more members tell what it is. */
export interface LineFileHeader {
  readonly v: 1
  readonly k: 'page' | 'index' | 'tombstones'
  readonly of: string
  readonly salt: string
  readonly [more: string]: unknown
}
/** What tells a file from all others. */
export type FileIdentity = Partial<LineFileHeader>

export interface LineFile {
  readonly path: string
  /** Bytes written and waiting to be written. */
  readonly length: number
  /** Adds a line: an object's JSON without its closing brace. Returns where it stands. */
  add(text: string): { readonly offset: number; readonly length: number }
  /** True when enough waits to be worth a write. */
  readonly full: boolean
  flush(): Promise<void>
  /** Writes what waits and syncs; a failure of the sync is `storage_sync_failed`. */
  sync(): Promise<void>
  close(): Promise<void>
}

const enough = 256 * 1024
const portion = 2 * 1024 * 1024

const appendTo = (file: DiskFile, start: number, seed: number): LineFile => {
  const lines: LineBuffer = createLineBuffer()
  let written = start
  let synced = start
  const syncFile = async (): Promise<void> => {
    await file.sync().catch((cause: unknown) => {
      throw storageErrors.storage_sync_failed({ cause })
    })
    synced = written
  }
  /** Syncs now and then: one sync of many megabytes would hold up the syncs of commits. */
  const flush = async (): Promise<void> => {
    if (lines.length === 0) return
    await file.write(lines.bytes(), written)
    written += lines.length
    lines.clear()
    if (written - synced >= portion) await syncFile()
  }
  return {
    path: file.path,
    get length() {
      return written + lines.length
    },
    get full() {
      return lines.length >= enough
    },
    add: (text) => {
      const offset = written + lines.length
      return { offset, length: lines.add(text, seed) }
    },
    flush,
    sync: async () => {
      await flush()
      await syncFile()
    },
    close: () => file.close(),
  }
}

/** Creates the file; its name is durable once the folder is synced. */
export const createLineFile = async (disk: Disk, path: string, header: LineFileHeader): Promise<LineFile> => {
  if (disk.stat(path) !== undefined) await disk.unlink(path)
  const file = await disk.open(path, 'create')
  try {
    const whole = appendTo(file, 0, 0)
    whole.add(JSON.stringify(header).slice(0, -1))
    await whole.flush()
    return appendTo(file, whole.length, saltSeed(header.salt))
  } catch (error) {
    await file.close().catch(() => undefined)
    throw error
  }
}

/** Opens a file to append behind the bytes that count; what a failed checkpoint left behind them is cut. */
export const openLineFile = async (
  disk: Disk,
  path: string,
  { length, identity }: { readonly length: number; readonly identity: FileIdentity },
): Promise<LineFile> => {
  const file = await disk.open(path, 'write')
  try {
    if (file.size() > length) await file.truncate(length)
    const header = readHeader(path, file.read(0, Math.min(length, 4096)), identity)
    if (!header.ok) throw damaged(header.fault)
    return appendTo(file, length, saltSeed(header.header.salt))
  } catch (error) {
    await file.close()
    throw error
  }
}

export type HeaderRead =
  | { readonly ok: true; readonly header: LineFileHeader; readonly end: number }
  | { readonly ok: false; readonly fault: Fault }

export const readHeader = (file: string, bytes: Uint8Array, identity: FileIdentity = {}): HeaderRead => {
  const none = (rule: string): HeaderRead => ({ ok: false, fault: { file, offset: 0, rule } })
  const check = checkLine(bytes, 0, 0)
  if (!check.ok) return none(`the header: ${check.rule}`)
  const header = lineValue<LineFileHeader>(bytes, 0, check.end)
  const isOther = Object.entries(identity).some(([member, value]) => header[member] !== value)
  return isOther ? none('the header is that of another file') : { ok: true, header, end: check.end }
}

/** The header, and what is wrong with the file as a whole or with single lines, as far as it was read. */
export interface LineRead {
  readonly header: LineFileHeader | undefined
  readonly faults: Fault[]
}
export interface SoundLine {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** Begins to read the bytes that count. Lines that are not sound become faults as `lines` comes to them. */
export const beginLines = (
  lines: FileLines,
  length: number,
  identity: FileIdentity,
): LineRead & { readonly lines: Iterable<SoundLine> } => {
  const file = lines.path
  const none = (fault: Fault) => ({ header: undefined, faults: [fault], lines: [] })
  if (lines.length < length)
    return none({ file, offset: lines.length, rule: `the file ends before its ${length} bytes` })
  const read = readHeader(file, lines.line(0, length) ?? new Uint8Array(), identity)
  if (!read.ok) return none(read.fault)
  const faults: Fault[] = []
  const place = { begin: read.end, end: length, seed: saltSeed(read.header.salt) }
  return { header: read.header, faults, lines: eachLine(lines, place, (fault) => void faults.push(fault)) }
}

function* eachLine(
  lines: FileLines,
  { begin, end, seed }: { readonly begin: number; readonly end: number; readonly seed: number },
  tell: (fault: Fault) => void,
): Generator<SoundLine> {
  for (let at = begin; at < end;) {
    const check = checkLineAt(lines, at, { seed, end })
    if (check.ok && check.line !== undefined) yield { offset: at, bytes: check.line }
    else if (!check.ok) tell({ file: lines.path, offset: at, rule: check.rule })
    at = check.end ?? end
  }
}

export interface LineScan extends LineRead {
  /** Where the sound lines start, in order. */ readonly starts: readonly number[]
}

/** Checks every line of the bytes that count. With faults, the sound lines around them are still named. */
export const scanLineFile = (lines: FileLines, length: number, identity: FileIdentity): LineScan => {
  const { header, faults, lines: sound } = beginLines(lines, length, identity)
  return { header, faults, starts: Array.from(sound, ({ offset }) => offset) }
}

/** The value of a line that was read, as what the reader says it is. */
export const valueOf = <T>({ bytes }: SoundLine): T => lineValue(bytes, 0, bytes.length)

/** The bytes of a line that the scan found sound. */
export const lineOf = (lines: FileLines, start: number): Uint8Array => {
  const line = lines.line(start)
  if (line === undefined) throw fault(`the file ${lines.path} changed while it was read`)
  return line
}

/** The value of a line that the scan found sound, as what the reader says it is. */
export const valueAt = <T>(lines: FileLines, start: number): T => {
  const line = lineOf(lines, start)
  return lineValue(line, 0, line.length)
}

/** Bytes of a line that the scan found sound. */
export const lengthAt = (lines: FileLines, start: number): number => lineOf(lines, start).length

export const damaged = ({ file, offset, rule }: Fault) =>
  storageErrors.storage_damaged({
    details: { file: file.slice(file.lastIndexOf('/') + 1), offset },
    cause: { file, offset, rule },
  })
/** What `damaged` told; undefined for any other error. */
export const faultIn = (error: unknown): Fault | undefined =>
  error instanceof Problem && error.code === 'storage_damaged' && isFault(error.cause) ? error.cause : undefined
const isFault = (cause: unknown): cause is Fault =>
  typeof cause === 'object' && cause !== null && 'file' in cause && 'offset' in cause && 'rule' in cause
