/** Folders of the operator outside the state root: looked at as whoever uses them would, through links. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs'

/** Where a path leads in the end; undefined where it leads nowhere. */
export const realFolder = (path: string): { readonly path: string; readonly isFolder: boolean } | undefined => {
  try {
    const real = realpathSync(path)
    return { path: real, isFolder: statSync(real).isDirectory() }
  } catch {
    return undefined
  }
}

/** Whether this process may make files in a folder. */
export const isWritable = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether something is at a path outside of the state root. */
export const isThere = (path: string): boolean => existsSync(path)
