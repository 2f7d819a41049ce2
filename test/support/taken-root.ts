/** The state of a root as a daemon takes it, without a daemon. */
import { createClock, type Clock } from '../../core/base/clock.js'
import { createIds } from '../../core/base/ids.js'
import type { Disk } from '../../core/state/disk/disk.js'
import { createDisk } from '../../core/state/disk/real-disk.js'
import { acquireLock } from '../../core/state/root/lock.js'
import { openState } from '../../core/state/store/root.js'
import type { Tuning } from '../../core/state/tuning.js'

export const clock = createClock()
export const disk = createDisk()
export const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

interface Taking {
  readonly on?: Disk
  readonly at?: Clock
  readonly tuning?: Partial<Tuning>
}

/**
 * Takes a root; whoever asked declares and loads. `end` closes in order, `die` leaves it as a kill would: nothing is
 * being written then, so no watermark is written behind the test's back.
 */
export const takeRoot = async (root: string, { on = disk, at = clock, tuning }: Taking = {}) => {
  const ids = createIds(at)
  const lock = await acquireLock({ root, clock: at, log: silent, disk: on })
  const opened = await openState({
    root: lock.root,
    disk: on,
    clock: at,
    ids,
    log: silent,
    publish: () => undefined,
    generation: lock.generation,
    rootId: lock.facts.root_id,
    tuning: { ballastBytes: 4096, freeBytes: 0, watermarkMs: 60_000, ...tuning },
  })
  const end = async (): Promise<void> => {
    await opened.close()
    await lock.release()
  }
  const die = (): Promise<void> => {
    opened.halt('lock_lost')
    return end()
  }
  return { ...opened, lock, ids, end, die }
}
