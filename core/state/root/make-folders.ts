/**
 * Makes the folder of a root and those above it, one by one: a recursive `mkdir` of Node never returns behind a link
 * that leads nowhere, nor where the file system takes no folders, such as /proc.
 */
import { lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { codeOf, errors } from '../errors.js'
import { refusable } from './root-document.js'

/** The topmost folder that was made; undefined if all were there. */
export const makeFolders = (path: string): Promise<string | undefined> => refusable(path, () => make(resolve(path)))

const make = (path: string): string | undefined => {
  if (isFolder(path)) return undefined
  const above = dirname(path)
  const topmost = make(above)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST' && isFolder(path)) return topmost
    if (codeOf(cause) !== 'ENOENT') throw cause
    throw errors.state_root_not_made({ details: { path, reason: `${above} takes no folders` }, cause })
  }
  return topmost ?? realpathSync(path)
}

/** False if nothing is there; throws for anything but a folder. */
const isFolder = (path: string): boolean => {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found !== undefined && !found.isDirectory()) throw errors.state_root_not_folder({ details: { path } })
    if (found === undefined && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
      throw errors.state_root_not_made({ details: { path, reason: 'it is a link that leads nowhere' } })
    return found !== undefined
  } catch (cause) {
    if (codeOf(cause) === 'ENOTDIR') throw errors.state_root_not_folder({ details: { path: dirname(path) }, cause })
    if (codeOf(cause) === 'ELOOP')
      throw errors.state_root_not_made({ details: { path, reason: 'its links lead in a circle' }, cause })
    throw cause
  }
}
