/** When a source is taken: at its interval, as often and as long as its file says. */
import type { Clock } from '../../../../core/plugin.js'
import type { FileSource } from './agent-file.js'
import type { Way } from './way.js'

export interface RhythmParts {
  readonly trigger: FileSource['trigger']
  readonly way: Way
  readonly clock: Clock
  /** Once, and what is not whole yet is waited for. */
  readonly once: boolean
  readonly signal: AbortSignal
  /** How the last look went. */
  readonly saw: (isWell: boolean) => void
}

/** Shortest time between two looks, whatever the file says; and the time after which what is not whole may be. */
const [leastMs, settleMs] = [100, 1000]

/** Ends when its number or its time is over, or the signal aborts. False if the last look failed. */
export const keepRhythm = async ({ trigger, way, clock, once, signal, saw }: RhythmParts): Promise<boolean> => {
  const every = Math.max(leastMs, trigger.every_ms)
  const runs = once ? 1 : (trigger.max_runs ?? Infinity)
  const began = clock.elapsed()
  const end = began + (trigger.duration_ms ?? Infinity)
  let isWell = true
  for (let run = 0, due = began; run < runs && due < end && !signal.aborted;) {
    await clock.sleep(due - clock.elapsed(), signal)
    if (signal.aborted) break
    const { type } = await way.take()
    isWell = type !== 'failed'
    saw(isWell)
    const isWhole = type !== 'unsettled'
    if (isWhole) run += 1
    // What was missed meanwhile is not made up for.
    const next = due + Math.max(1, Math.ceil((clock.elapsed() - due) / every)) * every
    due = isWhole ? next : Math.min(next, clock.elapsed() + settleMs)
  }
  return isWell
}
