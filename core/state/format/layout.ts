/** Where things are in a state root. Names on disk never come from ids. */
import { join } from 'node:path'

const number = (value: number): string => String(value).padStart(12, '0')

export const layout = (root: string) => ({
  root,
  manifest: join(root, 'manifest.json'),
  watermark: join(root, 'watermark.json'),
  ballast: join(root, 'ballast'),
  log: join(root, 'log'),
  data: join(root, 'data'),
  streams: join(root, 'streams'),
  tombstones: join(root, 'tombstones'),
  documents: join(root, 'documents'),
  blobs: join(root, 'blobs'),
  spools: join(root, 'spools'),
  quarantine: join(root, 'quarantine'),
})
export type Layout = ReturnType<typeof layout>

/** Folders that commits fill; a copy of a root has all of them. */
export const commitFolders = ['log', 'data', 'streams', 'tombstones', 'quarantine'] as const
/** Folders that the daemon makes and owns; `lock` is an empty one of the lock's package. */
export const ownFolders = [...commitFolders, 'documents', 'blobs', 'spools', 'lock'] as const
/** Files at the top of a root. */
export const ownFiles = [
  'root.json',
  'manifest.json',
  'watermark.json',
  'ballast',
  'owner.json',
  'daemon.lock',
] as const
/** Folders that programs fill for the daemon: they are no part of its state. */
export const programFolders = ['worktrees'] as const
/** Folders that people fill; only the privacy of `secrets` is looked at. */
export const theirFolders = ['config', 'plugins', 'skills', 'secrets'] as const

/** Files of the log, a page or an index, by number. */
export const segmentName = (no: number): string => `${number(no)}.ndjson`
export const pageName = (no: number): string => `page-${number(no)}.ndjson`
export const indexName = (no: number): string => `index-${number(no)}.ndjson`

const numbered = /^(?:(page|index)-)?(\d{12})\.ndjson$/u
/** The number in a file's name; undefined if it is not one of ours. */
export const numberOf = (name: string): number | undefined => {
  const found = numbered.exec(name)
  return found?.[2] === undefined ? undefined : Number(found[2])
}

/** Names of collections, streams and blob areas are also names of folders. */
export const isName = (name: string): boolean => /^[a-z][a-z0-9_]{0,62}$/u.test(name)
