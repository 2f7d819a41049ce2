/** Looks for stimuli whose time has come, channel by channel; everything that it does is found in records. */
import { Problem, tellFailure, type Clock, type Log, type State } from '../../../core/plugin.js'
import { dispatch, postpone, type DispatchParts } from './dispatch.js'
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
const paused = 'the channel is paused'

export const createWorker = (parts: WorkerParts): StimulusWorker => {
  const { store, channels, state, clock, log } = parts
  const waiting = new Set<string>()
  let running: Promise<void> | undefined
  let acts = false
  let cancel = (): void => {}

  const move = (stimulus_id: string): Promise<void> =>
    state
      .commit((tx) => {
        const now = store.stimuli.find(stimulus_id)
        if (now?.state === 'pending' && dueAt(now) <= tx.now) dispatch(parts, tx, now)
      })
      .catch((error: unknown) => {
        if (!(error instanceof Problem) || error.spec.status >= 500) throw error
        return state.commit((tx) => {
          const now = store.stimuli.find(stimulus_id)
          if (now?.state === 'pending') postpone(parts, tx, now, error.message)
        })
      })

  /** One that is paused is told of once, and looked at again when it changes. */
  const holdUp = (channel_id: string): Promise<void> => {
    const untold = store.due(channel_id, atOnce).filter(({ last_error }) => last_error !== paused)
    if (untold.length === 0) return Promise.resolve()
    return state.commit((tx) => {
      for (const { stimulus_id } of untold) {
        const now = store.stimuli.find(stimulus_id)
        if (now?.state === 'pending') postpone(parts, tx, now, paused)
      }
    })
  }

  const isPaused = (channel_id: string): boolean => channels.find(channel_id)?.paused === true
  const dueIn = (channel_id: string) => store.due(channel_id, atOnce).filter((one) => dueAt(one) <= clock.now())

  const look = async (channel_id: string): Promise<void> => {
    if (isPaused(channel_id)) return holdUp(channel_id)
    for (const { stimulus_id } of dueIn(channel_id)) if (acts) await move(stimulus_id)
    if (acts && dueIn(channel_id).length > 0) waiting.add(channel_id)
  }

  const work = async (): Promise<void> => {
    for (let [channel_id] = waiting; channel_id !== undefined && acts; [channel_id] = waiting) {
      waiting.delete(channel_id)
      await look(channel_id)
    }
  }

  const run = (): void => {
    if (!acts || running !== undefined) return
    running = work()
      .then(
        () => nextLook(),
        (error: unknown) => {
          tellFailure({ log, state }, 'a stimulus could not go on', { error })
          return retryMs
        },
      )
      .then((ms) => {
        running = undefined
        if (waiting.size > 0) run()
        else arm(ms)
      })
  }
  /** Milliseconds until the first stimulus is due of the channels that are not paused; undefined if none waits. */
  const nextLook = (): number | undefined => {
    let next: number | undefined
    for (const channel_id of store.channels()) {
      const [first] = isPaused(channel_id) ? [] : store.due(channel_id, 1)
      if (first !== undefined) next = Math.min(next ?? longestMs, Math.max(leastMs, dueAt(first) - clock.now()))
    }
    return next
  }
  const arm = (ms: number | undefined): void => {
    cancel()
    if (!acts || ms === undefined) return
    cancel = clock.after(ms, lookAll)
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
