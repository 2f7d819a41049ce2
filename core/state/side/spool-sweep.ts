/** What a kill or a power cut left of spools, and what a start does about it. */
import { join } from 'node:path'
import type { Disk } from '../disk/disk.js'
import type { Fault } from '../format/line.js'
import { isSpoolName, longestSpoolHeader, readSpoolHead } from './spool.js'
import { sweepTemps } from '../disk/temps.js'

export interface SpoolSweep {
  /** Replacements that were cut off, removed. */
  readonly swept: readonly string[]
  /** Spools without a header that can be read: removed if nothing is in them, else set aside. */
  readonly cut: readonly Fault[]
}

const newline = 10

/** True if the header did not reach the disk whole: the file is empty, ends within it or holds zeros in its place. */
const isUnfinished = (disk: Disk, path: string): boolean => {
  const file = disk.openSync(path)
  try {
    const bytes = file.read(0, longestSpoolHeader)
    return bytes.indexOf(newline) === -1 || bytes[0] === 0
  } finally {
    void file.close()
  }
}

/** Why a spool cannot be read, and whether a kill explains it; undefined if it can. */
export const spoolFault = (disk: Disk, path: string): { readonly rule: string; readonly cut: boolean } | undefined => {
  if (disk.stat(path)?.kind !== 'file' || readSpoolHead(disk, path) !== undefined) return undefined
  return isUnfinished(disk, path)
    ? { rule: 'a kill cut it off before its header was on the disk', cut: true }
    : { rule: 'its header does not fit', cut: false }
}

export interface SweepSpoolsOptions {
  /** `spools/`; areas are folders in it. */
  readonly folder: string
  readonly disk: Disk
  readonly setAside: (path: string, reason: string) => Promise<void>
}

const hasContent = (disk: Disk, path: string): boolean => disk.readFile(path)?.some((byte) => byte !== 0) === true

export const sweepSpools = async ({ folder, disk, setAside }: SweepSpoolsOptions): Promise<SpoolSweep> => {
  const swept: string[] = []
  const cut: Fault[] = []
  for (const area of disk.list(folder).map((name) => join(folder, name))) {
    swept.push(...(await sweepTemps(disk, area)))
    for (const name of disk.list(area).filter(isSpoolName)) {
      const path = join(area, name)
      const fault = spoolFault(disk, path)
      if (fault === undefined) continue
      if (hasContent(disk, path)) await setAside(path, fault.rule)
      else await disk.unlink(path)
      cut.push({ file: path, offset: 0, rule: fault.rule })
    }
  }
  return { swept, cut }
}
