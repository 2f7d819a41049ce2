/** Runs that begin by the clock. Rules: docs/rules/schedules.md. */
import {
  array,
  defaulted,
  doc,
  enums,
  integer,
  jsonObject,
  named,
  object,
  optional,
  string,
  timestamp,
  type Infer,
  notBlank,
} from '../../../core/plugin.js'
import { SubmitInputRequest } from '../runs/contract.js'
import { SessionId } from '../sessions/contract.js'
import { Cadence } from './calendar/cadence.js'
import { MisfirePolicy, overlapPolicies, ScheduleExecution, scheduleStatuses } from './record/store.js'

/** Who hears of schedules. */
export { ScheduleObservers } from './dispatch/observers.js'
/** One who does, and what it hears of an execution. */
export type { ScheduleEnd, ScheduleObserver } from './dispatch/observers.js'
/** Problems of schedules, for routes of other plugins. */
export { scheduleErrors } from './record/errors.js'
/** When a schedule fires. */
export { Cadence } from './calendar/cadence.js'
/** What a schedule and its executions are. */
export {
  executionStatuses,
  MisfirePolicy,
  overlapPolicies,
  payloadKinds,
  ScheduleExecution,
  scheduleStatuses,
} from './record/store.js'
/** One of their values. */
export type { OverlapPolicy, PayloadKind, ScheduleStatus } from './record/store.js'
/** How dispatching is tried again. */
export { SchedulerPolicy } from './dispatch/retry.js'
/** Payload kinds beside `request`. */
export { SchedulePayloads } from './dispatch/payloads.js'
/** One payload kind, and what it is asked. */
export type { PayloadFire, PayloadPlace, SchedulePayload } from './dispatch/payloads.js'

/** What a schedule is made from (schedules-1 to schedules-8). */
export const ScheduleCreateRequest = named(
  'ScheduleCreateRequest',
  object({
    name: string({ min: 1, max: 200, pattern: notBlank }),
    target_session_id: SessionId,
    target_agent_id: optional(doc(string({ min: 1, max: 200 }), 'Id of the agent that the runs are for.')),
    cadence: Cadence,
    request: optional(SubmitInputRequest),
    observation_materialization: optional(
      doc(
        jsonObject(),
        'What POST /v1/observation-materializations takes, for each fire: `target_session_id`, that of the schedule, ' +
          '`selection`, `request`, and perhaps `raw_asset_policy`, `include_raw_assets` and `fail_when_empty`. See ' +
          'ObservationMaterializationRequest.',
      ),
    ),
    flow_start: optional(
      doc(
        jsonObject(),
        'What POST /v1/flows takes, for each fire; `session_id` is that of the schedule. `flow_id` and ' +
          '`idempotency_key` only where it fires once. See StartFlowRequest.',
      ),
    ),
    owner_session_id: optional(doc(SessionId, 'Whose limit it counts against; the target session when absent.')),
    owner_agent_id: optional(doc(string({ min: 1, max: 200 }), 'Id of the agent that owns it.')),
    created_by_run_id: optional(doc(string({ min: 1, max: 200 }), 'Id of the run that made it.')),
    max_executions: optional(doc(integer({ min: 1 }), 'After so many executions it is completed.')),
    overlap_policy: defaulted(enums(overlapPolicies), 'skip'),
    misfire_policy: defaulted(MisfirePolicy, { type: 'coalesce_once' as const }),
  }),
)
/** The value form of `ScheduleCreateRequest`. */
export type ScheduleCreateRequest = Infer<typeof ScheduleCreateRequest>

/** A schedule as it is shown; members that are empty are left out (schedules-11 to schedules-13). */
export const ScheduleView = named(
  'ScheduleView',
  object({
    schedule_id: doc(string(), 'Id of the schedule.'),
    name: string(),
    target_session_id: doc(string(), 'Id of the session that the runs are made in.'),
    target_agent_id: optional(doc(string(), 'Id of the agent that the runs are for.')),
    owner_session_id: optional(doc(string(), 'Id of the session that made it.')),
    owner_agent_id: optional(doc(string(), 'Id of the agent that owns it.')),
    created_by_run_id: optional(doc(string(), 'Id of the run that made it.')),
    status: enums(scheduleStatuses),
    cadence: Cadence,
    overlap_policy: doc(enums(overlapPolicies), 'What happens to a fire while a run of the schedule is active.'),
    misfire_policy: MisfirePolicy,
    max_executions: optional(doc(integer({ min: 1 }), 'Executions at most.')),
    next_fire_at_ms: optional(timestamp()),
    queued_fire_at_ms: optional(doc(timestamp(), 'A fire that waits for the end of the execution before it.')),
    in_flight_fire_at_ms: optional(doc(timestamp(), 'The first execution that is not over.')),
    in_flight_run_id: optional(doc(string(), 'Id of the run that is active.')),
    last_fire_at_ms: optional(timestamp()),
    last_dispatched_run_id: optional(doc(string(), 'Id of the newest run.')),
    last_error: optional(doc(string(), 'Why the last execution failed; absent after one that did not.')),
    last_scheduler_error: optional(
      doc(string(), 'Why the last attempt to dispatch was refused; absent after one that was not.'),
    ),
    scheduler_retry_after_ms: optional(timestamp()),
    scheduler_retry_attempt: optional(integer({ min: 0 })),
    paused_remaining_ms: optional(doc(integer({ min: 0 }), 'How long it was until the next fire when it was paused.')),
    execution_count: doc(integer({ min: 0 }), 'Executions so far.'),
    consecutive_failures: doc(integer({ min: 0 }), 'Failed runs since the last that completed.'),
    recent_executions: doc(array(ScheduleExecution), 'The last fifty, oldest first.'),
    request: optional(SubmitInputRequest),
    observation_materialization: optional(jsonObject()),
    flow_start: optional(jsonObject()),
    created_at_ms: timestamp(),
    updated_at_ms: timestamp(),
  }),
)
/** The value form of `ScheduleView`. */
export type ScheduleView = Infer<typeof ScheduleView>
