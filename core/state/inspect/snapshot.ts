/**
 * The state as of one commit, for whoever copies it: from a running daemon through its commit queue, from a stopped
 * root by its log.
 */
import type { Cut } from './backup.js'
import type { Disk } from '../disk/disk.js'
import { errors } from '../errors.js'
import { layout, type Layout } from '../format/layout.js'
import { readManifest, type ManifestHolder } from '../format/manifest.js'
import type { Pins } from '../disk/pins.js'
import type { LogKeeper } from '../log/log-keeper.js'
import { replayLog } from '../log/replay.js'
import { storageErrors } from '../storage-errors.js'
import { namedFiles } from '../pages/sweep.js'
import { readWatermark } from '../format/watermark.js'

export interface SnapshotOptions {
  readonly keeper: LogKeeper
  readonly manifest: ManifestHolder
  readonly paths: Layout
  readonly pins: Pins
}

/** Cuts between two batches; what the cut names stays on disk until `copy` is done. */
export const takeSnapshot = async <R>(
  { keeper, manifest, paths, pins }: SnapshotOptions,
  copy: (cut: Cut) => Promise<R>,
): Promise<R> => {
  let free = async (): Promise<void> => {}
  const cut = await keeper.commits.between(async (): Promise<Cut> => {
    const sealed = { ...manifest.current, segments: keeper.sealed() }
    const named = namedFiles(paths, sealed)
    free = pins.pin((path) => named.has(path) || path.startsWith(`${paths.blobs}/`))
    return { manifest: sealed, sequence: keeper.commits.sequence }
  })
  try {
    return await copy(cut)
  } finally {
    await free()
  }
}

/**
 * The cut at the end of a stopped root's log. Throws `storage_damaged` where the log cannot be read to its end. Only
 * the owner of the lock may rely on it.
 */
export const cutStopped = (root: string, disk: Disk): Cut => {
  const paths = layout(root)
  const read = readManifest(disk, paths.manifest)
  if (!read.ok) throw errors.state_root_damaged({ details: { path: paths.manifest, root } })
  const { manifest } = read
  if (manifest === undefined) throw errors.state_root_absent({ details: { path: root } })
  const { damage, sound, sequence } = replayLog({
    disk,
    folder: paths.log,
    manifest,
    watermark: readWatermark(disk, paths.watermark).watermark,
    visit: () => {},
  })
  if (damage !== undefined)
    throw storageErrors.storage_damaged({ details: { file: damage.file, offset: damage.offset } })
  return { manifest: { ...manifest, segments: sound.map(({ segment, length }) => ({ ...segment, length })) }, sequence }
}
