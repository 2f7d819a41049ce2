/** A file that is read line by line and in pieces: it may be larger than one read or one buffer can be. */
import type { Disk } from '../disk/disk.js'
import { checkLine, type LineCheck } from './line.js'

export interface FileLines {
  readonly path: string
  /** Bytes of the file when it was opened; 0 if it was absent. */
  readonly length: number
  /** The line that begins at `start`, with its newline; undefined if it has no end before `end`, or none at all. */
  line(start: number, end?: number): Uint8Array | undefined
}

/** Bytes that are read at once: few enough that hardly anything is in memory of a file, however large it is. */
const ordinaryPiece = 1024 * 1024
/** No line is as long as this many pieces; a file without newlines is not read whole to find that out. */
const mostPieces = 64
const newline = 10

interface Piece {
  readonly start: number
  readonly bytes: Uint8Array
}

export const createFileLines = (disk: Disk, path: string, pieceBytes = ordinaryPiece): FileLines => {
  const length = disk.stat(path)?.size ?? 0
  let piece: Piece = { start: 0, bytes: new Uint8Array() }
  const load = (start: number, bytes: number): void => {
    const wanted = Math.min(bytes, length - start)
    if (disk.stat(path) === undefined) return
    const file = disk.openSync(path)
    try {
      piece = { start, bytes: file.read(start, wanted) }
    } finally {
      void file.close()
    }
  }
  const inPiece = (start: number): Uint8Array | undefined => {
    const at = start - piece.start
    if (at < 0 || at >= piece.bytes.length) return undefined
    const stop = piece.bytes.indexOf(newline, at)
    return stop === -1 ? undefined : piece.bytes.subarray(at, stop + 1)
  }
  /** Who reads backwards finds the lines before this one in the same piece. */
  const loadAround = (start: number): void =>
    load(start < piece.start ? Math.max(0, start - Math.floor(pieceBytes / 2)) : start, pieceBytes)
  const find = (start: number): Uint8Array | undefined => {
    let found = inPiece(start)
    if (found !== undefined) return found
    loadAround(start)
    found = inPiece(start)
    for (let pieces = 1; found === undefined && pieces <= mostPieces; pieces *= 2) {
      load(start, pieces * pieceBytes)
      found = inPiece(start)
      if (start + pieces * pieceBytes >= length) break
    }
    return found
  }
  return {
    path,
    length,
    line: (start, end = length) => {
      if (start >= Math.min(end, length)) return undefined
      const found = find(start)
      return found !== undefined && start + found.length <= end ? found : undefined
    },
  }
}

/** Checks the line that begins at `start`; `end` as of the file. */
export const checkLineAt = (
  lines: FileLines,
  start: number,
  { seed, end }: { readonly seed: number; readonly end: number },
): LineCheck & { readonly line?: Uint8Array } => {
  const line = lines.line(start, end)
  if (line === undefined) return { ok: false, rule: 'the line has no end', end: undefined }
  const check = checkLine(line, 0, seed)
  return check.ok ? { ok: true, end: start + line.length, line } : { ...check, end: start + line.length }
}
