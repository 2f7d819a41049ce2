/** A file of lines outside the state root that an operator wants written: made for its user alone, and appended to. */
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants

/** Such a file, open. */
export interface OutsideLines {
  /** Bytes that stood in it when it was opened. */
  readonly before: number
  /** Writes one line at its end. Throws the system's error where there is no room. */
  append(line: string): void
  close(): void
}

const writeWhole = (file: number, bytes: Buffer): void => {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
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
    before: stat.size,
    append: (line) => writeWhole(file, Buffer.from(`${line}\n`)),
    close: () => closeSync(file),
  }
}
