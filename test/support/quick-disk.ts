/**
 * The disk of daemons in the test's process: files are opened, written and replaced as on the real one, but without a
 * trip to the thread pool for each step, and a sync only waits for its turn. A process that goes on loses nothing of
 * what it wrote. What a sync is for is proven with disks that the tests make up (test/faults), what the real one does in
 * test/core/state/disk, and both by each daemon in a process of its own.
 */
import * as fs from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { fault } from '../../core/base/assert.js'
import type { Disk, DiskFile } from '../../core/state/disk/disk.js'
import { createDisk } from '../../core/state/disk/real-disk.js'

const { O_RDONLY, O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = fs.constants
const flags = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  write: O_RDWR | O_NOFOLLOW | O_NONBLOCK,
  create: O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW,
}

const writeAll = (fd: number, bytes: Uint8Array, position: number): void => {
  for (let done = 0; done < bytes.length;) done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done)
}

const readRange = (fd: number, position: number, length: number): Uint8Array => {
  const bytes = Buffer.allocUnsafe(length)
  let done = 0
  for (let got = 1; got > 0 && done < length; done += got)
    got = fs.readSync(fd, bytes, done, length - done, position + done)
  return bytes.subarray(0, done)
}

const openFile = (path: string, how: keyof typeof flags): DiskFile => {
  const fd = fs.openSync(path, flags[how], 0o600)
  return {
    path,
    write: async (bytes, position) => writeAll(fd, bytes, position),
    sync: () => setImmediate(),
    truncate: async (length) => fs.ftruncateSync(fd, length),
    size: () => fs.fstatSync(fd).size,
    read: (position, length) => readRange(fd, position, length),
    close: async () => fs.closeSync(fd),
  }
}

let replaced = 0

const replace = async (path: string, bytes: Uint8Array): Promise<void> => {
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    throw fault('a symbolic link is in the place of a state file')
  const temporary = `${path}.${(replaced += 1)}`
  const file = openFile(temporary, 'create')
  try {
    await file.write(bytes, 0)
    fs.renameSync(temporary, path)
  } catch (error) {
    fs.rmSync(temporary, { force: true })
    throw error
  } finally {
    await file.close()
  }
  await setImmediate()
}

export const createQuickDisk = (): Disk => ({
  ...createDisk(),
  open: async (path, how) => openFile(path, how),
  replace,
  rename: async (from, to) => fs.renameSync(from, to),
  unlink: async (path) => fs.unlinkSync(path),
  syncFolder: () => setImmediate(),
})
