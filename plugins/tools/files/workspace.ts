/**
 * Where file tools may go: inside the workspace, and not into the daemon's own
 * state. A path is resolved with all its links first; then it is walked from
 * the root, folder by folder, without following any link, so that a link put
 * there in between leads nowhere.
 */
import { constants, promises as fs } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import type { ToolCall } from '../../execution/tools/contract.js'
import { systemCode } from './answer.js'
import { fileErrors } from './errors.js'

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

export interface Workspace {
  /** Absolute path with every link resolved. */
  readonly root: string
  /** What paths are walked from: the root, or the folder that it is a part of. */
  readonly base: string
  /** Folder inside it that is out of bounds, resolved; undefined if there is none. */
  readonly fenced: string | undefined
}

export interface Place {
  readonly workspace: Workspace
  /** Absolute path, links resolved. May not exist. */
  readonly real: string
  /** Relative to the workspace, `.` for the workspace itself. */
  readonly shown: string
}

const within = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

const realIfThere = async (path: string): Promise<string> => {
  try {
    return await fs.realpath(path)
  } catch {
    return resolve(path)
  }
}

/** Throws `path_outside_workspace` where a folder that is a part of another one leads elsewhere by now. */
export const openWorkspace = async (
  { workspace: folder, within: outer }: Pick<ToolCall, 'workspace' | 'within'>,
  stateRoot: string,
): Promise<Workspace> => {
  const root = await fs.realpath(folder)
  if (outer !== undefined && root !== folder) throw fileErrors.path_outside_workspace()
  const state = await realIfThere(stateRoot)
  return { root, base: outer ?? root, fenced: within(root, state) ? state : undefined }
}

/** Resolves links of what exists; what does not exist yet is taken as it is written. */
const realOf = async (path: string): Promise<string> => {
  try {
    return await fs.realpath(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    if (await isLink(path)) throw fileErrors.path_outside_workspace()
    return join(await realOf(dirname(path)), basename(path))
  }
}
const isLink = async (path: string): Promise<boolean> => {
  try {
    return (await fs.lstat(path)).isSymbolicLink()
  } catch {
    return false
  }
}

/** Throws `path_outside_workspace` for a path that leads out of the workspace or into the state. */
export const locate = async (workspace: Workspace, path: string): Promise<Place> => {
  if (path.includes('\0')) throw fileErrors.path_invalid()
  const wanted = resolve(workspace.root, path)
  if (!within(workspace.root, wanted)) throw fileErrors.path_outside_workspace()
  const real = await realOf(wanted)
  const fenced = workspace.fenced !== undefined && within(workspace.fenced, real)
  if (fenced || !within(workspace.root, real)) throw fileErrors.path_outside_workspace()
  return { workspace, real, shown: show(relative(workspace.root, real)) }
}

/** The same for what is to be changed. Throws `path_of_git` besides. */
export const locateToChange = async (workspace: Workspace, path: string): Promise<Place> => {
  const place = await locate(workspace, path)
  if (
    relative(workspace.base, place.real)
      .split(sep)
      .some((name) => name.toLowerCase() === '.git')
  )
    throw fileErrors.path_of_git()
  return place
}

const show = (path: string): string => (path === '' ? '.' : path.split(sep).join('/'))

/** A folder held open. Names are looked up in the folder itself, wherever its path leads by now. */
export interface Folder {
  readonly handle: FileHandle
  /** A path to `name` in this folder for this process. */
  at(name: string): string
  /** A path to this folder for a child process. */
  readonly outside: string
}

/** Linux reaches an open folder through its descriptor; elsewhere its path has to do. */
const folderOf = (handle: FileHandle, path: string): Folder => {
  const linux = process.platform === 'linux'
  return {
    handle,
    at: (name) => (linux ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)),
    outside: linux ? `/proc/${process.pid}/fd/${handle.fd}` : path,
  }
}

const step = async (folder: Folder, name: string, make: boolean): Promise<FileHandle> => {
  const path = folder.at(name)
  if (make)
    await fs.mkdir(path).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error
    })
  return fs.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
}

const openFolder = async (workspace: Workspace, real: string, make: boolean): Promise<Folder> => {
  const names = relative(workspace.base, real)
    .split(sep)
    .filter((name) => name !== '')
  let path = workspace.base
  let folder = folderOf(await fs.open(path, O_RDONLY | O_DIRECTORY), path)
  for (const name of names) {
    try {
      path = join(path, name)
      const next = await step(folder, name, make)
      // Also for a folder that is there: a call that was killed may have made its name and not synced it.
      if (make) await folder.handle.sync()
      await folder.handle.close()
      folder = folderOf(next, path)
    } catch (error) {
      await folder.handle.close()
      throw error
    }
  }
  return folder
}

export interface FolderUse<T> {
  readonly make?: boolean
  readonly use: (folder: Folder) => Promise<T>
}

/** Holds the folder of this place open while `use` works; `make` creates what is missing of it. */
export const withFolder = async <T>({ workspace, real }: Place, { make = false, use }: FolderUse<T>): Promise<T> => {
  const folder = await openFolder(workspace, real, make)
  try {
    return await use(folder)
  } finally {
    await folder.handle.close()
  }
}

/** The folder that holds this place; a workspace holds itself only. */
export const parentOf = (place: Place): Place => {
  if (place.real === place.workspace.root) throw fileErrors.path_not_a_file()
  const real = dirname(place.real)
  return { workspace: place.workspace, real, shown: show(relative(place.workspace.root, real)) }
}

/** Opens a regular file for reading; never a link, a pipe or a device. */
export const openFile = async (folder: Folder, name: string): Promise<FileHandle> => {
  const handle = await fs.open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  const stat = await handle.stat()
  if (stat.isFile()) return handle
  await handle.close()
  throw fileErrors.path_not_a_file()
}
