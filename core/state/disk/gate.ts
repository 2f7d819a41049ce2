/** A disk that refuses every change once this process may no longer write. */
import { behindLoss } from '../storage-errors.js'
import type { Disk, DiskFile } from './disk.js'

export interface Gate {
  /**
   * Whether it is known that nothing may be written: for the bytes of open files, which no reader counts by
   * themselves.
   */
  readonly wasHalted: () => boolean
  /** Looks whether the root is still ours: for everything that makes, replaces or removes a name. */
  readonly isHalted: () => boolean
}

export const gateDisk = (disk: Disk, { wasHalted, isHalted }: Gate): Disk => {
  const refuse = (): never => {
    throw behindLoss()
  }
  const passBytes = async (change: () => Promise<void>): Promise<void> => (wasHalted() ? refuse() : change())
  const pass = async <R>(change: () => Promise<R>): Promise<R> => (isHalted() ? refuse() : change())
  /** Counts only if the root was ours afterwards too: another owner may have read it meanwhile. */
  const replace = async (path: string, bytes: Uint8Array): Promise<void> => {
    await pass(() => disk.replace(path, bytes))
    if (isHalted()) refuse()
  }
  const gateFile = (file: DiskFile): DiskFile => ({
    path: file.path,
    write: (bytes, position) => passBytes(() => file.write(bytes, position)),
    sync: () => passBytes(() => file.sync()),
    truncate: (length) => passBytes(() => file.truncate(length)),
    size: () => file.size(),
    read: (position, length) => file.read(position, length),
    close: () => file.close(),
  })
  return {
    open: async (path, how) =>
      gateFile(how === 'create' ? await pass(() => disk.open(path, how)) : await disk.open(path, how)),
    openSync: (path) => disk.openSync(path),
    readFile: (path, most) => disk.readFile(path, most),
    replace,
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
