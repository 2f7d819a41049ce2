/** Runs that begin by the clock. Rules: docs/rules/schedules.md. */
import {
  array,
  boolean,
  defaulted,
  definePoint,
  doc,
  enums,
  integer,
  jsonObject,
  literal,
  named,
  object,
  optional,
  string,
  tagged,
  timestamp,
  type Infer,
  type JsonObject,
  type Point,
} from '../../../core/plugin.js'
import { SubmitInputRequest, type ReceiptKey, type RunRecord } from '../runs/contract.js'
import { SessionId } from '../sessions/contract.js'

/** Problems of schedules, for routes of other plugins. */
export { scheduleErrors } from './errors.js'

/** The states of a schedule; the last two are final (schedules-16). */
export const scheduleStatuses = ['active', 'paused', 'completed', 'canceled'] as const
/** One of `scheduleStatuses`. */
export type ScheduleStatus = (typeof scheduleStatuses)[number]

/** What becomes of a fire while an execution before it is not over. */
export const overlapPolicies = ['skip', 'queue_one', 'parallel'] as const
/** One of `overlapPolicies`. */
export type OverlapPolicy = (typeof overlapPolicies)[number]

/** The last moment that a fire may have: the end of the year 9999, Unix ms. */
const latest = 253_402_300_799_999

/** When a schedule fires (schedules-4). */
export const Cadence = tagged('type', {
  once: object({
    type: literal('once'),
    fire_at_ms: doc(integer({ min: 1, max: latest }), 'Unix time in milliseconds. A past one is due at once.'),
  }),
  interval: object({ type: literal('interval'), every_seconds: integer({ min: 5, max: 10 * 366 * 86_400 }) }),
  cron: object({
    type: literal('cron'),
    expression: doc(
      string({ min: 1, max: 200 }),
      'Minute, hour, day of month, month, day of week; or six fields with seconds first. If both days are ' +
        'given, one of them is enough.',
    ),
    timezone: defaulted(doc(string({ max: 100 }), 'IANA name, such as Europe/Berlin.'), 'UTC'),
  }),
})
/** The value form of `Cadence`. */
export type Cadence = Infer<typeof Cadence>

/** What becomes of fires that fell into a time without the daemon: one execution for all of them, or none. */
export const MisfirePolicy = tagged('type', {
  coalesce_once: object({ type: literal('coalesce_once') }),
  skip_missed: object({ type: literal('skip_missed') }),
})
/** The value form of `MisfirePolicy`. */
export type MisfirePolicy = Infer<typeof MisfirePolicy>

/** Payload kinds of the contract that other plugins bring. */
export const payloadKinds = ['observation_materialization', 'flow_start'] as const
/** One of `payloadKinds`. */
export type PayloadKind = (typeof payloadKinds)[number]

/** What a schedule is made from (schedules-1 to schedules-8). */
export const ScheduleCreateRequest = named(
  'ScheduleCreateRequest',
  object({
    name: string({ min: 1, max: 200 }),
    target_session_id: SessionId,
    target_agent_id: optional(doc(string({ min: 1, max: 200 }), 'Id of the agent that the runs are for.')),
    cadence: Cadence,
    request: optional(SubmitInputRequest),
    observation_materialization: optional(jsonObject()),
    flow_start: optional(jsonObject()),
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

/** States of one execution (schedules-12). */
export const executionStatuses = ['claimed', 'dispatched', 'retrying', 'skipped', 'rolled_back', 'settled'] as const

/** One entry of `recent_executions` (schedules-12). */
export const ScheduleExecution = named(
  'ScheduleExecution',
  object({
    fire_at_ms: doc(timestamp(), 'The moment that it stands for. It names the execution within its schedule.'),
    run_id: optional(doc(string(), 'Id of the run.')),
    status: enums(executionStatuses),
    attempt: doc(integer({ min: 0 }), 'Attempts to dispatch that were refused.'),
    from_queued_fire: boolean(),
    claimed_at_ms: optional(timestamp()),
    dispatched_at_ms: optional(timestamp()),
    settled_at_ms: optional(timestamp()),
    retry_after_ms: optional(timestamp()),
    error: optional(doc(string(), 'Why it was skipped, refused or failed.')),
  }),
)
/** The value form of `ScheduleExecution`. */
export type ScheduleExecution = Infer<typeof ScheduleExecution>

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

/** What a payload is checked against when its schedule is made. */
export interface PayloadPlace {
  readonly target_session_id: string
  readonly recurring: boolean
}
/** One fire that becomes a run. `receipt` names it: the same one must never make a second run. */
export interface PayloadFire {
  readonly schedule_id: string
  readonly fire_at_ms: number
  readonly target_session_id: string
  readonly receipt: ReceiptKey
}
/** A payload kind beside `request`. */
export interface SchedulePayload {
  readonly kind: PayloadKind
  /**
   * Returns the payload as it is to be kept. Throws a problem for one that can never work. May be called for schedules
   * that are not made in the end.
   */
  check(payload: JsonObject, place: PayloadPlace): JsonObject
  /**
   * Makes the run of a fire, or gives the one that it led to before. It may be called twice for one fire. Rejects with
   * the problems of submitting; full queues, routes that are not ready and storage are tried again.
   */
  dispatch(payload: JsonObject, fire: PayloadFire): Promise<RunRecord>
}
/** Payload kinds beside `request`, by kind. */
export const SchedulePayloads: Point<SchedulePayload> = definePoint<SchedulePayload>(
  'schedule-payloads@1',
  ({ kind }) => kind,
)

/** How dispatching is tried again; `scheduler_policy` of `GET /v1/runtime` (schedules-26). */
export const SchedulerPolicy = named(
  'SchedulerPolicy',
  object({
    retry_base_delay_ms: integer({ min: 1 }),
    retry_max_delay_ms: integer({ min: 1 }),
    retry_jitter_ms: integer({ min: 0 }),
    retry_max_attempts: doc(integer({ min: 0 }), '0 is no limit.'),
  }),
)
/** The value form of `SchedulerPolicy`. */
export type SchedulerPolicy = Infer<typeof SchedulerPolicy>
