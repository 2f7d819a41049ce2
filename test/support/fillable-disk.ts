/** A disk that can be full. */
import { createDisk } from '../../core/state/disk/real-disk.js'
import type { Disk, DiskFile } from '../../core/state/disk/disk.js'

/** The real disk, whose writes fail while `full` is true. */
export const fillableDisk = (): { disk: Disk; fill: (full: boolean) => void } => {
  const disk = createDisk()
  let full = false
  const refuse = (): void => {
    if (full) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  const wrap = (file: DiskFile): DiskFile => ({
    path: file.path,
    write: async (bytes, position) => {
      refuse()
      await file.write(bytes, position)
    },
    sync: () => file.sync(),
    truncate: (length) => file.truncate(length),
    size: () => file.size(),
    read: (position, length) => file.read(position, length),
    close: () => file.close(),
  })
  return {
    disk: {
      ...disk,
      open: async (at, how) => {
        if (how === 'create') refuse()
        return wrap(await disk.open(at, how))
      },
    },
    fill: (value) => {
      full = value
    },
  }
}
