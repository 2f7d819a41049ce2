/** Folders that programs fill: in the root, and no part of the state: no commit, checkpoint or backup looks in. */
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import type { programFolders } from '../format/layout.js'

/** Folders of one kind, by name. */
export interface WorkFolders {
  /** Absolute. */
  path(name: string): string
  /** Makes the folder that holds them. */
  prepare(): Promise<void>
  /** Removes a folder with all that is in it; no effect if it is not there. */
  remove(name: string): Promise<void>
}

export const openWorkFolders = (stateRoot: string, kind: (typeof programFolders)[number]): WorkFolders => {
  const top = join(stateRoot, kind)
  const path = (name: string): string => join(top, name)
  return {
    path,
    async prepare() {
      await fs.mkdir(top, { recursive: true, mode: 0o700 })
    },
    remove: (name) => fs.rm(path(name), { recursive: true, force: true, maxRetries: 3 }),
  }
}
