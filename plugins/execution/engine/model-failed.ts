/** What becomes of a run whose model gave no answer: another attempt, another model, or its end. */
import type { ModelFailure } from '../models/contract.js'
import type { RunRecord } from '../runs/contract.js'
import { change, failRun, trace, type Execution } from './execution.js'
import { endRouteWait, routeWait } from './route-wait.js'

export interface FailedAttempt {
  readonly run: RunRecord
  readonly turn: number
  readonly attempt: number
  readonly failure: ModelFailure
  /** True if the run has acted on the outside. */
  readonly acted: boolean
}

export const modelFailed = async (execution: Execution, failed: FailedAttempt): Promise<void> => {
  const { run, turn, attempt, failure, acted } = failed
  // Who was told to stop did not fail: the next life of the daemon asks again.
  if (failure.class === 'aborted' && execution.stop !== undefined) return
  const other = run.fallback_model !== undefined && run.fallback_model !== run.model ? run.fallback_model : undefined
  const wait = routeWait(execution, run, { failure, patient: other === undefined && !acted })
  if (wait === undefined) {
    if (other !== undefined) return fallBack(execution, { turn, attempt, model: other })
    const code = failure.retryable ? 'model_retries_exhausted' : `model_${failure.class}`
    return failRun(execution, `${code}: ${failure.message}`)
  }
  const { code, message, next_attempt_at_ms } = wait
  trace(execution, { type: 'model_retry_scheduled', turn, attempt: attempt + 1, reason: code })
  await change(execution, (edit) => {
    edit.note({ type: 'attempt', turn, attempt, code, message, next_attempt_at_ms })
    edit.amend((now) => (now.status === 'running' ? { ...now, route_wait: wait } : now))
    edit.show()
  })
}

/**
 * The other model takes over for the rest of the run, which shows it from now on. That happens once, since then both
 * names are equal. Its attempts are counted on: people who watch tell them from those of the first model.
 */
const fallBack = async (
  execution: Execution,
  { turn, attempt, model }: { turn: number; attempt: number; model: string },
): Promise<void> => {
  trace(execution, { type: 'model_retry_scheduled', turn, attempt: attempt + 1, reason: 'fallback_model' })
  await change(execution, (edit) => {
    edit.note({ type: 'fallback', from: edit.run.model, to: model })
    edit.amend((run) => ({ ...run, model }))
    endRouteWait(edit)
  })
}
