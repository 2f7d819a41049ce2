/** What becomes of a run whose model gave no answer: another attempt, another model, or its end. */
import type { ModelFailure, Usage } from '../models/contract.js'
import type { RunRecord } from '../runs/contract.js'
import { change, changeLazily, failRun, trace, type Execution } from './execution.js'
import type { Answer } from './model-step.js'
import { endRouteWait, routeWait } from './route-wait.js'

export interface FailedAttempt {
  readonly run: RunRecord
  readonly turn: number
  readonly attempt: number
  readonly failure: ModelFailure
  /** True if the run has acted on the outside. */
  readonly acted: boolean
  /** What is learned from a conversation that was too long, the first time; undefined if it is not to be shorter. */
  readonly tooLong: (() => void) | undefined
}

/** What the provider told of a call that failed. */
export const told = ({ usage }: { readonly usage?: Usage | undefined }) => (usage === undefined ? {} : { usage })

interface Untaken {
  readonly turn: number
  readonly attempt: number
  readonly answer: Answer
}

/** A call whose answer is not taken counts all the same, with what its provider told. */
export const billUntaken = (execution: Execution, { turn, attempt, answer }: Untaken): void =>
  changeLazily(execution, (edit) => {
    const code = answer.type === 'failed' ? answer.failure.class : 'untaken'
    const { usage } = answer
    edit.note({ type: 'usage', turn, attempt, code, ...told({ usage }), ...edit.bill(usage) })
  })

export const modelFailed = async (execution: Execution, failed: FailedAttempt): Promise<void> => {
  const { run, turn, attempt, failure, acted, tooLong } = failed
  // Who was told to stop did not fail: the next life of the daemon asks again.
  if (failure.class === 'aborted' && execution.stop !== undefined) return
  if (failure.class === 'context_length' && tooLong !== undefined) {
    tooLong()
    return askShorter(execution, failed)
  }
  const other = run.fallback_model !== undefined && run.fallback_model !== run.model ? run.fallback_model : undefined
  const wait = routeWait(execution, run, { failure, patient: other === undefined && !acted })
  if (wait === undefined) {
    if (other !== undefined) return fallBack(execution, failed, other)
    const code = failure.retryable ? 'model_retries_exhausted' : `model_${failure.class}`
    return failRun(execution, `${code}: ${failure.message}`)
  }
  const { code, message, next_attempt_at_ms } = wait
  trace(execution, { type: 'model_retry_scheduled', turn, attempt: attempt + 1, reason: code })
  await change(execution, (edit) => {
    edit.note({ type: 'attempt', turn, attempt, code, message, next_attempt_at_ms })
    edit.amend((now) => {
      if (now.status !== 'running') return now
      const { held_call: _, ...rest } = now
      return { ...rest, route_wait: wait }
    })
    edit.show()
  })
}

/**
 * The other model takes over for the rest of the run, which shows it from now on. That happens once, since then both
 * names are equal. Its attempts are counted on: people who watch tell them from those of the first model.
 */
const fallBack = async (execution: Execution, { turn, attempt, failure }: FailedAttempt, to: string): Promise<void> => {
  const { class: code, message } = failure
  trace(execution, { type: 'model_retry_scheduled', turn, attempt: attempt + 1, reason: 'fallback_model' })
  await change(execution, (edit) => {
    edit.note({ type: 'fallback', from: edit.run.model, to, attempt, code, message })
    edit.amend((run) => ({ ...run, model: to }))
    endRouteWait(edit)
  })
}

/** The conversation was too long: it is summed up or cut, and the model asked once more. */
const askShorter = async (execution: Execution, { turn, attempt, failure }: FailedAttempt): Promise<void> => {
  const { class: code, message } = failure
  trace(execution, { type: 'model_retry_scheduled', turn, attempt: attempt + 1, reason: code })
  await change(execution, (edit) => {
    edit.note({ type: 'attempt', turn, attempt, code, message, next_attempt_at_ms: execution.context.clock.now() })
    endRouteWait(edit)
  })
}
