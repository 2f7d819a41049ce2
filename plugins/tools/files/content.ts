/** Bytes of one file: reading, telling text from binary, and cutting without breaking a character. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileErrors } from './errors.js'
import { openFile, parentOf, withFolder, type Folder, type Place } from './workspace.js'

/** Largest file that is read or written whole, bytes. */
export const maxFileBytes = 16 * 1024 * 1024

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export const isText = (bytes: Uint8Array): boolean => isUtf8(bytes) && !bytes.includes(0)

/** The text of the bytes if they are UTF-8 without NUL; a byte order mark is kept. */
export const textOf = (bytes: Uint8Array): string | undefined =>
  isText(bytes) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : undefined

const readBounded = async (handle: FileHandle): Promise<{ bytes: Buffer; mode: number }> => {
  const { size, mode } = await handle.stat()
  if (size > maxFileBytes) throw fileErrors.file_too_large({ details: { bytes: size, limit: maxFileBytes } })
  // A file may grow while it is read, and some report no size at all.
  const buffer = Buffer.allocUnsafe(Math.max(size, 64 * 1024) + 1)
  let length = 0
  while (length < buffer.length) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
    if (bytesRead === 0) return { bytes: buffer.subarray(0, length), mode }
    length += bytesRead
  }
  throw fileErrors.file_too_large({ details: { bytes: length, limit: maxFileBytes } })
}

export interface FileContent {
  readonly bytes: Buffer
  readonly mode: number
}

/** Reads a file of an open folder. */
export const readIn = async (folder: Folder, name: string): Promise<FileContent> => {
  const handle = await openFile(folder, name)
  try {
    return await readBounded(handle)
  } finally {
    await handle.close()
  }
}

export const readPlace = (place: Place): Promise<FileContent> =>
  withFolder(parentOf(place), { use: (folder) => readIn(folder, basename(place.real)) })
