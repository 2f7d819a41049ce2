/**
 * Bytes that are kept for a while beside the memory: in a file of the system's folder for temporary files, never in a
 * root. The file has no name once it is open, so nothing is left of it whatever happens.
 */
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf, errors } from '../errors.js'

export interface Scratch {
  /** Keeps bytes; returns where. Throws `target_not_writable` where there is no room for them. */
  add(bytes: Uint8Array): number
  read(position: number, length: number): Uint8Array
  close(): void
}

const open = (): number => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'holdfast-'))
  const path = join(folder, 'scratch')
  try {
    return fs.openSync(path, 'wx+', 0o600)
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

const writeAll = (fd: number, bytes: Uint8Array, position: number): void => {
  for (let done = 0; done < bytes.length;) done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done)
}

const onScratch = <R>(step: () => R): R => {
  try {
    return step()
  } catch (cause) {
    const reason = codeOf(cause) === 'ENOSPC' ? 'no space is left' : 'its file system refuses it'
    throw errors.target_not_writable({ details: { path: tmpdir(), reason }, cause })
  }
}

export const createScratch = (): Scratch => {
  let fd: number | undefined
  let length = 0
  return {
    add: (bytes) =>
      onScratch(() => {
        fd ??= open()
        writeAll(fd, bytes, length)
        length += bytes.length
        return length - bytes.length
      }),
    read: (position, wanted) => {
      const bytes = new Uint8Array(wanted)
      for (let done = 0, got = 1; fd !== undefined && got > 0 && done < wanted; done += got)
        got = fs.readSync(fd, bytes, done, wanted - done, position + done)
      return bytes
    },
    close: () => {
      if (fd !== undefined) fs.closeSync(fd)
      fd = undefined
    },
  }
}
