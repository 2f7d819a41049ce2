/**
 * Bytes of blobs in pieces. Those in memory are digested between turns of the event loop: to hand 12 MiB over to a
 * thread takes the loop as long as their digest, and that at one go. Files are read and digested by a thread
 * (docs/decisions.md).
 */
import { createHash, hash } from 'node:crypto'
import type { Problem } from '../../base/errors.js'
import { createTurns, type Portions } from '../../base/turns.js'
import { sourceOf, type ByteSource } from '../disk/pieces.js'

export const pieceBytes = 256 * 1024

export interface Digested {
  /** Hex. */
  readonly sha256: string
  /** Those of each piece. */
  readonly pieces: readonly string[]
}

export const digestPieces = function* ({ length, read }: ByteSource): Portions<Digested> {
  const whole = createHash('sha256')
  const pieces: string[] = []
  for (let at = 0; at < length; at += pieceBytes) {
    if (at > 0) yield
    const piece = read(at, Math.min(pieceBytes, length - at))
    whole.update(piece)
    pieces.push(hash('sha256', piece))
  }
  return { sha256: whole.digest('hex'), pieces }
}

/** Of all that is digested at a time, one piece in each turn of the event loop. */
const turn = createTurns()

/** The digest of a source of which one piece is read in each turn of the event loop. */
export const digestInTurns = async (source: ByteSource): Promise<Digested> => {
  const work = digestPieces(source)
  for (;;) {
    const step = work.next()
    if (step.done === true) return step.value
    await turn()
  }
}

/** The SHA-256 of bytes in hex, made as that of blobs is. */
export const digestBytes = async (bytes: Uint8Array): Promise<string> => (await digestInTurns(sourceOf(bytes))).sha256

export interface Verified {
  readonly pieces: readonly string[]
  readonly damaged: () => Problem
}

/** Reads the part from `start` up to `end`; each piece it touches must still be what it was. */
export const verifiedPieces = (source: ByteSource, { pieces, damaged }: Verified) =>
  function* (start: number, end: number): Iterable<Uint8Array> {
    for (let at = start - (start % pieceBytes); at < end; at += pieceBytes) {
      const piece = source.read(at, Math.min(pieceBytes, source.length - at))
      if (hash('sha256', piece) !== pieces[at / pieceBytes]) throw damaged()
      yield piece.subarray(Math.max(0, start - at), Math.min(piece.length, end - at))
    }
  }
