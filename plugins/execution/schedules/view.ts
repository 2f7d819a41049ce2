import type { Caller } from '../../../core/plugin.js'
import { shownPayload, shownReplies } from '../sessions/contract.js'
import type { ScheduleView } from './contract.js'
import { openOf, type ScheduleRecord } from './record/store.js'

/**
 * A schedule as the contract shows it; members that are empty are left out. Without a caller, as for a model, addresses
 * are hidden.
 */
export const viewSchedule = (record: ScheduleRecord, caller?: Caller): ScheduleView => {
  const { anchor_ms: _, reckoned_at_ms: __, payload, executions, ...kept } = record
  const [first] = openOf(record)
  const retrying = executions.find(({ status }) => status === 'retrying')
  const view: ScheduleView = {
    ...kept,
    ...(first !== undefined && { in_flight_fire_at_ms: first.fire_at_ms, in_flight_run_id: first.run_id }),
    ...(retrying !== undefined && {
      scheduler_retry_after_ms: retrying.retry_after_ms,
      scheduler_retry_attempt: retrying.attempt,
    }),
    recent_executions: executions.slice(-50),
    ...(payload.kind === 'request'
      ? { request: shownReplies(payload.request, caller) }
      : { [payload.kind]: shownPayload(payload.value, caller) }),
  }
  return view
}
