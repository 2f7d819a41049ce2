/** A model route that fails: when it is asked again, and how long a run has patience with it. */
import { backoff } from '../../../core/plugin.js'
import { longestHintMs, type FailureClass, type ModelFailure } from '../models/contract.js'
import type { RunRecord, RunEdit, RouteWait } from '../runs/contract.js'
import { changeLazily, type Execution } from './execution.js'

/** What a route that is restarted or busy fails with; it says nothing about the question. */
const passing: ReadonlySet<FailureClass> = new Set(['network', 'overloaded', 'rate_limited', 'timeout'])

const waitOf = (run: RunRecord): RouteWait | undefined => (run.status === 'running' ? run.route_wait : undefined)

/** How long to wait before the next attempt: doubled each time, or longer where the provider asks for that. */
export const retryDelay = (
  failure: ModelFailure,
  attempt: number,
  { base, max }: { base: number; max: number },
): number => Math.max(backoff({ base, max }, attempt), Math.min(longestHintMs, failure.retry_after_ms ?? 0))

/**
 * The wait for the next attempt; undefined if there is none. A few attempts are made in any case; a patient run goes on
 * for as long as its patience lasts, with the last attempt at its end.
 */
export const routeWait = (
  execution: Execution,
  run: RunRecord,
  { failure, patient }: { failure: ModelFailure; patient: boolean },
): RouteWait | undefined => {
  const { clock, config } = execution.context
  const before = waitOf(run)
  const elapsed = clock.elapsed()
  const waited_ms =
    before === undefined ? 0 : before.waited_ms + Math.round(elapsed - (execution.failed_at ?? execution.since))
  execution.failed_at = elapsed
  const attempts = (before?.attempts ?? 0) + 1
  const left = patient && passing.has(failure.class) ? config.model_patience_ms - waited_ms : 0
  if (!failure.retryable || (attempts >= config.model_attempts && left <= 0)) return undefined
  const delay = retryDelay(failure, attempts, { base: config.model_retry_base_ms, max: config.model_retry_max_ms })
  const now = clock.now()
  return {
    attempts,
    since_ms: before?.since_ms ?? now,
    next_attempt_at_ms: now + Math.round(attempts < config.model_attempts ? delay : Math.min(delay, left)),
    waited_ms,
    code: failure.class,
    message: failure.message,
  }
}

/** Waits for the time of the next attempt, in a later life of the daemon too. Ends early when the run has to stop. */
export const untilNextAttempt = async (execution: Execution, run: RunRecord): Promise<void> => {
  const { clock, config } = execution.context
  const left = (waitOf(run)?.next_attempt_at_ms ?? 0) - clock.now()
  if (left <= 0) return
  const awake = new AbortController()
  execution.wake = () => awake.abort()
  await clock.sleep(
    Math.min(left, Math.max(longestHintMs, config.model_retry_max_ms)),
    AbortSignal.any([awake.signal, execution.controller.signal]),
  )
  execution.wake = undefined
}

interface Held {
  readonly turn: number
  readonly attempt: number
  readonly until_ms: number
}

/** Says of a call that it is held back, until its server wants to be asked. */
export const tellHeld = (execution: Execution, { turn, attempt, until_ms }: Held): void =>
  changeLazily(execution, (edit) => {
    edit.note({ type: 'held', turn, attempt, until_ms })
    edit.amend((run) => (run.status === 'running' ? { ...run, held_call: { until_ms } } : run))
    edit.show()
  })

/** The route has answered. */
export const endRouteWait = (edit: RunEdit): void => {
  const { run } = edit
  if (run.status !== 'running' || (run.route_wait === undefined && run.held_call === undefined)) return
  edit.amend((now) => {
    if (now.status !== 'running') return now
    const { route_wait: _, held_call: __, ...rest } = now
    return rest
  })
  edit.show()
}
