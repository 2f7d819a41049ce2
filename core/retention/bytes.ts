/** How many bytes a state root holds, and where. */
import path from 'node:path'
import { createPause } from '../base/turns.js'
import type { Disk } from '../state/disk/disk.js'

export interface RootBytes {
  readonly total: number
  /** Of the total, what goes as soon as nobody reads it. */
  readonly leaving: number
  /** By the path of a file's folder in the root, of two names at most: `data/runs`, `log`, `blobs/debug`. */
  readonly areas: ReadonlyMap<string, number>
}

/** Files and folders that are looked at before others are served. */
const atOnce = 64

/** Counts the bytes of every file; one that goes meanwhile counts as none. */
export const measure = async (
  disk: Disk,
  root: string,
  isLeaving: (path: string) => boolean = () => false,
): Promise<RootBytes> => {
  const areas = new Map<string, number>()
  let leaving = 0
  const pause = createPause(atOnce)
  const add = async (folder: string, names: readonly string[]): Promise<void> => {
    for (const name of names) {
      await pause()
      const at = path.join(folder, name)
      const stat = disk.stat(at)
      if (stat?.kind === 'folder') await add(at, disk.list(at))
      if (stat?.kind !== 'file') continue
      const area = path.relative(root, folder).split(path.sep).slice(0, 2).join('/')
      areas.set(area, (areas.get(area) ?? 0) + stat.size)
      if (isLeaving(at)) leaving += stat.size
    }
  }
  await add(root, disk.list(root))
  return { total: [...areas.values()].reduce((sum, bytes) => sum + bytes, 0), leaving, areas }
}
