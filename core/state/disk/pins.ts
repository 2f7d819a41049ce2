/**
 * Keeps files on disk while somebody copies them: an unlink of a pinned file
 * is put off until the pin goes. Files that only grow are safe as they are.
 */
import type { Disk } from './disk.js'

export interface Pins {
  /** The disk whose unlinks respect the pins. */
  readonly disk: Disk
  /** Pins every path that fits; the function it returns frees them and does what was put off. */
  pin(fits: (path: string) => boolean): () => Promise<void>
  /** True of a file that goes as soon as nobody copies it. */
  isLeaving(path: string): boolean
}

export const createPins = (disk: Disk): Pins => {
  const pins = new Set<(path: string) => boolean>()
  const late = new Set<string>()
  const isPinned = (path: string): boolean => [...pins].some((fits) => fits(path))
  const unlink = async (path: string): Promise<void> => {
    if (isPinned(path)) late.add(path)
    else await disk.unlink(path)
  }
  /** A file that is written again is wanted again. */
  const replace = (path: string, bytes: Uint8Array): Promise<void> => {
    late.delete(path)
    return disk.replace(path, bytes)
  }
  const free = async (): Promise<void> => {
    // Each is looked at in its turn: meanwhile another may be written again or pinned.
    for (const path of late) {
      if (isPinned(path)) continue
      late.delete(path)
      if (disk.stat(path) !== undefined) await disk.unlink(path)
    }
  }
  const pin = (fits: (path: string) => boolean): (() => Promise<void>) => {
    pins.add(fits)
    return () => {
      pins.delete(fits)
      return free()
    }
  }
  return { disk: { ...disk, unlink, replace }, pin, isLeaving: (path) => late.has(path) }
}
