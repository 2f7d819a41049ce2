/** Makes the run of an execution. Its receipt is its fire, so that the same fire never leads to a second run. */
import { digest, tellFailure, type Tx } from '../../../../core/plugin.js'
import type { ReceiptKey, RunRecord, Runs, Submission, SubmitInputRequest } from '../../runs/contract.js'
import { scheduleErrors } from '../record/errors.js'
import { dispatched, refused, settled, type Ending } from '../record/machine.js'
import type { ScheduleParts } from './parts.js'
import { isLastAttempt, passes, retryDelay, sentenceOf } from './retry.js'
import type { Payload, ScheduleExecution, ScheduleRecord } from '../record/store.js'

/** One execution of one schedule. */
export interface Due {
  readonly record: ScheduleRecord
  readonly execution: ScheduleExecution
  /** Its run waits until it is let go. */
  readonly patient?: boolean
}
/** What became of its dispatch. */
export type Dispatched = { readonly schedule_id: string; readonly fire: number } & (
  | { readonly run: RunRecord }
  | { readonly error: unknown }
)

/** Of payloads in memory: a fire asks for it several times. */
const digests = new WeakMap<Payload, string>()

const digestOf = (payload: Payload): string => {
  const known = digests.get(payload) ?? digest(payload)
  digests.set(payload, known)
  return known
}

export const receiptOf = ({ schedule_id, payload }: ScheduleRecord, fire: number): ReceiptKey => ({
  scope: `schedule:${schedule_id}`,
  key: String(fire),
  digest: digestOf(payload),
})

const nameOf = ({ record: { schedule_id }, execution: { fire_at_ms: fire } }: Due) => ({ schedule_id, fire })

const submissionOf = ({ record, execution, patient }: Due, request: SubmitInputRequest): Submission => ({
  session_id: record.target_session_id,
  kind: 'scheduled_input',
  input: { source_plugin: 'schedules', source_kind: 'schedule', actor_id: record.schedule_id, ...request },
  receipt: receiptOf(record, execution.fire_at_ms),
  ...(patient === true && { patient }),
  ...(record.created_by_run_id !== undefined && { origin: { scheduled_by_run_id: record.created_by_run_id } }),
})

/**
 * Makes the run of an execution in the commit that takes it; undefined if that needs more than a commit: requirements
 * that look at the workspace, boards, a payload of another plugin. What it throws must undo the commit.
 */
export const dispatchNow = (parts: ScheduleParts, tx: Tx, due: Due): Dispatched | undefined => {
  const { payload } = due.record
  if (payload.kind !== 'request') return undefined
  const { completion_requirements = [], input_items = [] } = payload.request
  if (completion_requirements.length > 0 || input_items.some(({ type }) => type === 'board_reference')) return undefined
  const enter = admit(parts, due, payload.request)
  return { ...nameOf(due), ...('error' in enter ? enter : { run: enter(tx) }) }
}

const admit = (
  parts: ScheduleParts,
  due: Due,
  request: SubmitInputRequest,
): ReturnType<Runs['admit']> | { readonly error: unknown } => {
  try {
    return parts.runs.admit(submissionOf(due, request))
  } catch (error) {
    tellFinal(parts, due, error)
    return { error }
  }
}

const makeRun = ({ runs, payloads }: ScheduleParts, due: Due): Promise<RunRecord> => {
  const { record, execution } = due
  const { schedule_id, target_session_id, payload } = record
  if (payload.kind === 'request') return runs.submit(submissionOf(due, payload.request))
  const maker = payloads().find(({ kind }) => kind === payload.kind)
  if (maker === undefined) throw scheduleErrors.schedule_payload_unavailable({ details: { kind: payload.kind } })
  const receipt = receiptOf(record, execution.fire_at_ms)
  return maker.dispatch(payload.value, { schedule_id, fire_at_ms: execution.fire_at_ms, target_session_id, receipt })
}

/** Never rejects. */
export const dispatch = async (parts: ScheduleParts, due: Due): Promise<Dispatched> => {
  try {
    return { ...nameOf(due), run: await makeRun(parts, due) }
  } catch (error) {
    tellFinal(parts, due, error)
    return { ...nameOf(due), error }
  }
}

const tellFinal = ({ log, store }: ScheduleParts, due: Due, error: unknown): void => {
  if (passes(error)) return
  const { schedule_id, fire: fire_at_ms } = nameOf(due)
  tellFailure({ log, state: store.state }, 'a schedule could not make its run', { schedule_id, fire_at_ms, error })
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
