/** Notices changes in folders of people outside the state root: one watch for each folder, none for its files. */
import { watch, type FSWatcher } from 'node:fs'
import { basename } from 'node:path'

export interface FolderWatch {
  /**
   * Watches these folders (absolute, with every link resolved) and no others any more. True if there are new ones:
   * what changed in them before is not told.
   */
  set(folders: Iterable<string>): boolean
  close(): void
}

export interface FolderWatchParts {
  /** Something in a watched folder changed. May be called often. */
  readonly changed: () => void
  /** A folder cannot be watched; called once until `set` has no such folder. */
  readonly failed: (folder: string, error: unknown) => void
}

export const watchFolders = ({ changed, failed }: FolderWatchParts): FolderWatch => {
  const watched = new Map<string, FSWatcher>()
  let hasFailed = false
  const fail = (folder: string, error: unknown): void => {
    if (!hasFailed) failed(folder, error)
    hasFailed = true
  }
  const drop = (folder: string): void => {
    watched.get(folder)?.close()
    watched.delete(folder)
  }
  const add = (folder: string): boolean => {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // So it is told that the folder itself is gone: what stands there next is another one.
        if (name === basename(folder) && watched.get(folder) === watcher) drop(folder)
        if (name === null || !name.startsWith('.')) changed()
      })
      watcher.on('error', (error) => {
        drop(folder)
        fail(folder, error)
      })
      watched.set(folder, watcher)
      return true
    } catch (error) {
      fail(folder, error)
      return false
    }
  }
  return {
    set(folders) {
      const wanted = new Set(folders)
      for (const folder of watched.keys()) if (!wanted.has(folder)) drop(folder)
      return [...wanted].filter((folder) => !watched.has(folder) && add(folder)).length > 0
    },
    close() {
      for (const folder of watched.keys()) drop(folder)
    },
  }
}
