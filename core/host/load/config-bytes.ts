/** Configuration files as bytes: never more of one than it may have. */
import path from 'node:path'
import { errors } from '../../base/config.js'
import { Problem } from '../../base/errors.js'
import type { Disk } from '../../state/disk/disk.js'

export type ConfigDisk = Pick<Disk, 'readFile' | 'stat'>

/** For those who are given what files hold. */
export const noFiles: ConfigDisk = { readFile: () => undefined, stat: () => undefined }

/** Bytes that a file of the configuration may have. */
export const mostConfigBytes = 8 * 1024 * 1024

export const refusedFile = (source: string, problem: string): Problem =>
  errors.config_invalid({ details: { source, problem } })

export const inConfig = (file: string): string => `config/${path.basename(file)}`

/**
 * The bytes of a configuration file, or their number if they are too many to be read; undefined if there is none.
 * Throws `config_invalid` if they cannot be read.
 */
export const boundedBytes = (
  disk: ConfigDisk,
  file: string,
  source = inConfig(file),
): Uint8Array | number | undefined => {
  try {
    const size = disk.stat(file)?.size ?? 0
    if (size > mostConfigBytes) return size
    // It may have grown since.
    const bytes = disk.readFile(file, mostConfigBytes + 1)
    return bytes === undefined || bytes.length <= mostConfigBytes ? bytes : bytes.length
  } catch (error) {
    if (error instanceof Problem) throw error
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'an unknown reason'
    throw refusedFile(source, `cannot be read: ${reason}`)
  }
}

/** The bytes of a configuration file; undefined if there is none. Throws `config_invalid` also if they are too many. */
export const configBytes = (disk: ConfigDisk, file: string, source = inConfig(file)): Uint8Array | undefined => {
  const found = boundedBytes(disk, file, source)
  if (typeof found !== 'number') return found
  throw refusedFile(source, `has ${found} bytes, and may have ${mostConfigBytes} (8 MiB) at most`)
}
