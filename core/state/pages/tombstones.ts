/** Ids that are never used again, by collection: one file each, only ever longer. */
import { join } from 'node:path'
import type { Ids } from '../../base/ids.js'
import type { Disk } from '../disk/disk.js'
import { tombstoneIdentity } from '../format/identity.js'
import type { Fault } from '../format/line.js'
import { createFileLines } from '../format/file-lines.js'
import { beginLines, createLineFile, openLineFile, valueOf, type FileIdentity } from '../format/line-file.js'

export const tombstonePath = (folder: string, collection: string): string => join(folder, `${collection}.ndjson`)

/** Calls `visit` with every id in the bytes that count; returns what cannot be read. */
export const readTombstones = (
  disk: Disk,
  path: string,
  {
    length,
    identity,
    visit,
  }: { readonly length: number; readonly identity: FileIdentity; readonly visit: (id: string) => void },
): readonly Fault[] => {
  const lines = createFileLines(disk, path)
  const { lines: sound, faults } = beginLines(lines, length, identity)
  for (const line of sound) visit(valueOf<{ id: string }>(line).id)
  return faults
}

export interface TombstoneOptions {
  readonly disk: Disk
  readonly folder: string
  readonly ids: Ids
  readonly root: string
}

/** Appends ids behind the bytes that count and syncs; returns how many count once the manifest says so. */
export const writeTombstones = async (
  { disk, folder, ids, root }: TombstoneOptions,
  collection: string,
  { length, tombstones }: { length: number; tombstones: ReadonlyMap<string, string> },
): Promise<number> => {
  const [path, identity] = [tombstonePath(folder, collection), tombstoneIdentity({ of: collection, root })]
  const file =
    length > 0
      ? await openLineFile(disk, path, { length, identity })
      : await createLineFile(disk, path, { v: 1, ...identity, salt: ids.random(4) })
  try {
    for (const [id, reason] of tombstones) {
      file.add(`{"id":${JSON.stringify(id)},"reason":${JSON.stringify(reason)}`)
      if (file.full) await file.flush()
    }
    await file.sync()
    return file.length
  } finally {
    await file.close()
  }
}
