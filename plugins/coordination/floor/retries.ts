/** What failed is tried again, later each time, and its cause is told once. */
import { backoff, tellFailure, type Clock, type Log, type State, thrownText } from '../../../core/plugin.js'

export interface Failure {
  /** In a row. */
  readonly times: number
  readonly error: unknown
  /** Unix ms. */
  readonly retry_at_ms: number
}

export interface RetryParts {
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly log: Log
  readonly state: Pick<State, 'health'>
}

/** Each by the id of what it is about. */
export interface Retries {
  /** The failure of what has failed since it was done last. */
  find(id: string): Failure | undefined
  failed(id: string, error: unknown, again: () => void): void
  done(id: string): void
  /** What waits to be tried again is let go. */
  end(): void
}

const pauses = { base: 500, max: 30_000 }

interface Kept extends Failure {
  readonly cancel: () => void
}

export const createRetries = ({ clock, log, state }: RetryParts): Retries => {
  const failures = new Map<string, Kept>()
  const forget = (id: string): void => {
    failures.get(id)?.cancel()
    failures.delete(id)
  }
  return {
    find: (id) => failures.get(id),
    failed(id, error, again) {
      const before = failures.get(id)
      before?.cancel()
      if (thrownText(before?.error) !== thrownText(error))
        tellFailure({ log, state }, 'a turn could not be decided', { id, error })
      // What storage refuses is no fault of a decision: it goes on as soon as storage does.
      const times = state.health.mode === 'ok' ? (before?.times ?? 0) + 1 : 1
      const ms = backoff(pauses, times)
      failures.set(id, { times, error, retry_at_ms: clock.now() + ms, cancel: clock.after(ms, again) })
    },
    done: forget,
    end() {
      for (const id of failures.keys()) forget(id)
    },
  }
}
