/** Folders of the operator outside the state root: looked at as whoever uses them would, through links. */
import { accessSync, constants, existsSync, lstatSync, realpathSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { codeOf } from '../errors.js'

/** Where a path leads in the end; undefined where it leads nowhere. */
export const realFolder = (path: string): { readonly path: string; readonly isFolder: boolean } | undefined => {
  try {
    const real = realpathSync(path)
    return { path: real, isFolder: statSync(real).isDirectory() }
  } catch {
    return undefined
  }
}

/** A folder that is a part of another one. Neither path has links. */
export interface InnerFolder {
  readonly path: string
  readonly within: string
}

/** The folder at this way below another one; undefined where there is none, or a link leads out to it. */
export const innerFolder = (outer: string, way: string): InnerFolder | undefined => {
  const [whole, inner] = [realFolder(outer)?.path, realFolder(join(outer, way))]
  return whole !== undefined && inner?.isFolder === true && inner.path.startsWith(whole + sep)
    ? { path: inner.path, within: whole }
    : undefined
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

/** Whether nothing is at a path, not even a link that leads nowhere: a folder can be made there. */
export const isFree = (path: string): boolean => {
  try {
    lstatSync(path)
    return false
  } catch (cause) {
    return codeOf(cause) === 'ENOENT'
  }
}

/** Whether something is at a path outside of the state root. */
export const isThere = (path: string): boolean => existsSync(path)
