/** Files that are away or empty: whether they will be so for long shows later. */
import type { Clock } from '../../base/clock.js'

/** How long a file may be missed before its entries go: longer than who puts another in its place needs. */
const goneMs = 2_000

export interface Missed {
  /** These are missed now, and no others. */
  note(files: readonly string[]): void
}

/** Calls back with a file that was missed all the time. */
export const createMissed = (clock: Pick<Clock, 'after'>, believe: (file: string) => void): Missed => {
  const waiting = new Map<string, () => void>()
  const wait = (file: string): (() => void) =>
    clock.after(goneMs, () => {
      waiting.delete(file)
      believe(file)
    })
  return {
    note(files) {
      for (const file of files) if (!waiting.has(file)) waiting.set(file, wait(file))
      for (const [file, cancel] of waiting) {
        if (files.includes(file)) continue
        cancel()
        waiting.delete(file)
      }
    },
  }
}
