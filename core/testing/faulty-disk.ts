/** The disk of a test daemon: it can be full, refuse to make things durable, and be cut off as a kill does it. */
import type { Disk } from '../state/disk/disk.js'
import { createWrappedDisk, diskError, type DiskCall } from './wrapped-disk.js'

/** `full`: nothing can be written. `sync`: what is written cannot be made durable. */
export type DiskFault = 'full' | 'sync'

/** Faults of the disk that a test sets, and heals. */
export interface DiskFaults {
  /** From now on. Commits that need the disk are refused, as they are when it happens to an operator. */
  fail(fault: DiskFault): void
  /** From now on the disk works. */
  heal(): void
}

export interface FaultyDisk extends DiskFaults {
  readonly disk: Disk
  /** Nothing reaches the disk any more until it is healed. */
  cut(): void
}

const fails: Readonly<Record<DiskFault | 'cut', Partial<Record<DiskCall, string>>>> = {
  full: { create: 'ENOSPC', write: 'ENOSPC' },
  sync: { sync: 'EIO' },
  cut: { create: 'EIO', write: 'EIO', sync: 'EIO', change: 'EIO' },
}

export const createFaultyDisk = (): FaultyDisk => {
  let now: DiskFault | 'cut' | undefined
  const { disk } = createWrappedDisk((call) => {
    const code = now && fails[now][call]
    if (code !== undefined) throw diskError(code)
  })
  const set = (next: typeof now) => (): void => {
    now = next
  }
  return { disk, fail: (fault) => set(fault)(), heal: set(undefined), cut: set('cut') }
}
