/** The tools of one connection, read again when they change: no change is lost, and a failure is not the end of it. */
import { backoff, type Clock } from '../../../../core/plugin.js'

export interface Relisting {
  /** Something has changed, perhaps while the list was being read. */
  changed(): void
  /** The first list was read: changes are read from now on, those before too. */
  begin(list: () => Promise<void>): void
}

export interface RelistingParts {
  readonly clock: Clock
  /** Aborts when the connection is over. */
  readonly signal: AbortSignal
  /** Why a change could not be read; undefined when it was. */
  readonly onRead: (error: unknown) => void
}

/** Changes that come together are one. Milliseconds. */
const gatherMs = 50
/** Between two readings lies this many times what the last one took: changes may be told without an end. */
const restShare = 4
const waits = { base: 1_000, max: 60_000 }

export const createRelisting = ({ clock, signal, onRead }: RelistingParts): Relisting => {
  let list: (() => Promise<void>) | undefined
  let [isDue, isReading, failures, took] = [false, false, 0, 0]
  const read = async (): Promise<void> => {
    const began = clock.elapsed()
    try {
      await list?.()
      failures = 0
      onRead(undefined)
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      isDue = true
      onRead(error)
    }
    took = clock.elapsed() - began
  }
  const readOn = async (): Promise<void> => {
    isReading = true
    while (isDue) {
      const wait = failures === 0 ? Math.max(gatherMs, took * restShare) : backoff(waits, failures)
      await clock.sleep(wait, signal)
      if (signal.aborted) return
      isDue = false
      await read()
    }
    isReading = false
  }
  const start = (): void => {
    if (list !== undefined && isDue && !isReading) void readOn()
  }
  return {
    changed() {
      isDue = true
      start()
    },
    begin(given) {
      list = given
      start()
    },
  }
}
