/** The real disk: plain files, never followed through a symbolic link, private from birth. */
import * as fs from 'node:fs'
import * as files from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { fault } from '../../base/assert.js'
import { unsafeCast } from '../../base/schema.js'
import { errors } from '../errors.js'
import type { Disk, DiskFile, FileStat } from './disk.js'

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = fs.constants
const flags = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  write: O_RDWR | O_NOFOLLOW | O_NONBLOCK,
  create: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
}

/** Files that must fit on a file system which counts them: without room for new ones its bytes are of no use. */
const leastFiles = 64

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')

const orAbsent = <T>(read: () => T): T | undefined => {
  try {
    return read()
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

/** Opens a file for reading. A pipe in its place would keep whoever opens or reads it for ever. */
const openToRead = (path: string, kind = stat(path)?.kind): number => {
  if (kind !== undefined && kind !== 'file') throw errors.state_root_not_regular({ details: { path } })
  return fs.openSync(path, flags.read)
}

/** Into the page cache without a trip to the thread pool: the sync is what waits for the disk. */
const smallWrite = 64 * 1024
const writeSmall = (fd: number, bytes: Uint8Array, position: number): void => {
  for (let done = 0; done < bytes.length;) {
    const written = fs.writeSync(fd, bytes, done, bytes.length - done, position + done)
    if (written === 0) throw fault('the disk took no bytes')
    done += written
  }
}

/** libuv reports a partial count instead of the error of a later chunk: only a loop sees the error. */
const writeWhole = async (handle: files.FileHandle, bytes: Uint8Array, position: number): Promise<void> => {
  if (bytes.length <= smallWrite) return writeSmall(handle.fd, bytes, position)
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    if (bytesWritten === 0) throw fault('the disk took no bytes')
    done += bytesWritten
  }
}

/** One read of more than 2 GiB is refused. */
const mostRead = 1024 * 1024 * 1024
const readRange = (fd: number, position: number, length: number): Uint8Array => {
  const bytes = Buffer.allocUnsafe(length)
  let done = 0
  for (let got = 1; got > 0 && done < length; done += got)
    got = fs.readSync(fd, bytes, done, Math.min(mostRead, length - done), position + done)
  return bytes.subarray(0, done)
}

const handleFile = (path: string, handle: files.FileHandle): DiskFile => ({
  path,
  write: (bytes, position) => writeWhole(handle, bytes, position),
  sync: () => handle.datasync(),
  truncate: (length) => handle.truncate(length),
  size: () => fs.fstatSync(handle.fd).size,
  read: (position, length) => readRange(handle.fd, position, length),
  close: () => handle.close(),
})

const refuse = (): Promise<never> => Promise.reject(fault('opened for reading'))

const stampOf = (fd: number): string => {
  const { dev, ino, size, ctimeMs } = fs.fstatSync(fd)
  return [dev, ino, size, ctimeMs].join(':')
}

const closeBeside = promisify(fs.close)

/**
 * The last who has a file that is gone frees it, which takes as long as it is large: not on the main thread. Any other
 * is closed at once: what waits for the end of a turn takes two KiB, and a check reads a whole root in one.
 */
const closeFile = async (fd: number): Promise<void> => {
  if (fs.fstatSync(fd).nlink === 0) await closeBeside(fd)
  else fs.closeSync(fd)
}

const readOnlyFile = (path: string, fd: number): DiskFile => ({
  path,
  get system() {
    return { fd, stamp: stampOf(fd) }
  },
  write: refuse,
  sync: refuse,
  truncate: refuse,
  size: () => fs.fstatSync(fd).size,
  read: (position, length) => readRange(fd, position, length),
  close: () => closeFile(fd),
})

const readFile = (path: string, most = Infinity): Uint8Array | undefined =>
  orAbsent(() => {
    const found = stat(path)
    if (found === undefined) return undefined
    const fd = openToRead(path, found.kind)
    try {
      return readRange(fd, 0, Math.min(fs.fstatSync(fd).size, most))
    } finally {
      fs.closeSync(fd)
    }
  })

const syncFolder = async (path: string): Promise<void> => {
  const handle = await files.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const writeTemporary = async (path: string, bytes: Uint8Array): Promise<void> => {
  const handle = await files.open(path, flags.write)
  try {
    await writeWhole(handle, bytes, 0)
  } finally {
    await handle.close()
  }
}

/**
 * write-file-atomic ignores short writes, so it gets no data: its hook writes, then it syncs the file and renames. It
 * never syncs the folder.
 */
const replace = async (path: string, bytes: Uint8Array): Promise<void> => {
  if (stat(path)?.kind === 'link') throw fault('a symbolic link is in the place of a state file')
  // Commands that ask a daemon write nothing.
  const { default: writeFileAtomic } = await import('write-file-atomic')
  await writeFileAtomic(path, unsafeCast<string>(null), {
    mode: 0o600,
    tmpfileCreated: (temporary) => writeTemporary(temporary, bytes),
  })
  await syncFolder(dirname(path))
}

const kindOf = (stats: fs.Stats): FileStat['kind'] => {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'folder'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

const stat = (path: string): FileStat | undefined =>
  orAbsent(() => {
    // An error for a file that is not there would cost as much as ten looks.
    const found = fs.lstatSync(path, { throwIfNoEntry: false })
    return (
      found && {
        kind: kindOf(found),
        size: found.size,
        mode: found.mode & 0o7777,
        uid: found.uid,
        dev: found.dev,
        ino: found.ino,
        links: found.nlink,
      }
    )
  })

const makeFolder = async (path: string): Promise<void> => {
  try {
    await files.mkdir(path, { mode: 0o700 })
  } catch (error) {
    if (stat(path)?.kind !== 'folder') throw error
  }
}

export const createDisk = (): Disk => ({
  open: async (path, how) => handleFile(path, await files.open(path, flags[how], 0o600)),
  openSync: (path) => readOnlyFile(path, openToRead(path)),
  readFile,
  replace,
  rename: (from, to) => files.rename(from, to),
  unlink: (path) => files.unlink(path),
  link: (from, to) => files.link(from, to),
  makeFolder,
  removeFolder: (path) => files.rmdir(path),
  restrict: async (path) => {
    const found = stat(path)
    if (found?.kind === 'file' || found?.kind === 'folder')
      await files.chmod(path, found.kind === 'file' ? 0o600 : 0o700)
  },
  syncFolder,
  list: (path) => orAbsent(() => fs.readdirSync(path).toSorted()) ?? [],
  stat,
  space: (path) => {
    const { bavail, bsize, type, files: most, ffree } = fs.statfsSync(path)
    return most > 0 && ffree < leastFiles ? { free: 0, type, isOutOfFiles: true } : { free: bavail * bsize, type }
  },
})
