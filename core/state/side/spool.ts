/**
 * Spools: bytes that something puts out for as long as it likes, in a file of
 * bounded size. Behind a sealed header line stand the last bytes as they came.
 * Beyond the cap the file is replaced by one with the newest part, so a kill
 * leaves the old or the new file whole, and its header says what went before.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { assert, fault } from '../../base/assert.js'
import type { Spool, SpoolAccount, SpoolReading, Spools } from '../contract.js'
import type { Disk, DiskFile } from '../disk/disk.js'
import { isName } from '../format/layout.js'
import { checkLine, lineValue, sealedLine } from '../format/line.js'

export interface SpoolsOptions {
  /** `spools/`; areas are folders in it. */
  readonly folder: string
  readonly disk: Disk
  /** False while storage takes no changes, or has no room but for itself. */
  readonly mayWrite: () => boolean
  /** Throws the problem of storage that takes no changes. */
  readonly refuse: () => never
  /** Largest file, and how much of its output a replacement begins with. */
  readonly capBytes?: number
  readonly keepBytes?: number
}

export interface SpoolAreas {
  area(name: string): Spools
}

const mebibyte = 1024 * 1024

interface Header {
  readonly dropped: number
  readonly lost: number
  readonly rotations: number
}
interface Head extends Header {
  /** Bytes of the header line. */ readonly length: number
}

const headerLine = (header: Header): Uint8Array =>
  sealedLine(JSON.stringify({ v: 1, k: 'spool', ...header }).slice(0, -1), 0)

/** More bytes than a header line ever has. */
export const longestSpoolHeader = 256

/** The header of the first bytes of a spool; undefined if they do not begin with one. */
const headIn = (bytes: Uint8Array): Head | undefined => {
  const checked = checkLine(bytes, 0, 0)
  if (!checked.ok) return undefined
  return { ...lineValue<Header>(bytes, 0, checked.end), length: checked.end }
}

/** The header of a spool on disk. */
export const readSpoolHead = (disk: Disk, path: string): Head | undefined => {
  const file = disk.openSync(path)
  try {
    return headIn(file.read(0, longestSpoolHeader))
  } finally {
    void file.close()
  }
}

/** A name on disk comes from no id. */
export const spoolName = (owner: string): string =>
  `${createHash('sha256').update(owner).digest('hex').slice(0, 32)}.spool`
export const isSpoolName = (name: string): boolean => /^[0-9a-f]{32}\.spool$/u.test(name)

const noteOf = (lost: number): Uint8Array => Buffer.from(`\n[daemon: ${lost} bytes of output could not be written]\n`)

/** A spool that is written to: its file, what its header says, and how much output stands behind it. */
interface Open {
  file: DiskFile
  head: Head
  kept: number
}

const openFile = async (disk: Disk, path: string): Promise<Open> => {
  const file = await disk.open(path, 'write')
  const head = headIn(file.read(0, longestSpoolHeader))
  if (head === undefined) {
    await file.close()
    throw fault('the header of a spool does not fit')
  }
  return { file, head, kept: file.size() - head.length }
}

const createFile = async (disk: Disk, path: string): Promise<Open> => {
  const line = headerLine({ dropped: 0, lost: 0, rotations: 0 })
  const file = await disk.open(path, 'create')
  try {
    await file.write(line, 0)
  } catch (error) {
    await file.close()
    await disk.unlink(path)
    throw error
  }
  return { file, head: { dropped: 0, lost: 0, rotations: 0, length: line.length }, kept: 0 }
}

/** Replaces the file by one with the newest output, the chunk included. */
const rotate = async (
  disk: Disk,
  open: Open,
  { chunk, lost, keepBytes }: { chunk: Uint8Array; lost: number; keepBytes: number },
): Promise<Open> => {
  const { file, head, kept } = open
  const body = Buffer.concat([file.read(head.length, kept), chunk]).subarray(-keepBytes)
  const dropped = head.dropped + kept + chunk.length - body.length
  const { path } = file
  await disk.replace(path, Buffer.concat([headerLine({ dropped, lost, rotations: head.rotations + 1 }), body]))
  return openFile(disk, path)
}

interface LiveSpool extends Spool {
  readonly account: SpoolAccount
  /** Bytes of the header line. */ readonly start: number
}

const createSpool = (
  { disk, mayWrite, capBytes = 8 * mebibyte, keepBytes = 6 * mebibyte }: SpoolsOptions,
  path: string,
  first: Open,
): LiveSpool => {
  let open: Open | undefined = first
  let [last, lost, unsaid] = [first, 0, 0]
  let turn: Promise<void> = Promise.resolve()

  /** Nothing is known of a file of which a replacement failed, so it is looked at again. */
  const current = async (): Promise<Open> => (open ??= last = await openFile(disk, path))
  const put = async (chunk: Uint8Array): Promise<void> => {
    const now = await current()
    const end = now.head.length + now.kept
    if (end + chunk.length <= capBytes) {
      await now.file.write(chunk, end)
      now.kept += chunk.length
      return
    }
    open = undefined
    try {
      open = last = await rotate(disk, now, { chunk, lost, keepBytes })
    } finally {
      await now.file.close()
    }
  }
  /** What a failed write left behind the bytes that count is overwritten by the next one, or cut here. */
  const cut = async (): Promise<void> => open?.file.truncate(open.head.length + open.kept).catch(() => {})
  const lose = (bytes: number): void => {
    lost += bytes
    unsaid += bytes
  }
  const add = async (bytes: Uint8Array): Promise<void> => {
    if (!mayWrite()) return lose(bytes.length)
    try {
      await put(unsaid > 0 ? Buffer.concat([noteOf(unsaid), bytes]) : bytes)
      unsaid = 0
    } catch {
      lose(bytes.length)
      await cut()
    }
  }
  const append = (bytes: Uint8Array): Promise<void> => (turn = turn.then(() => add(bytes)))
  const close = async (): Promise<SpoolAccount> => {
    await turn
    if (unsaid > 0) await add(new Uint8Array())
    // Nothing relies on these bytes, so a sync that fails is no reason to distrust the state.
    await open?.file.sync().catch(() => {})
    await open?.file.close()
    return account()
  }
  const account = (): SpoolAccount => ({
    kept: last.kept,
    total: last.head.dropped + last.kept + lost,
    lost,
    rotations: last.head.rotations,
  })
  return {
    path,
    append,
    close,
    get account() {
      return account()
    },
    get start() {
      return last.head.length
    },
  }
}

const createArea = (area: string, options: SpoolsOptions): Spools => {
  const { disk, folder, mayWrite, refuse } = options
  const live = new Map<string, LiveSpool>()
  const pathOf = (owner: string): string => join(area, spoolName(owner))

  const begin = async (owner: string): Promise<Spool> => {
    if (!mayWrite()) refuse()
    for (const made of [folder, area]) await disk.makeFolder(made)
    const spool = createSpool(options, pathOf(owner), await createFile(disk, pathOf(owner)))
    live.set(owner, spool)
    const close = async (): Promise<SpoolAccount> => {
      live.delete(owner)
      return spool.close()
    }
    return {
      path: spool.path,
      append: spool.append,
      close,
      get account() {
        return spool.account
      },
    }
  }
  const read = (owner: string, most: number): SpoolReading | undefined => {
    const [path, writing] = [pathOf(owner), live.get(owner)]
    if (disk.stat(path)?.kind !== 'file') return undefined
    const file = disk.openSync(path)
    try {
      const head = headIn(file.read(0, longestSpoolHeader))
      if (head === undefined) return undefined
      const kept =
        writing !== undefined && writing.start === head.length
          ? writing.account.kept
          : Math.max(0, file.size() - head.length)
      const account = writing?.account ?? {
        kept,
        total: head.dropped + kept + head.lost,
        lost: head.lost,
        rotations: head.rotations,
      }
      const length = Math.min(most, kept)
      return { path, account, bytes: file.read(head.length + kept - length, length) }
    } finally {
      void file.close()
    }
  }
  const remove = async (owner: string): Promise<void> => {
    if (disk.stat(pathOf(owner)) !== undefined) await disk.unlink(pathOf(owner))
  }
  const keepOnly = async (owners: Iterable<string>): Promise<number> => {
    const names = new Set([...owners, ...live.keys()].map(spoolName))
    const gone = disk.list(area).filter((name) => isSpoolName(name) && !names.has(name))
    for (const name of gone) await disk.unlink(join(area, name))
    return gone.length
  }
  return { begin, read, remove, keepOnly }
}

export const createSpools = (options: SpoolsOptions): SpoolAreas => {
  const { folder } = options
  const areas = new Map<string, Spools>()
  const area = (name: string): Spools => {
    assert(isName(name), `'${name}' is no name for an area of spools`)
    const made = areas.get(name) ?? createArea(join(folder, name), options)
    areas.set(name, made)
    return made
  }
  return { area }
}
