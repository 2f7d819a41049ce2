/** A disk whose syncs take a while, so that a test can stop what goes on in the middle of its commits. */
import { createDisk } from '../../core/state/disk/real-disk.js'
import type { Disk, DiskFile } from '../../core/state/disk/disk.js'

const syncMs = 60

/** The real disk; each sync of a file takes longer while `slow` is true, by 60 ms unless told otherwise. */
export const slowDisk = (
  extraMs: (path: string) => number = () => syncMs,
): { disk: Disk; slow: (on: boolean) => void } => {
  const disk = createDisk()
  let on = false
  const wrap = (file: DiskFile): DiskFile => ({
    path: file.path,
    write: (bytes, position) => file.write(bytes, position),
    sync: async () => {
      if (on) await new Promise((resolve) => setTimeout(resolve, extraMs(file.path)))
      await file.sync()
    },
    truncate: (length) => file.truncate(length),
    size: () => file.size(),
    read: (position, length) => file.read(position, length),
    close: () => file.close(),
  })
  return {
    disk: { ...disk, open: async (at, how) => wrap(await disk.open(at, how)) },
    slow: (value) => {
      on = value
    },
  }
}
