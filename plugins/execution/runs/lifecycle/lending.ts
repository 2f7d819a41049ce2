/** Places of runs that wait for what others do: those others may have them meanwhile (runs-55). */
import type { RunPlace } from './run-engine.js'

export interface Lending {
  placeOf(run_id: string): RunPlace
  /** Runs whose places others may have. */
  count(): number
  lent(): readonly string[]
  /** It has done waiting, and has no place yet. */
  wantsBack(run_id: string): boolean
  /** Gives a place to the run that has waited longest for one again; false if none does. */
  takeBack(): boolean
  /** The run is over. */
  end(run_id: string): void
}

/** `lends` is called when a place has become free, or is wanted again. */
export const createLending = (lends: () => void): Lending => {
  /** How many calls of a run wait. */
  const waiting = new Map<string, number>()
  const returning = new Map<string, () => void>()
  /** A run that is told to stop ends without a place. */
  const wantBack = (run_id: string, stopped: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (stopped.aborted) return resolve()
      const back = (): void => {
        stopped.removeEventListener('abort', back)
        returning.delete(run_id)
        resolve()
      }
      stopped.addEventListener('abort', back)
      returning.set(run_id, back)
      lends()
    })
  return {
    placeOf: (run_id) => ({
      async lend(wait, stopped) {
        waiting.set(run_id, (waiting.get(run_id) ?? 0) + 1)
        lends()
        try {
          return await wait()
        } finally {
          const left = (waiting.get(run_id) ?? 0) - 1
          if (left > 0) waiting.set(run_id, left)
          else if (left === 0) await wantBack(run_id, stopped)
        }
      },
    }),
    count: () => waiting.size,
    lent: () => [...waiting.keys()],
    wantsBack: (run_id) => returning.has(run_id),
    takeBack() {
      for (const [run_id, back] of returning) {
        waiting.delete(run_id)
        back()
        return true
      }
      return false
    },
    end(run_id) {
      waiting.delete(run_id)
      returning.get(run_id)?.()
    },
  }
}
