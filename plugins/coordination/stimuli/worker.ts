/** Looks for stimuli whose time has come, channel by channel; everything that it does is found in records. */
import { Problem, tellFailure, type Clock, type Log, type State, type Tx } from '../../../core/plugin.js'
import {
  dispatch,
  expired,
  freed,
  heldUp,
  isExpired,
  isQuieted,
  pausedText,
  postponed,
  type DispatchParts,
} from './dispatch.js'
import type { StimulusRecord } from './record/stimulus.js'
import { dueAt } from './record/store.js'

export interface WorkerParts extends DispatchParts {
  readonly state: State
  readonly clock: Clock
  readonly log: Log
}

export interface StimulusWorker {
  /** Something waits in a channel, or it may go on. */
  poke(channel_id: string): void
  /** From now on it acts; gives what ends that. */
  begin(): () => Promise<void>
}

/** Longest wait between two looks at the wall clock, which may jump; pause behind a failure, and least pause. */
const [longestMs, retryMs, leastMs] = [30_000, 500, 5]
/** Stimuli of a channel that are looked at before others are served. */
const atOnce = 16

/** What is done in one channel. */
const createMoves = ({ store, channels, state, clock }: WorkerParts) => {
  const change = (stimulus_id: string, by: (tx: Tx, stimulus: StimulusRecord) => void): Promise<void> =>
    state.commit((tx) => {
      const now = store.stimuli.find(stimulus_id)
      if (now?.state === 'pending') by(tx, now)
    })
  const wait = (stimulus_id: string, why: string): Promise<void> =>
    change(stimulus_id, (tx, now) => tx.put(store.stimuli, postponed(now, tx.now, why)))
  const isPaused = (channel_id: string): boolean => channels.find(channel_id)?.paused === true
  return {
    isPaused,
    due: (channel_id: string) => store.due(channel_id, atOnce).filter((one) => dueAt(one) <= clock.now()),
    /** Those of a paused channel end in their time, are told of it once, and looked at again when it changes. */
    async holdUp(channel_id: string): Promise<void> {
      const waiting = store.due(channel_id, Infinity)
      for (const { stimulus_id } of waiting.filter((one) => isExpired(one, clock.now())))
        await change(stimulus_id, (tx, now) => tx.put(store.stimuli, expired(now, tx.now)))
      const untold = store.due(channel_id, atOnce).filter(({ last_error }) => last_error !== pausedText)
      for (const { stimulus_id } of untold)
        await change(stimulus_id, (tx, now) => tx.put(store.stimuli, heldUp(now, tx.now)))
    },
    /** What a policy that was changed holds up no longer. */
    async free(channel_id: string): Promise<void> {
      for (const one of store.due(channel_id, Infinity).filter(isQuieted))
        if (freed({ store, channels }, one) !== one)
          await change(one.stimulus_id, (tx, now) => tx.put(store.stimuli, freed({ store, channels }, now)))
    },
    move: (stimulus_id: string): Promise<void> =>
      change(stimulus_id, (tx, now) => {
        if (dueAt(now) <= tx.now) dispatch({ store, channels }, tx, now)
      }).catch((error: unknown) => {
        if (!(error instanceof Problem) || error.spec.status >= 500) throw error
        return wait(stimulus_id, error.message)
      }),
    /** Milliseconds until something is to be done; undefined if nothing waits. Who is paused is looked at seldom. */
    next(): number | undefined {
      let next: number | undefined
      for (const channel_id of store.channels()) {
        const [first] = store.due(channel_id, 1)
        const ms = first === undefined || isPaused(channel_id) ? longestMs : dueAt(first) - clock.now()
        next = Math.min(next ?? longestMs, Math.max(leastMs, ms))
      }
      return next
    },
  }
}

export const createWorker = (parts: WorkerParts): StimulusWorker => {
  const { store, state, clock, log } = parts
  const moves = createMoves(parts)
  const waiting = new Set<string>()
  let running: Promise<void> | undefined
  let acts = false
  let cancel = (): void => {}
  const look = async (channel_id: string): Promise<void> => {
    if (moves.isPaused(channel_id)) return moves.holdUp(channel_id)
    await moves.free(channel_id)
    for (const { stimulus_id } of moves.due(channel_id)) if (acts) await moves.move(stimulus_id)
    if (moves.due(channel_id).length > 0) waiting.add(channel_id)
  }
  const work = async (): Promise<number | undefined> => {
    for (let [channel_id] = waiting; channel_id !== undefined && acts; [channel_id] = waiting) {
      waiting.delete(channel_id)
      await look(channel_id)
    }
    return moves.next()
  }
  const failed = (error: unknown): number => {
    tellFailure({ log, state }, 'a stimulus could not go on', { error })
    // All of them are looked at behind the pause.
    waiting.clear()
    return retryMs
  }
  const run = (): void => {
    if (!acts || running !== undefined) return
    cancel()
    running = work()
      .catch(failed)
      .then((ms) => {
        running = undefined
        if (waiting.size > 0) run()
        else if (acts && ms !== undefined) cancel = clock.after(ms, lookAll)
      })
  }
  const lookAll = (): void => {
    for (const channel_id of store.channels()) waiting.add(channel_id)
    run()
  }
  return {
    poke(channel_id) {
      waiting.add(channel_id)
      run()
    },
    begin() {
      acts = true
      lookAll()
      return async () => {
        acts = false
        cancel()
        await running
      }
    },
  }
}
