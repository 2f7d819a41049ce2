/** What kill -9 leaves behind: the files as they are, and no owner. */
import { cpSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Disk, DiskFile } from '../../core/state/disk/disk.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { codeOf } from '../../core/state/errors.js'

/** The real disk, which calls back before and after every sync of a file. */
export const watchedDisk = (watch: (moment: 'before' | 'after') => void): Disk => {
  const disk = createDisk()
  const wrap = (file: DiskFile): DiskFile => ({
    path: file.path,
    write: (bytes, position) => file.write(bytes, position),
    sync: async () => {
      watch('before')
      await file.sync()
      watch('after')
    },
    truncate: (length) => file.truncate(length),
    size: () => file.size(),
    read: (position, length) => file.read(position, length),
    close: () => file.close(),
  })
  return { ...disk, open: async (at, how) => wrap(await disk.open(at, how)) }
}

/**
 * Copies a root as a killed daemon would leave it at this moment. What other threads are writing may be renamed while
 * it is copied: then it is copied once more.
 */
export const copyRoot = (root: string, to: string): void => {
  for (let tries = 1; ; tries += 1)
    try {
      cpSync(root, to, { recursive: true })
      return rmSync(path.join(to, 'lock'), { recursive: true, force: true })
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || tries === 100) throw error
      rmSync(to, { recursive: true, force: true })
    }
}
