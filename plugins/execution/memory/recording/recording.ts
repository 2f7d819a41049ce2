/** Recording and forgetting as long as the daemon lives. */
import { tellFailure } from '../../../../core/plugin.js'
import { catchUp } from './catch-up.js'
import type { Recorder, RecorderParts } from './recorder.js'
import { forget } from './retention.js'

/** Time between looks at what is too old. */
const forgetEveryMs = 3_600_000

export interface Recording {
  /** Begins; returns what ends it. */
  start(signal: AbortSignal): () => Promise<void>
  /** Resolves when every run that has ended is written, or cannot be. */
  settled(): Promise<void>
}

export const createRecording = (parts: RecorderParts, recorder: Recorder): Recording => {
  const { store, runs, clock, policy, log } = parts
  let caught: Promise<void> = Promise.resolve()
  const warn =
    (fact: string) =>
    (error: unknown): void =>
      tellFailure({ log, state: store.state }, fact, { error })
  const settled = async (): Promise<void> => {
    await caught
    await recorder.flush().catch(warn('ended runs could not be remembered yet'))
  }
  return {
    settled,
    start(signal) {
      const unhook = runs.onEnded((run) => {
        if (policy.enabled) recorder.take(run)
      })
      if (policy.enabled)
        caught = catchUp({ store, runs, clock, policy, recorder, signal }).catch(
          warn('runs of an earlier life could not be remembered'),
        )
      const sweep = async (): Promise<void> => {
        clock.after(forgetEveryMs, sweep)
        await forget({ store, policy, now: clock.now(), signal }).catch(warn('run memory could not be forgotten'))
      }
      clock.after(0, sweep)
      return async () => {
        unhook()
        recorder.end()
        await settled()
      }
    },
  }
}
