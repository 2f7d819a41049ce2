/** Whether a folder is a state root at all: asked before anything in it is called damaged, or changed. */
import { join } from 'node:path'
import { unsafeCast } from '../../base/schema.js'
import type { Disk } from '../disk/disk.js'
import { errors } from '../errors.js'
import { createFileLines } from '../format/file-lines.js'
import { layout, numberOf } from '../format/layout.js'
import { checkLine, lineValue } from '../format/line.js'
import { readManifest } from '../format/manifest.js'
import { readWatermark } from '../format/watermark.js'
import { noRoot } from '../root/root-check.js'

/** Files whose names only a daemon gives: segments, pages and indexes. */
function* numberedFiles(disk: Disk, root: string): Generator<string> {
  const { log, data, streams } = layout(root)
  const stores = [data, streams].flatMap((top) => disk.list(top).map((name) => join(top, name)))
  for (const folder of [log, ...stores])
    for (const name of disk.list(folder)) if (numberOf(name) !== undefined) yield join(folder, name)
}

/** Throws `state_root_absent` or `state_root_inner` where nothing tells that a daemon ever had this folder. */
export const checkIsRoot = (disk: Disk, root: string): void => {
  if (disk.stat(root)?.kind !== 'folder') throw errors.state_root_absent({ details: { path: root } })
  if (disk.stat(join(root, 'root.json')) !== undefined) return
  const { manifest, watermark } = layout(root)
  const read = readManifest(disk, manifest)
  if (read.ok && read.manifest !== undefined) return
  if (readWatermark(disk, watermark).watermark !== undefined) return
  if (numberedFiles(disk, root).next().done !== true) return
  throw noRoot(root, disk)
}

const idIn = (disk: Disk, file: string): string | undefined => {
  const line = createFileLines(disk, file).line(0)
  const check = line === undefined ? undefined : checkLine(line, 0, 0)
  if (line === undefined || check === undefined || !check.ok) return undefined
  const { root } = unsafeCast<{ root?: unknown }>(lineValue(line, 0, check.end))
  return typeof root === 'string' && /^[0-9a-f]{32}$/u.test(root) ? root : undefined
}

/** The id of a root that lost its `root.json`, from whatever still names it. */
export const findRootId = (disk: Disk, root: string): string | undefined => {
  const { manifest, watermark } = layout(root)
  const read = readManifest(disk, manifest)
  const named = (read.ok ? read.manifest?.root : undefined) ?? readWatermark(disk, watermark).watermark?.root
  if (named !== undefined) return named
  for (const file of numberedFiles(disk, root)) {
    const id = idIn(disk, file)
    if (id !== undefined) return id
  }
  return undefined
}
