/** Whether archives can be written to a folder, without a trace of the look. */
import path from 'node:path'
import type { Disk } from '../../state/disk/disk.js'
import { isWritable, realFolder } from '../../state/disk/outside.js'
import { layout } from '../../state/format/layout.js'
import { isMade } from '../../state/root/root-document.js'

export interface ArchivePlaceParts {
  readonly root: string
  /** Id of the state root: the name of the folder below. */
  readonly rootId: string
  readonly disk: Disk
}

/** The folder without links in its path, or what keeps it from being used, to stand behind "and". */
export type ArchiveFolder =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string }

const isInside = (folder: string, at: string): boolean => !/^\.\.(?:\/|$)/u.test(path.relative(folder, at))

const above = (folder: string): string[] =>
  path.dirname(folder) === folder ? [folder] : [folder, ...above(path.dirname(folder))]

const isRoot = (disk: Disk, folder: string): boolean =>
  isMade(disk, folder) && disk.stat(layout(folder).log)?.kind === 'folder'

/** What others could put there would be taken for archives of this root, or keep them from being written. */
const ownFault = (disk: Disk, own: string): string | undefined => {
  const stat = disk.stat(own)
  if (stat === undefined) return undefined
  if (stat.kind !== 'folder') return `${own} is no folder`
  if (stat.uid !== (process.getuid?.() ?? stat.uid)) return `${own} belongs to user ${stat.uid}`
  return (stat.mode & 0o022) === 0 ? undefined : `${own} can be written to by other users`
}

const faultOf = ({ root, rootId, disk }: ArchivePlaceParts, folder: string): string | undefined => {
  const holder = above(folder).find((at) => isRoot(disk, at))
  if (isInside(root, folder)) return 'it is inside the state root'
  if (holder !== undefined) return `it is inside ${holder}, which is a state root`
  const own = path.join(folder, rootId)
  const fault = ownFault(disk, own)
  if (fault !== undefined) return fault
  return isWritable(disk.stat(own) === undefined ? folder : own) ? undefined : 'it cannot be written to'
}

/** A link to a folder counts as that folder. */
export const findArchiveFolder = (parts: ArchivePlaceParts, given: string): ArchiveFolder => {
  const found = realFolder(given)
  if (found === undefined) return { ok: false, reason: 'it is not there' }
  if (!found.isFolder) return { ok: false, reason: 'it is no folder' }
  const reason = faultOf(parts, found.path)
  return reason === undefined ? { ok: true, path: found.path } : { ok: false, reason }
}
