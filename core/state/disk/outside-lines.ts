/** JSON lines outside the state root that an operator wants written: made for its user alone, and appended to. */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants

/** Such a file, open. */
export interface OutsideLines {
  /** Bytes of the whole lines that stood in it when it was opened: half a line at its end is taken away. */
  readonly before: number
  /** Writes one line at its end, all of it or nothing. Throws the system's error where there is no room. */
  append(line: string): void
  /** True if nobody can find the file any more: its name was removed. */
  isGone(): boolean
  close(): void
}

/** All of it or nothing: half a line would be the beginning of whatever comes after it. */
const writeWhole = (file: number, bytes: Buffer): void => {
  const { size } = fstatSync(file)
  try {
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
  } catch (error) {
    ftruncateSync(file, size)
    throw error
  }
}

const lineEnd = 10
const pieceBytes = 64 * 1024

/** Where the last line begins that has no end; `size` if each has one. */
const openLineAt = (file: number, size: number): number => {
  const piece = Buffer.alloc(pieceBytes)
  for (let end = size; end > 0;) {
    const begin = Math.max(0, end - pieceBytes)
    const at = piece.subarray(0, readSync(file, piece, 0, end - begin, begin)).lastIndexOf(lineEnd)
    if (at >= 0) return begin + at + 1
    end = begin
  }
  return 0
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Ends the last line, or takes away the half of one that a kill left; the bytes that stand there then. */
const endLines = (file: number, size: number): number => {
  const at = openLineAt(file, size)
  if (at === size) return size
  const rest = Buffer.alloc(size - at)
  if (isJson(rest.subarray(0, readSync(file, rest, 0, rest.length, at)).toString())) writeWhole(file, Buffer.from('\n'))
  else ftruncateSync(file, at)
  return fstatSync(file).size
}

/** Undefined if something else stands there: a file with lines must begin with this text. Throws the system's error. */
export const openOutsideLines = (path: string, beginning: string): OutsideLines | undefined => {
  const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  const stat = fstatSync(file)
  const begun = Buffer.alloc(Buffer.byteLength(beginning))
  const isOurs = stat.isFile() && (stat.size === 0 || readSync(file, begun, 0, begun.length, 0) === begun.length)
  if (!isOurs || (stat.size > 0 && begun.toString() !== beginning)) {
    closeSync(file)
    return undefined
  }
  return {
    before: endLines(file, stat.size),
    append: (line) => writeWhole(file, Buffer.from(`${line}\n`)),
    isGone: () => fstatSync(file).nlink === 0,
    close: () => closeSync(file),
  }
}
