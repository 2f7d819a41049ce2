/** The real disk with a hook before each call that changes something: it may wait, and it may throw. */
import { fault } from '../base/assert.js'
import type { Disk, DiskFile } from '../state/disk/disk.js'
import { createDisk } from '../state/disk/real-disk.js'

/** What of a file is about to happen; `change` is everything that touches names, rights or lengths. */
export type DiskCall = 'create' | 'write' | 'sync' | 'change'
export interface WrappedDisk {
  readonly disk: Disk
  /** Handles that are open for writing. */
  readonly open: ReadonlySet<object>
}
type Before = (call: DiskCall, path: string) => void | Promise<void>

const wrapFile = (file: DiskFile, path: string, before: Before): Omit<DiskFile, 'close'> => ({
  ...file,
  write: async (bytes, position) => {
    await before('write', path)
    await file.write(bytes, position)
  },
  sync: async () => {
    await before('sync', path)
    await file.sync()
  },
  truncate: async (length) => {
    await before('change', path)
    await file.truncate(length)
  },
})

const changes = (disk: Disk, before: Before): Partial<Disk> => {
  const changing =
    <A extends readonly [string, ...unknown[]]>(run: (...args: A) => Promise<void>) =>
    async (...args: A): Promise<void> => {
      await before('change', args[0])
      await run(...args)
    }
  return {
    replace: changing(disk.replace),
    rename: changing(disk.rename),
    unlink: changing(disk.unlink),
    link: changing(disk.link),
    makeFolder: changing(disk.makeFolder),
    removeFolder: changing(disk.removeFolder),
    restrict: changing(disk.restrict),
    syncFolder: changing(disk.syncFolder),
  }
}

export const createWrappedDisk = (before: Before): WrappedDisk => {
  const disk = createDisk()
  const handles = new Set<object>()
  const open: Disk['open'] = async (path, how) => {
    if (how === 'create') await before('create', path)
    const file = await disk.open(path, how)
    handles.add(file)
    const close = async (): Promise<void> => {
      handles.delete(file)
      await file.close()
    }
    return { ...wrapFile(file, path, before), close }
  }
  return { disk: { ...disk, ...changes(disk, before), open }, open: handles }
}

export const diskError = (code: string): Error => Object.assign(fault(code), { code })
