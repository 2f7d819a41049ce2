/** A disk that refuses every change once this process may no longer write. */
import { storageErrors } from './storage-errors.js'
import type { Disk, DiskFile } from './disk.js'

export const gateDisk = (disk: Disk, halted: () => boolean): Disk => {
  const pass = async <R>(change: () => Promise<R>): Promise<R> => {
    if (halted()) throw storageErrors.storage_read_only({ details: { reason: 'lock_lost' } })
    return change()
  }
  const gateFile = (file: DiskFile): DiskFile => ({
    path: file.path,
    write: (bytes, position) => pass(() => file.write(bytes, position)),
    sync: () => pass(() => file.sync()),
    truncate: (length) => pass(() => file.truncate(length)),
    size: () => file.size(),
    read: (position, length) => file.read(position, length),
    close: () => file.close(),
  })
  return {
    open: async (path, how) =>
      gateFile(how === 'create' ? await pass(() => disk.open(path, how)) : await disk.open(path, how)),
    openSync: (path) => disk.openSync(path),
    readFile: (path) => disk.readFile(path),
    replace: (path, bytes) => pass(() => disk.replace(path, bytes)),
    rename: (from, to) => pass(() => disk.rename(from, to)),
    unlink: (path) => pass(() => disk.unlink(path)),
    link: (from, to) => pass(() => disk.link(from, to)),
    makeFolder: (path) => pass(() => disk.makeFolder(path)),
    removeFolder: (path) => pass(() => disk.removeFolder(path)),
    restrict: (path) => pass(() => disk.restrict(path)),
    syncFolder: (path) => pass(() => disk.syncFolder(path)),
    list: (path) => disk.list(path),
    stat: (path) => disk.stat(path),
    space: (path) => disk.space(path),
  }
}
