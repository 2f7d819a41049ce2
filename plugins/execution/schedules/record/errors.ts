import { defineErrors } from '../../../../core/plugin.js'

export const scheduleErrors = defineErrors({
  schedule_not_found: {
    status: 404,
    domain: 'schedules',
    detail: 'There is no schedule {schedule_id}.',
    action: 'List the schedules with GET /v1/schedules.',
  },
  schedule_expired: {
    status: 404,
    domain: 'schedules',
    detail: 'Schedule {schedule_id} is older than what is kept; it may have been here.',
    action: 'Look into the archives of archive_dir, if there are any: holdfast state show --archive FILE',
  },
  invalid_schedule: {
    status: 400,
    domain: 'schedules',
    detail: 'The schedule cannot be: {field} {rule}.',
    action: 'Correct the field and send it again.',
  },
  schedule_payload_ambiguous: {
    status: 400,
    domain: 'schedules',
    detail: 'A schedule has exactly one of request, observation_materialization and flow_start; this one has {count}.',
    action: 'Send one of them.',
  },
  schedule_payload_unavailable: {
    status: 400,
    domain: 'schedules',
    detail: 'No plugin of this daemon makes runs from {kind}.',
    action: 'Use request, or load a plugin that makes such runs.',
  },
  schedule_limit_reached: {
    status: 409,
    domain: 'schedules',
    detail: '{owner} owns {limit} schedules that are not over, which is the limit.',
    action: 'Cancel some of them first.',
  },
  schedule_state_conflict: {
    status: 409,
    domain: 'schedules',
    detail: 'Schedule {schedule_id} is {status}: it cannot {verb}.',
    action: 'See what the schedule is and what can be done: GET /v1/schedules/{schedule_id}',
  },
  schedule_busy: {
    status: 409,
    domain: 'schedules',
    detail: 'Schedule {schedule_id} has an execution that is not over, and its overlap policy allows no other.',
    action: 'Wait until its run has ended, or cancel that run.',
  },
  schedule_target_unavailable: {
    status: 400,
    domain: 'schedules',
    detail: 'The {target} is no target of this agent: {reason}.',
    action: 'Use the target self, or the session or agent of one that this agent has started.',
  },
})
