/** How much memory V8 may hold on to: less than it would by itself, and what a burst of work left goes at rest. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Clock } from '../clock.js'
import { unsafeCast } from '../schema.js'

/**
 * Percent of what was alive at the last collection that may be allocated before the next. By itself V8 lets a heap of
 * 50 MB grow to 270 MB on a machine with much memory. Half of this takes a sixth of memory less and costs a fifth of a
 * run's CPU time, because each collection looks at all that is alive.
 */
const growth = 100
/** The same of a command that reads a whole root: what is alive of it is little, and it ends soon. */
const growthOfWork = 50

/**
 * For a daemon that has started. V8 takes kept code only under the flags under which it was kept, that of Node's own
 * modules too: set before those are loaded, a flag costs each of them its compilation.
 */
export const boundHeap = (): void => setFlagsFromString(`--heap-growing-percent=${growth}`)
export const boundHeapOfWork = (): void => setFlagsFromString(`--heap-growing-percent=${growthOfWork}`)

/** What is kept of the code of a life is kept under the flags of a start. */
export const resetHeap = (): void => setFlagsFromString('--heap-growing-percent=0')

export interface Heap {
  /** Bytes that V8 has taken for it. */
  readonly bytes: () => number
  /** Milliseconds of CPU time of the process so far. */
  readonly cpu: () => number
  /** Collects all that is dead. Takes a tenth of a second and stops everything for so long. */
  readonly collect: () => void
}

/** Ms between two looks, and of CPU time between them from which on the process is at work. */
const [lookMs, workMs] = [15_000, 1500]
/** Bytes of heap that are never worth a collection. */
const leastBytes = 64 * 1024 * 1024
/** The second gives back the pages that the first has emptied halfway. */
const collections = 2

/**
 * V8 collects only while something is allocated: what a burst left would stay for as long as nothing happens. Returns
 * its end.
 */
export const collectAtRest = (clock: Clock, heap = createHeap()): (() => void) => {
  let owed = 0
  let before = heap.cpu()
  let cancel = (): void => {}
  const look = (): void => {
    cancel = clock.after(lookMs, look)
    const cpu = heap.cpu()
    const worked = cpu - before >= workMs
    before = cpu
    if (worked) owed = collections
    else if (owed > 0 && heap.bytes() > leastBytes) {
      owed -= 1
      heap.collect()
    }
  }
  cancel = clock.after(lookMs, look)
  return () => cancel()
}

/** That of this process. */
export const createHeap = (): Heap => {
  let collect: (() => void) | undefined
  return {
    bytes: () => getHeapStatistics().total_heap_size,
    cpu() {
      const used = process.cpuUsage()
      return (used.user + used.system) / 1000
    },
    collect: () => (collect ??= findCollect())(),
  }
}

/** V8 gives its collector to contexts that are made while the flag is set. */
const findCollect = (): (() => void) => {
  setFlagsFromString('--expose-gc')
  const collect = unsafeCast<() => void>(runInNewContext('gc'))
  setFlagsFromString('--no-expose-gc')
  return collect
}
