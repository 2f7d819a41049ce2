/** A disk whose syncs of the log wait for the test, to look at what happens before them. */
import type { Disk } from '../../core/state/disk/disk.js'
import { createDisk } from '../../core/state/disk/real-disk.js'

export interface HeldDisk {
  readonly disk: Disk
  /** From now on syncs of the log wait. */
  hold(): void
  /** Resolves when a sync waits. */
  reached(): Promise<void>
  /** Lets the waiting syncs through; with an error they fail. */
  release(error?: Error): void
}

export const createHeldDisk = (): HeldDisk => {
  const disk = createDisk()
  let holding = false
  let waiting: ((error?: Error) => void)[] = []
  let told: (() => void)[] = []
  const gate = (): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push((error) => (error === undefined ? resolve() : reject(error)))
      for (const tell of told.splice(0)) tell()
    })
  const open: Disk['open'] = async (path, how) => {
    const file = await disk.open(path, how)
    const sync = async (): Promise<void> => {
      if (holding && path.includes('/log/')) await gate()
      await file.sync()
    }
    return { ...file, sync }
  }
  return {
    disk: { ...disk, open },
    hold: () => {
      holding = true
    },
    reached: () => (waiting.length > 0 ? Promise.resolve() : new Promise((resolve) => told.push(resolve))),
    release: (error) => {
      holding = false
      for (const go of waiting.splice(0)) go(error)
    },
  }
}
