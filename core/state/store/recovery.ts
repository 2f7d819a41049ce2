/** What start-up does with a root that was used before: replay, cut, set aside, and say so. */
import { join } from 'node:path'
import { messageOf } from '../../base/text/thrown.js'
import type { Disk, DiskFile } from '../disk/disk.js'
import { rangeOf } from '../disk/pieces.js'
import { segmentName, type Layout } from '../format/layout.js'
import type { Fault } from '../format/line.js'
import type { ManifestHolder, SegmentRef } from '../format/manifest.js'
import { setAside } from '../format/quarantine.js'
import { endsClean, replayLog, type Replay } from '../log/replay.js'
import type { LogLine } from '../format/segment.js'
import type { Store } from './store.js'
import { readWatermark } from '../format/watermark.js'

export interface RecoveryReport {
  /** Last sequence that is in memory. */
  readonly sequence: number
  /** Lines of the log that were applied. */
  readonly replayed: number
  readonly segments: number
  /** An unfinished batch that was copied to the quarantine and cut. */
  readonly torn: (Fault & { readonly bytes: number; readonly quarantine: string }) | undefined
  /** The first byte that may have been acknowledged and cannot be read; storage is read-only then. */
  readonly damage: Fault | undefined
  /** Files that nothing named, removed. */
  readonly swept: readonly string[]
  /** Damaged documents, now in the quarantine; they count as absent. */
  readonly quarantined: readonly string[]
  /** Spools that were cut off, removed or in the quarantine. */
  readonly spools: readonly Fault[]
  /** The daemon before this one did not end in order. */
  readonly unclean: boolean
  /** Derived files that were made again, and why. */
  readonly rebuilt: readonly string[]
  readonly milliseconds: number
}

export interface RecoveryOptions {
  readonly disk: Disk
  readonly paths: Layout
  readonly manifest: ManifestHolder
  readonly store: Store
  /** Found before the log was read: then nothing is cut. */ readonly damage: Fault | undefined
}

/** What recovery found in the log, and the segments as they are now, all sealed. */
export interface LogRecovery {
  readonly replay: Replay
  /** The latest stamp of what was applied. */
  readonly latest: number
  /** Every line of the log was read and applied. */
  readonly whole: boolean
  readonly sealed: readonly SegmentRef[]
  readonly torn: RecoveryReport['torn']
  readonly damage: Fault | undefined
  readonly rebuilt: readonly string[]
  readonly unclean: boolean
}

/** Copies what lies behind the sound bytes into the quarantine, then cuts it. */
const cutBehind = async (
  { disk, paths }: RecoveryOptions,
  handle: DiskFile,
  fault: Fault,
): Promise<{ bytes: number; quarantine: string }> => {
  const source = rangeOf(handle, fault.offset)
  const name = `${fault.file.slice(fault.file.lastIndexOf('/') + 1)}-${fault.offset}.tail`
  const quarantine = await setAside(disk, { folder: paths.quarantine, name, source, fault })
  await handle.truncate(fault.offset)
  return { bytes: source.length, quarantine }
}

const sealAll = (replay: Replay): SegmentRef[] =>
  replay.sound.map(({ segment, length }) => ({ no: segment.no, first: segment.first, length }))

/** Bytes of a segment that are written again at once. */
const rewritten = 16 * 1024 * 1024

/**
 * Makes the end of the log as sound on the disk as it was when it was read. A
 * killed daemon may have left bytes that only the page cache has, and after a
 * failed sync the kernel calls them clean: they are written again, then synced.
 */
const settleEnd = async (options: RecoveryOptions, { sound, torn }: Replay): Promise<RecoveryReport['torn']> => {
  const last = sound.at(-1)
  if (last === undefined) return undefined
  const { segment, length, size } = last
  const fault = {
    file: join(options.paths.log, segmentName(segment.no)),
    offset: length,
    rule: torn?.rule ?? 'bytes behind those that count',
  }
  const handle = await options.disk.open(fault.file, 'write')
  try {
    const cut = size > length ? { ...fault, ...(await cutBehind(options, handle, fault)) } : undefined
    for (let at = 0; at < length; at += rewritten)
      await handle.write(handle.read(at, Math.min(rewritten, length - at)), at)
    await handle.sync()
    return cut
  } finally {
    await handle.close()
  }
}

/** Applies lines until one does not fit what is there. */
const applier = (
  store: Store,
  folder: string,
): { visit: (line: LogLine) => void; conflict: () => Fault | undefined; latest: () => number } => {
  let conflict: Fault | undefined
  let latest = 0
  const visit = (line: LogLine): void => {
    if (conflict !== undefined) return
    latest = Math.max(latest, line.t)
    try {
      const rule = store.apply(line)
      if (rule !== undefined) conflict = { file: folder, offset: 0, rule: `commit ${line.s}: ${rule}` }
    } catch (error) {
      conflict = { file: folder, offset: 0, rule: `commit ${line.s}: ${messageOf(error)}` }
    }
  }
  return { visit, conflict: () => conflict, latest: () => latest }
}

export const recoverLog = async (options: RecoveryOptions): Promise<LogRecovery> => {
  const { disk, paths, manifest, store } = options
  const { watermark, broken } = readWatermark(disk, paths.watermark)
  const { visit, conflict, latest } = applier(store, paths.log)
  const replay = replayLog({ disk, folder: paths.log, manifest: manifest.current, watermark, visit })
  const ofLog = replay.damage ?? conflict()
  const damage = options.damage ?? ofLog
  const found = {
    replay,
    latest: latest(),
    whole: ofLog === undefined,
    rebuilt: broken ? [`${paths.watermark}: the digest does not match`] : [],
    unclean: watermark?.clean === false,
  }
  if (damage !== undefined) return { ...found, sealed: [], torn: undefined, damage }
  const isClean = endsClean(replay, manifest.current.generation, watermark)
  const torn = isClean ? undefined : await settleEnd(options, replay)
  return { ...found, sealed: sealAll(replay), torn, damage }
}
