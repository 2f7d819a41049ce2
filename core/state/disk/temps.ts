/** Half-written files of an interrupted replace: `name.<digits>` beside the file they were to become. */
import { join } from 'node:path'
import { codeOf } from '../errors.js'
import type { Disk } from './disk.js'

const temporary = /\.\d+$/u
export const isTemporary = (name: string): boolean => temporary.test(name)

/** Deletes them from one folder; returns the paths. No file of a root may have a name like that. */
export const sweepTemps = async (disk: Disk, folder: string): Promise<string[]> => {
  const found = disk
    .list(folder)
    .filter(isTemporary)
    .map((name) => join(folder, name))
    .filter((path) => disk.stat(path)?.kind === 'file')
  for (const path of found)
    await disk.unlink(path).catch((error: unknown) => {
      // Whoever was writing it has just put it in its place.
      if (codeOf(error) !== 'ENOENT') throw error
    })
  return found
}
