/** Work that is done in rounds: when there is some, and now and then, since nothing is decided by memory alone. */
import { tellFailure, type Clock, type Log, type State } from '../../../core/plugin.js'

export interface RoundParts {
  readonly state: State
  readonly clock: Clock
  readonly log: Log
}

export interface Rounds {
  /** There may be work; nothing while it has not begun. */
  wake(): void
  /** Begins with a round. What it returns ends it: the signal of the round under way aborts, and it is waited for. */
  begin(): () => Promise<void>
}

export interface RoundWork {
  /** What it is, for the log. */
  readonly fact: string
  /** One round: all that is there. Soon over when the signal aborts. */
  round(signal: AbortSignal): Promise<void>
}

/** Between two looks without a reason. */
const lookMs = 30_000
const firstPauseMs = 500

export const createRounds = ({ state, clock, log }: RoundParts, { fact, round }: RoundWork): Rounds => {
  let over = new AbortController()
  let [acts, isDue] = [false, false]
  let working: Promise<void> | undefined
  let cancel = (): void => {}
  const work = async (): Promise<void> => {
    for (let pauseMs = firstPauseMs; isDue && acts;) {
      isDue = false
      try {
        await round(over.signal)
        pauseMs = firstPauseMs
      } catch (error) {
        tellFailure({ log, state }, fact, { error })
        isDue = true
        await clock.sleep(pauseMs, over.signal)
        pauseMs = Math.min(pauseMs * 2, lookMs)
      }
    }
  }
  const wake = (): void => {
    isDue = true
    if (!acts || working !== undefined) return
    working = work().finally(() => {
      working = undefined
      if (isDue) wake()
    })
  }
  const look = (): void => {
    cancel = clock.after(lookMs, look)
    wake()
  }
  return {
    wake,
    begin() {
      over = new AbortController()
      acts = true
      look()
      return async () => {
        acts = false
        cancel()
        over.abort()
        await working
      }
    },
  }
}
