/** Bytes that are read, digested and copied in pieces: a file may be larger than one buffer can be. */
import { createHash } from 'node:crypto'
import type { Disk, DiskFile } from './disk.js'

export interface ByteSource {
  readonly length: number
  /** Fewer bytes at the end only. */
  read(position: number, length: number): Uint8Array
}

const pieceBytes = 512 * 1024

export const sourceOf = (bytes: Uint8Array): ByteSource => ({
  length: bytes.length,
  read: (position, length) => bytes.subarray(position, position + length),
})

/** The bytes of an open file from `start` up to `end`; all of them unless told. */
export const rangeOf = (file: DiskFile, start = 0, end: number = file.size()): ByteSource => ({
  length: Math.max(0, end - start),
  read: (position, length) => file.read(start + position, length),
})

const piecesOf = function* ({ length, read }: ByteSource): Iterable<{ at: number; piece: Uint8Array }> {
  for (let at = 0; at < length; at += pieceBytes) yield { at, piece: read(at, Math.min(pieceBytes, length - at)) }
}

/** Told of bytes that are done. */
export type Advance = (bytes: number) => void
const noAdvance: Advance = () => {}

/** Writes a source from the beginning of a file on; returns the SHA-256 of what was written, as hex. */
export const copyPieces = async (file: DiskFile, source: ByteSource, advance = noAdvance): Promise<string> => {
  const hash = createHash('sha256')
  for (const { at, piece } of piecesOf(source)) {
    hash.update(piece)
    await file.write(piece, at)
    advance(piece.length)
  }
  return hash.digest('hex')
}

/** Opens a file for as long as `use` reads from it. */
export const reading = async <R>(disk: Disk, path: string, use: (file: DiskFile) => R | Promise<R>): Promise<R> => {
  const file = disk.openSync(path)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

/** Size and SHA-256 (hex) of a file; undefined if it is absent. */
export const digestFile = (
  disk: Disk,
  path: string,
  advance = noAdvance,
): { bytes: number; sha256: string } | undefined => {
  if (disk.stat(path) === undefined) return undefined
  const file = disk.openSync(path)
  try {
    const source = rangeOf(file)
    const hash = createHash('sha256')
    for (const { piece } of piecesOf(source)) {
      hash.update(piece)
      advance(piece.length)
    }
    return { bytes: source.length, sha256: hash.digest('hex') }
  } finally {
    void file.close()
  }
}
