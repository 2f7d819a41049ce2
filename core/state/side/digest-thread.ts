/** The thread that reads and digests large files. */
import { readSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { atOnce } from '../../base/turns.js'
import { digestPieces, pieceBytes, type Digested } from './blob-pieces.js'

export interface DigestOrder {
  readonly id: number
  /** It stays open until the answer. */
  readonly fd: number
  readonly length: number
}
/** Undefined where it could not be read. */
export interface DigestAnswer {
  readonly id: number
  readonly digested: Digested | undefined
}

/** Used for each piece again: one for each would be garbage of the size of the file. */
const piece = Buffer.alloc(pieceBytes)
const readPiece = (fd: number, position: number, length: number): Uint8Array =>
  piece.subarray(0, readSync(fd, piece, 0, length, position))

const digest = ({ id, fd, length }: DigestOrder): DigestAnswer => {
  try {
    return { id, digested: atOnce(digestPieces({ length, read: (at, most) => readPiece(fd, at, most) })) }
  } catch {
    return { id, digested: undefined }
  }
}

parentPort?.on('message', (order: DigestOrder) => parentPort?.postMessage(digest(order)))
