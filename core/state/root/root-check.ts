/** What must be true of a folder before it is used as a state root. Looks only; changes nothing. */
import { basename, dirname, join } from 'node:path'
import type { Problem } from '../../base/errors.js'
import { errors } from '../errors.js'
import type { Disk, FileStat } from '../disk/disk.js'
import { ownFiles, ownFolders, programFolders, theirFolders } from '../format/layout.js'

/**
 * What people may prepare before the first start, and what a start that died before it wrote `root.json` may have left
 * behind.
 */
const beforeFirstOpen =
  /^(config|plugins|skills|secrets|daemon\.lock|owner\.json|lock|lost\+found|ballast|(root|owner)\.json\.\d+)$/u

/** `statfs` type numbers of file systems whose locks and syncs are only as good as a network. */
const networkTypes = new Map([
  [0x6969, 'nfs'],
  [0x517b, 'smb'],
  [0xff534d42, 'cifs'],
  [0xfe534d42, 'smb2'],
  [0x5346414f, 'afs'],
  [0x73757245, 'coda'],
  [0x564c, 'ncp'],
  [0x00c36400, 'ceph'],
  [0x0bd00bd0, 'lustre'],
  [0x01021997, '9p'],
  [0x01161970, 'gfs2'],
  [0x7461636f, 'ocfs2'],
])

export interface RootCheck {
  readonly root: string
  readonly disk: Disk
  /** Accept a network file system: its owner answers for its locks and syncs. */
  readonly allowNetwork?: boolean
}

/** Throws the problem that keeps an existing folder from being a state root. */
export const checkRoot = ({ root, disk, allowNetwork = false }: RootCheck): void => {
  const stat = disk.stat(root)
  if (stat === undefined) return
  if (stat.kind !== 'folder') throw errors.state_root_not_folder({ details: { path: root } })
  // First of all: nobody is to be told to close or to give away a folder that is no state root.
  if (isReadable(root, disk)) checkForeign(root, disk)
  checkOwner(root, stat)
  checkType({ root, disk, allowNetwork })
  checkForeign(root, disk)
  for (const name of [...ownFolders, ...programFolders, ...theirFolders]) checkFolder(join(root, name), disk)
  for (const name of ownFiles) checkFile(join(root, name), disk)
}

const isReadable = (root: string, disk: Disk): boolean => {
  try {
    return disk.list(root).length >= 0
  } catch {
    return false
  }
}

const checkOwner = (path: string, stat: FileStat): void => {
  if (stat.uid !== (process.getuid?.() ?? stat.uid))
    throw errors.state_root_not_owned({ details: { path, uid: stat.uid } })
  if ((stat.mode & 0o077) !== 0) throw errors.state_root_exposed({ details: { path, mode: stat.mode.toString(8) } })
}

const checkType = ({ root, disk, allowNetwork }: RootCheck): void => {
  const name = networkTypes.get(disk.space(root).type >>> 0)
  if (name !== undefined && allowNetwork !== true)
    throw errors.state_root_network({ details: { path: root, type: name } })
}

const rootFolders: ReadonlySet<string> = new Set([...ownFolders, ...programFolders, ...theirFolders])

/** The state root that a folder is a part of. */
const rootAround = (folder: string, disk: Disk): string | undefined => {
  const above = dirname(folder)
  if (above === folder) return undefined
  const isPart = rootFolders.has(basename(folder)) && disk.stat(join(above, 'root.json')) !== undefined
  return isPart ? above : rootAround(above, disk)
}

/** Throws `state_root_inner` for a folder of a state root. */
const checkInner = (path: string, disk: Disk): void => {
  const root = rootAround(path, disk)
  if (root !== undefined) throw errors.state_root_inner({ details: { path, root } })
}

/** Throws `state_root_foreign` or `state_root_inner` if other files are in a folder that was never opened. */
export const checkForeign = (root: string, disk: Disk): void => {
  const stranger = disk.list(root).find((name) => !beforeFirstOpen.test(name))
  // Asked after the list: who opens the root at this moment writes `root.json` before anything else that is new here.
  if (stranger === undefined || disk.stat(join(root, 'root.json')) !== undefined) return
  checkInner(root, disk)
  throw errors.state_root_foreign({ details: { path: root, name: stranger } })
}

/** Why there is no root where no `root.json` is. Throws `state_root_foreign` if files are there that may be of one. */
export const absentRoot = (root: string, disk: Disk): Problem => {
  checkForeign(root, disk)
  return noRoot(root, disk)
}

/** Why there is no root where nothing tells that one ever was. */
export const noRoot = (path: string, disk: Disk): Problem => {
  checkInner(path, disk)
  return errors.state_root_absent({ details: { path } })
}

const checkFile = (path: string, disk: Disk): void => {
  const kind = disk.stat(path)?.kind ?? 'file'
  if (kind !== 'file') throw errors.state_root_not_regular({ details: { path } })
}

const checkFolder = (path: string, disk: Disk): void => {
  const stat = disk.stat(path)
  if (stat === undefined) return
  if (stat.kind !== 'folder') throw errors.state_root_link({ details: { path } })
  if (path.endsWith('secrets')) checkOwner(path, stat)
}
