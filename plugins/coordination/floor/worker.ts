/** Goes through what is to be decided, channel by channel: everything that it does is found in records. */
import { tellFailure } from '../../../core/plugin.js'
import type { TerminalRun } from '../../execution/runs/contract.js'
import { planCall } from './turns/call.js'
import { decide, type DecisionParts } from './turns/decide.js'
import { expire, isOver, settle } from './turns/settle.js'

export interface WorkerParts extends Omit<DecisionParts, 'abandon' | 'clock'> {
  readonly clock: { now(): number; after(ms: number, run: () => void): () => void }
}

export interface FloorWorker {
  /** Somebody may have to be asked in a channel. */
  consider(channel_id: string): void
  /** Ends a run that nobody waits for any more. */
  abandon(run_id: string): void
  ended(run: TerminalRun): void
  /** From now on it acts; gives what ends that. */
  begin(): () => Promise<void>
}

/** Longest wait between two looks at the wall clock, which may jump. */
const longestMs = 30_000
/** Pause before something is tried again that failed. */
const retryMs = 500
/** Least pause between two looks. */
const leastMs = 5
/** Turns that are looked at at a time. */
const mostDue = 100

/** One thing after the other in each channel. */
const createLanes = (log: (error: unknown) => void) => {
  const lanes = new Map<string, Promise<void>>()
  return {
    add(key: string, work: () => Promise<void>): void {
      const done: Promise<void> = (lanes.get(key) ?? Promise.resolve())
        .then(work)
        .catch(log)
        .finally(() => {
          if (lanes.get(key) === done) lanes.delete(key)
        })
      lanes.set(key, done)
    },
    done: async (): Promise<void> => {
      while (lanes.size > 0) await Promise.all(lanes.values())
    },
  }
}

/** Runs that nobody waits for any more. */
const createEnding = (
  { runs }: Pick<WorkerParts, 'runs'>,
  { acts, failed }: { readonly acts: () => boolean; readonly failed: (error: unknown) => void },
) => {
  const ending = new Set<Promise<void>>()
  return {
    abandon(run_id: string): void {
      if (!acts() || isOver(runs.find(run_id))) return
      const done: Promise<void> = runs
        .cancel(run_id)
        .then(
          () => {},
          // One that ended by itself meanwhile need not be ended.
          (error: unknown) => {
            if (!isOver(runs.find(run_id))) failed(error)
          },
        )
        .finally(() => ending.delete(done))
      ending.add(done)
    },
    ended: async (): Promise<void> => void (await Promise.all(ending)),
  }
}

export const createWorker = (given: WorkerParts): FloorWorker => {
  const { store, runs, clock, state, log } = given
  let acts = false
  let cancel = (): void => {}
  let cancelRetry: (() => void) | undefined
  const failed = (error: unknown): void => {
    tellFailure({ log, state }, 'a turn could not be decided', { error })
    if (!acts) return
    cancelRetry ??= clock.after(retryMs, () => {
      cancelRetry = undefined
      lookAll()
    })
  }
  const lanes = createLanes(failed)
  const add = (channel_id: string, work: () => Promise<void>): void => {
    if (!acts) return
    lanes.add(channel_id, async () => {
      if (acts) await work()
    })
    lanes.add(channel_id, async () => arm())
  }
  const { abandon, ended: allEnded } = createEnding(given, { acts: () => acts, failed })
  const parts: DecisionParts = { ...given, abandon }
  const consider = (channel_id: string): void =>
    add(channel_id, async () => {
      for (let call = store.firstCall(channel_id); call !== undefined && acts; call = store.firstCall(channel_id)) {
        const { message_id } = call
        const ranks = {}
        await decide(parts, () => planCall(parts, message_id, ranks))
      }
    })
  const lookDue = (): void => {
    for (const { turn_id, channel_id, expires_at_ms } of store.due(mostDue))
      if (expires_at_ms <= clock.now()) add(channel_id, () => expire(parts, turn_id))
    arm()
  }
  /** What an earlier life left, or a failure: calls, ended turns, and runs that nobody waits for. */
  const lookAll = (): void => {
    for (const channel_id of store.calling()) consider(channel_id)
    for (const turn_id of store.leases.ids('all', 'all')) {
      const lease = store.leases.find(turn_id)
      if (lease !== undefined && isOver(runs.find(lease.active_run_id)))
        add(lease.channel_id, () => settle(parts, turn_id))
    }
    for (const run_id of runs.open())
      if (runs.find(run_id)?.kind === 'channel_delivery' && store.ofRun(run_id) === undefined) abandon(run_id)
    lookDue()
  }
  const arm = (): void => {
    cancel()
    const [due] = acts ? store.due(1) : []
    if (due !== undefined)
      cancel = clock.after(Math.min(longestMs, Math.max(leastMs, due.expires_at_ms - clock.now())), lookDue)
  }
  return {
    consider,
    abandon,
    ended({ kind, run_id }) {
      const lease = kind === 'channel_delivery' ? store.ofRun(run_id) : undefined
      if (lease !== undefined) add(lease.channel_id, () => settle(parts, lease.turn_id))
    },
    begin() {
      acts = true
      lookAll()
      return async () => {
        acts = false
        cancel()
        cancelRetry?.()
        await lanes.done()
        await allEnded()
      }
    },
  }
}
