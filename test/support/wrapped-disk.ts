/** The real disk with a hook before each write and sync of a file: it may wait, and it may throw. */
import type { Disk } from '../../core/state/disk/disk.js'
import { createDisk } from '../../core/state/disk/real-disk.js'

export type DiskCall = 'create' | 'write' | 'sync'
export interface WrappedDisk {
  readonly disk: Disk
  /** Handles that are open for writing. */
  readonly open: ReadonlySet<object>
}

export const createWrappedDisk = (before: (call: DiskCall, path: string) => void | Promise<void>): WrappedDisk => {
  const disk = createDisk()
  const handles = new Set<object>()
  const open: Disk['open'] = async (path, how) => {
    if (how === 'create') await before('create', path)
    const file = await disk.open(path, how)
    handles.add(file)
    return {
      ...file,
      write: async (bytes, position) => {
        await before('write', path)
        await file.write(bytes, position)
      },
      sync: async () => {
        await before('sync', path)
        await file.sync()
      },
      close: async () => {
        handles.delete(file)
        await file.close()
      },
    }
  }
  return { disk: { ...disk, open }, open: handles }
}

export const diskError = (code: string): Error => Object.assign(new Error(code), { code })

/** Something that waits until the test lets it go on. */
export interface Latch {
  /** Waits; tells that somebody does. */
  wait(): Promise<void>
  readonly reached: Promise<void>
  open(error?: Error): void
}
export const createLatch = (): Latch => {
  const signal = (): { promise: Promise<void>; settle: (error?: Error) => void } => {
    let settle: (error?: Error) => void = () => {}
    const promise = new Promise<void>((resolve, reject) => {
      settle = (error) => (error === undefined ? resolve() : reject(error))
    })
    promise.catch(() => undefined)
    return { promise, settle }
  }
  const [arrival, passage] = [signal(), signal()]
  return {
    wait: () => {
      arrival.settle()
      return passage.promise
    },
    reached: arrival.promise,
    open: passage.settle,
  }
}
