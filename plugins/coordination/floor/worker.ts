/** Goes through what is to be decided, channel by channel: everything that it does is found in records. */
import type { Clock } from '../../../core/plugin.js'
import type { TerminalRun } from '../../execution/runs/contract.js'
import { createRetries, type Failure, type Retries } from './retries.js'
import { planCall } from './turns/call.js'
import type { LeaseRecord } from './record/lease.js'
import { decide, type DecisionParts } from './turns/decide.js'
import { expire, isOver, settle } from './turns/settle.js'

export interface WorkerParts extends Omit<DecisionParts, 'abandon' | 'clock'> {
  readonly clock: Pick<Clock, 'now' | 'after'>
}

export interface FloorWorker {
  /** Somebody may have to be asked in a channel. */
  consider(channel_id: string): void
  /** Ends a run that nobody waits for any more. */
  abandon(run_id: string): void
  ended(run: TerminalRun): void
  /** How deciding in a channel has failed, while it is to be tried again. */
  failure(channel_id: string): Failure | undefined
  /** From now on it acts; gives what ends that. */
  begin(): () => Promise<void>
}

/** Longest wait between two looks at the wall clock, which may jump. */
const longestMs = 30_000
/** Least pause between two looks. */
const leastMs = 5
/** Turns that are looked at at a time. */
const mostDue = 100

/** One thing after the other in each channel. */
const createLanes = () => {
  const lanes = new Map<string, Promise<void>>()
  return {
    /** `work` must not reject. */
    add(key: string, work: () => Promise<void>): void {
      const done: Promise<void> = (lanes.get(key) ?? Promise.resolve()).then(work).finally(() => {
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
  { acts, retries }: { readonly acts: () => boolean; readonly retries: Retries },
) => {
  const ending = new Set<Promise<void>>()
  const abandon = (run_id: string): void => {
    if (!acts() || isOver(runs.find(run_id))) return retries.done(run_id)
    const done: Promise<void> = runs
      .cancel(run_id)
      .then(
        () => retries.done(run_id),
        // One that ended by itself meanwhile need not be ended.
        (error: unknown) => {
          if (isOver(runs.find(run_id))) retries.done(run_id)
          else retries.failed(run_id, error, () => abandon(run_id))
        },
      )
      .finally(() => ending.delete(done))
    ending.add(done)
  }
  return { abandon, ended: async (): Promise<void> => void (await Promise.all(ending)) }
}

/** Something that is to be done in a channel, about the channel or one of its turns. */
interface Work {
  readonly channel_id: string
  readonly id: string
  readonly run: () => Promise<void>
}

export const createWorker = (given: WorkerParts): FloorWorker => {
  const { store, runs, clock } = given
  let acts = false
  let cancel = (): void => {}
  const retries = createRetries(given)
  const lanes = createLanes()
  const add = (work: Work): void => {
    if (!acts) return
    const { channel_id, id, run } = work
    lanes.add(channel_id, async () => {
      if (!acts) return
      try {
        await run()
        retries.done(id)
      } catch (error) {
        retries.failed(id, error, () => add(work))
      }
      arm()
    })
  }
  const { abandon, ended: allEnded } = createEnding(given, { acts: () => acts, retries })
  const parts: DecisionParts = { ...given, abandon }
  const decideAll = async (channel_id: string): Promise<void> => {
    for (let call = store.firstCall(channel_id); call !== undefined && acts; call = store.firstCall(channel_id)) {
      const { message_id } = call
      const ranks = {}
      await decide(parts, () => planCall(parts, message_id, ranks))
    }
  }
  const consider = (channel_id: string): void => add({ channel_id, id: channel_id, run: () => decideAll(channel_id) })
  const end = ({ channel_id, turn_id: id }: LeaseRecord): void => add({ channel_id, id, run: () => settle(parts, id) })
  /** The turns that end first; one that failed waits until it is tried again. */
  const due = (): readonly LeaseRecord[] =>
    store.due(mostDue).filter(({ turn_id }) => retries.find(turn_id) === undefined)
  const lookDue = (): void => {
    for (const { turn_id: id, channel_id, expires_at_ms } of due())
      if (expires_at_ms <= clock.now()) add({ channel_id, id, run: () => expire(parts, id) })
    arm()
  }
  /** What an earlier life left: calls, ended turns, and runs that nobody waits for. */
  const lookAll = (): void => {
    for (const channel_id of store.calling()) consider(channel_id)
    for (const turn_id of store.leases.ids('all', 'all')) {
      const lease = store.leases.find(turn_id)
      if (lease !== undefined && isOver(runs.find(lease.active_run_id))) end(lease)
    }
    for (const run_id of runs.open())
      if (runs.find(run_id)?.kind === 'channel_delivery' && store.ofRun(run_id) === undefined) abandon(run_id)
    lookDue()
  }
  const arm = (): void => {
    cancel()
    const [next] = acts ? due() : []
    if (next !== undefined)
      cancel = clock.after(Math.min(longestMs, Math.max(leastMs, next.expires_at_ms - clock.now())), lookDue)
  }
  return {
    consider,
    abandon,
    failure: retries.find,
    ended({ kind, run_id }) {
      const lease = kind === 'channel_delivery' ? store.ofRun(run_id) : undefined
      if (lease !== undefined) end(lease)
    },
    begin() {
      acts = true
      lookAll()
      return async () => {
        acts = false
        cancel()
        retries.end()
        await lanes.done()
        await allEnded()
      }
    },
  }
}
