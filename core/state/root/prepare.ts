/** Makes the folders of a root and, before anything else is in them, the manifest. */
import type { Ids } from '../../base/ids.js'
import type { Disk } from '../disk/disk.js'
import { commitFolders, type Layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import { emptyManifest, holdManifest, readManifest, type ManifestHolder } from '../format/manifest.js'
import { readRoot } from './root-document.js'
import { sweepTemps } from '../disk/temps.js'

export interface PrepareOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly ids: Ids
  readonly generation: number
  readonly rootId: string | undefined
}

export interface PreparedRoot {
  readonly manifest: ManifestHolder
  /** Why the manifest cannot be used; then the one held is empty and must not be written. */
  readonly damage: Fault | undefined
}

export const prepareRoot = async ({ disk, paths, ids, generation, rootId }: PrepareOptions): Promise<PreparedRoot> => {
  await disk.makeFolder(paths.root)
  for (const folder of [paths.root, paths.quarantine]) await sweepTemps(disk, folder)
  for (const name of commitFolders) await disk.makeFolder(paths[name])
  await disk.syncFolder(paths.root)
  const named = rootId ?? readRoot({ root: paths.root, disk })?.root_id
  const fresh = holdManifest(disk, paths.manifest, emptyManifest(named ?? ids.random(16), generation))
  const damage = (rule: string): PreparedRoot => ({
    manifest: fresh,
    damage: { file: paths.manifest, offset: 0, rule },
  })
  const read = readManifest(disk, paths.manifest)
  if (!read.ok) return { manifest: fresh, damage: read.fault }
  if (read.manifest !== undefined) {
    if (named !== undefined && read.manifest.root !== named) return damage('the manifest is that of another root')
    return { manifest: holdManifest(disk, paths.manifest, read.manifest), damage: undefined }
  }
  const orphan = [paths.log, paths.data, paths.streams].find((folder) => disk.list(folder).length > 0)
  if (orphan !== undefined) return damage(`the manifest is missing, but ${orphan} is not empty`)
  await fresh.update((current) => current)
  return { manifest: fresh, damage: undefined }
}
