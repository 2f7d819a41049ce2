/** Makes the run of an execution. Its receipt is its fire, so that the same fire never leads to a second run. */
import { digest, tellFailure } from '../../../../core/plugin.js'
import { type ReceiptKey, type RunRecord } from '../../runs/contract.js'
import { scheduleErrors } from '../record/errors.js'
import { dispatched, refused, settled, type Ending } from '../record/machine.js'
import type { ScheduleParts } from './parts.js'
import { isLastAttempt, passes, retryDelay, sentenceOf } from './retry.js'
import type { ScheduleExecution, ScheduleRecord } from '../record/store.js'

/** One execution of one schedule. */
export interface Due {
  readonly record: ScheduleRecord
  readonly execution: ScheduleExecution
}
/** What became of its dispatch. */
export type Dispatched = { readonly schedule_id: string; readonly fire: number } & (
  | { readonly run: RunRecord }
  | { readonly error: unknown }
)

export const receiptOf = ({ schedule_id, payload }: ScheduleRecord, fire: number): ReceiptKey => ({
  scope: `schedule:${schedule_id}`,
  key: String(fire),
  digest: digest(payload),
})

const makeRun = ({ runs, payloads }: ScheduleParts, { record, execution: { fire_at_ms } }: Due): Promise<RunRecord> => {
  const { schedule_id, target_session_id, payload } = record
  const receipt = receiptOf(record, fire_at_ms)
  if (payload.kind === 'request') {
    const input = { source_plugin: 'schedules', source_kind: 'schedule', actor_id: schedule_id, ...payload.request }
    return runs.submit({ session_id: target_session_id, kind: 'scheduled_input', input, receipt })
  }
  const maker = payloads().find(({ kind }) => kind === payload.kind)
  if (maker === undefined) throw scheduleErrors.schedule_payload_unavailable({ details: { kind: payload.kind } })
  return maker.dispatch(payload.value, { schedule_id, fire_at_ms, target_session_id, receipt })
}

/** Never rejects. */
export const dispatch = async (parts: ScheduleParts, due: Due): Promise<Dispatched> => {
  const {
    record: { schedule_id },
    execution: { fire_at_ms: fire },
  } = due
  try {
    return { schedule_id, fire, run: await makeRun(parts, due) }
  } catch (error) {
    const { log, store } = parts
    if (!passes(error))
      tellFailure({ log, state: store.state }, 'a schedule could not make its run', {
        schedule_id,
        fire_at_ms: fire,
        error,
      })
    return { schedule_id, fire, error }
  }
}

/** The end of an execution, as its run tells; undefined while it goes on. A run that is gone tells nothing. */
export const endingOf = (run: RunRecord | undefined, now: number): Ending | undefined => {
  if (run === undefined) return { now }
  switch (run.status) {
    case 'completed':
      return { now }
    case 'failed':
    case 'interrupted':
      return { now, error: run.error ?? `the run was ${run.status}` }
    case 'cancelled':
      return { now, error: run.error ?? 'the run was cancelled', counts: false }
    default:
      return undefined
  }
}

/** The record with what became of a dispatch. The run may be over by now. */
export const noted = (
  { runs, config, ids }: ScheduleParts,
  record: ScheduleRecord,
  { outcome, now }: { outcome: Dispatched; now: number },
): ScheduleRecord => {
  const { fire } = outcome
  if ('run' in outcome) {
    const sent = dispatched(record, fire, { run_id: outcome.run.run_id, now })
    const ending = endingOf(runs.find(outcome.run.run_id), now)
    return ending === undefined ? sent : settled(sent, fire, ending)
  }
  const error = sentenceOf(outcome.error)
  const attempt = (record.executions.find(({ fire_at_ms }) => fire_at_ms === fire)?.attempt ?? 0) + 1
  const again = refused(record, fire, { error, retry_after_ms: now + retryDelay(config, attempt, ids) })
  return passes(outcome.error) && !isLastAttempt(config, attempt) ? again : settled(again, fire, { now, error })
}
