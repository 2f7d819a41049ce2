/** Bytes named by their SHA-256, in 256 folders by its first byte, verified on every read. */
import { dirname, join } from 'node:path'
import { assert } from '../../base/assert.js'
import type { Problem } from '../../base/errors.js'
import type { BlobRef, Blobs, OpenBlob } from '../contract.js'
import type { Disk } from '../disk/disk.js'
import { rangeOf, sourceOf } from '../disk/pieces.js'
import { digestInTurns, verifiedPieces } from './blob-pieces.js'
import { errors } from '../errors.js'
import { createFileDigests, type FileDigests } from './file-digests.js'
import { sweepTemps } from '../disk/temps.js'

export interface BlobsOptions {
  /** `blobs/`; areas are folders in it. */
  readonly folder: string
  readonly disk: Disk
  /** Runs every change of the disk; refuses it while storage is read-only. */
  readonly write?: (change: () => Promise<void>) => Promise<void>
}

export interface BlobAreas {
  area(name: string): Blobs
  /** Deletes half-written files of an earlier life; returns their paths. */
  sweep(): Promise<string[]>
  close(): Promise<void>
}

const validName = /^[a-z][a-z0-9_-]*$/u
const validDigest = /^[0-9a-f]{64}$/u
/** The file of some bytes in the folder of an area. */
export const blobPath = (area: string, sha256: string): string => join(area, sha256.slice(0, 2), sha256)

/** Contents whose names are known to be on disk; older ones are written again when they come again. */
const remembered = 10_000

export const createBlobs = (options: BlobsOptions): BlobAreas => {
  const open = new Map<string, Blobs>()
  const digests = createFileDigests()
  const area = (name: string): Blobs => {
    assert(validName.test(name), `'${name}' is no name for an area of blobs`)
    const made = open.get(name) ?? createArea(join(options.folder, name), { ...options, digests })
    open.set(name, made)
    return made
  }
  const sweep = async (): Promise<string[]> => {
    const { disk, folder } = options
    const shards = disk
      .list(folder)
      .flatMap((name) => disk.list(join(folder, name)).map((shard) => join(folder, name, shard)))
    const swept: string[] = []
    for (const shard of shards) swept.push(...(await sweepTemps(disk, shard)))
    return swept
  }
  return { area, sweep, close: digests.close }
}

interface AreaOptions extends BlobsOptions {
  readonly digests: Pick<FileDigests, 'digest'>
}

const createArea = (area: string, options: AreaOptions): Blobs => {
  const { folder, disk, digests, write = (change) => change() } = options
  const durable = new Set<string>()
  const inTurn = createTurns()
  const pathOf = ({ sha256 }: BlobRef): string | undefined =>
    validDigest.test(sha256) ? blobPath(area, sha256) : undefined

  const store = async (path: string, bytes: Uint8Array): Promise<void> => {
    for (const made of [folder, area, dirname(path)]) await ensureFolder(disk, made, durable)
    await disk.replace(path, bytes)
    remember(durable, path)
  }
  const put: Blobs['put'] = async (bytes, named) => {
    const { sha256 } = await digestInTurns(sourceOf(bytes))
    const ref = { sha256, bytes: bytes.length }
    named?.(ref)
    const path = blobPath(area, ref.sha256)
    await inTurn(path, async () => (durable.has(path) ? undefined : write(() => store(path, bytes))))
    return ref
  }
  /** Stored again, they are written again. */
  const damaged = ({ sha256 }: BlobRef): Problem => {
    durable.delete(blobPath(area, sha256))
    return errors.blob_damaged({ details: { sha256 } })
  }
  const open = async (ref: BlobRef): Promise<OpenBlob | undefined> => {
    const path = pathOf(ref)
    if (path === undefined || disk.stat(path) === undefined) {
      if (path !== undefined) durable.delete(path)
      return undefined
    }
    const file = disk.openSync(path)
    try {
      const source = rangeOf(file)
      if (source.length !== ref.bytes) throw damaged(ref)
      const { sha256, pieces } = await digests.digest(file)
      if (sha256 !== ref.sha256) throw damaged(ref)
      const read = verifiedPieces(source, { pieces, damaged: () => damaged(ref) })
      return { bytes: ref.bytes, pieces: read, close: () => file.close() }
    } catch (error) {
      await file.close()
      throw error
    }
  }
  const read = async (ref: BlobRef): Promise<Uint8Array | undefined> => {
    const opened = await open(ref)
    return opened && wholeOf(opened)
  }
  const remove = async (ref: BlobRef): Promise<void> => {
    const path = pathOf(ref)
    if (path !== undefined) await inTurn(path, () => write(() => drop(path)))
  }
  const drop = async (path: string): Promise<void> => {
    durable.delete(path)
    if (disk.stat(path) === undefined) return
    await disk.unlink(path)
    await disk.syncFolder(dirname(path))
  }
  const has = (ref: BlobRef): boolean => {
    const path = pathOf(ref)
    if (path === undefined) return false
    const isThere = disk.stat(path)?.size === ref.bytes
    // What somebody took away is written again when it comes again.
    if (!isThere) durable.delete(path)
    return isThere
  }
  const refs = function* (): Iterable<BlobRef> {
    for (const shard of disk.list(area))
      for (const sha256 of disk.list(join(area, shard)).filter((name) => validDigest.test(name)))
        yield { sha256, bytes: disk.stat(join(area, shard, sha256))?.size ?? 0 }
  }
  return { put, read, open, has, refs, remove }
}

const wholeOf = async (opened: OpenBlob): Promise<Uint8Array> => {
  try {
    const whole = new Uint8Array(opened.bytes)
    let at = 0
    for (const piece of opened.pieces(0, opened.bytes)) {
      whole.set(piece, at)
      at += piece.length
    }
    return whole
  } finally {
    await opened.close()
  }
}

/** A folder counts only when its name in the folder above is on disk. */
const ensureFolder = async (disk: Disk, folder: string, durable: Set<string>): Promise<void> => {
  if (durable.has(folder)) return
  await disk.makeFolder(folder)
  await disk.syncFolder(dirname(folder))
  remember(durable, folder)
}

const remember = (durable: Set<string>, path: string): void => {
  durable.add(path)
  for (const oldest of durable) {
    if (durable.size <= remembered) return
    durable.delete(oldest)
  }
}

/** Runs the jobs of one path one after the other. */
const createTurns = (): ((path: string, job: () => Promise<void>) => Promise<void>) => {
  const last = new Map<string, Promise<void>>()
  return (path, job) => {
    const turn = (last.get(path) ?? Promise.resolve()).then(job)
    const settled = turn
      .catch(() => {})
      .then(() => {
        if (last.get(path) === settled) last.delete(path)
      })
    last.set(path, settled)
    return turn
  }
}
