/** Deadlines of what runs wait for. They are in the state; one timer watches the earliest of all. */
import { tellFailure, type Clock, type Log } from '../../../../core/plugin.js'
import type { WaitingRun } from '../record/run-record.js'
import type { RunStore } from '../record/store.js'

type Status = WaitingRun['status']
type Expire = (run: WaitingRun) => Promise<void>

/** Runs that are expired in one turn of the event loop, at most. */
const atOnce = 500
/** Longest wait between two checks of the wall clock, which may jump. */
const longest = 5000
/** Pause after a failure, such as storage that refuses changes. */
const retryMs = 1000

export interface Deadlines {
  watch(status: Status, expire: Expire): () => void
  /** Expires what is due, and again by itself. Its commits have begun when this returns, so that counts are right. */
  check(): void
  /** Checks soon: a deadline has come that may be earlier than all others. */
  checkSoon(): void
  /** No more timers; resolves when what has begun is over. */
  end(): Promise<void>
}

export const createDeadlines = ({ store, clock, log }: { store: RunStore; clock: Clock; log: Log }): Deadlines => {
  const owners = new Map<Status, Expire>()
  let cancel = (): void => {}
  const arm = (ms: number): void => {
    cancel()
    cancel = clock.after(ms, check)
  }
  const expiring = new Set<Promise<unknown>>()
  const close = (run: WaitingRun, expire: Expire): void => {
    const closed = expire(run)
      .catch((error: unknown) => {
        tellFailure({ log, state: store.state }, 'a request whose time is over could not be closed', {
          run_id: run.run_id,
          error,
        })
        arm(retryMs)
      })
      .finally(() => expiring.delete(closed))
    expiring.add(closed)
  }
  const check = (): void => {
    cancel()
    if (store.state.health.mode !== 'ok') return arm(longest)
    const next = [...owners].flatMap(([status, expire]) => {
      for (const run of dueRuns(store, status, atOnce)) {
        if (run.expires_at_ms > clock.now()) break
        close(run, expire)
      }
      return dueRuns(store, status, 1)
    })
    if (next.length > 0) arm(waitFor(Math.min(...next.map(({ expires_at_ms }) => expires_at_ms)) - clock.now()))
  }
  return {
    check,
    checkSoon: () => arm(0),
    watch(status, expire) {
      owners.set(status, expire)
      check()
      return () => void owners.delete(status)
    },
    async end() {
      owners.clear()
      cancel()
      await Promise.all(expiring)
    },
  }
}

/** What is due and still there was refused or is one too many. */
const waitFor = (left: number): number => (left <= 0 ? retryMs : Math.min(longest, left))

type DueRun = WaitingRun & { readonly expires_at_ms: number }
const isDue = (run: object): run is DueRun => 'pending' in run && 'expires_at_ms' in run

/** Runs with a deadline, the earliest first. */
const dueRuns = (store: RunStore, status: Status, limit: number): DueRun[] =>
  store.runs.list({ index: 'due', group: status, limit }).filter(isDue)
