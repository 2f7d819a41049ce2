/** What `/v1/status` says about schedules (schedules-15). */
import {
  commandLine,
  cutAtWord,
  boolean,
  count,
  integer,
  object,
  optional,
  string,
  timestamp,
  type HealthCheck,
  type Warning,
} from '../../../core/plugin.js'
import type { StatusSection } from '../../operator/status/contract.js'
import { scheduleStatuses } from './contract.js'
import type { ScheduleParts } from './dispatch/parts.js'
import { manyFailures, wakeOf, type ScheduleRecord } from './record/store.js'

const SchedulesStatus = object({
  dispatch_worker_enabled: boolean(),
  total: integer(),
  active: integer(),
  paused: integer(),
  completed: integer(),
  canceled: integer(),
  due_count: integer(),
  backoff_count: integer(),
  in_flight_count: integer(),
  queued_fire_count: integer(),
  next_due_at_ms: optional(timestamp()),
  oldest_due_schedule_id: optional(string()),
  oldest_due_schedule_lag_ms: optional(integer()),
})

/** Due schedules that are counted, at most. */
const looked = 10_000

/** Active schedules whose next fire is due, the oldest first. */
const dueOf = ({ store: { schedules }, clock }: ScheduleParts): ScheduleRecord[] => {
  const now = clock.now()
  return schedules
    .list({ index: 'due', group: 'due', limit: looked })
    .filter((record) => (wakeOf(record) ?? Infinity) <= now)
}

const lagOf = (record: ScheduleRecord, now: number): number => {
  const since = [
    record.next_fire_at_ms ?? Infinity,
    ...record.executions
      .filter(({ status }) => status === 'claimed' || status === 'retrying')
      .map(({ fire_at_ms }) => fire_at_ms),
  ]
  return Math.max(0, now - Math.min(now, ...since))
}

const oldestOf = (
  parts: ScheduleParts,
  due: readonly ScheduleRecord[],
): { record: ScheduleRecord; lag: number } | undefined => {
  const now = parts.clock.now()
  return due
    .map((record) => ({ record, lag: lagOf(record, now) }))
    .reduce<{ record: ScheduleRecord; lag: number } | undefined>(
      (most, one) => (most === undefined || one.lag > most.lag ? one : most),
      undefined,
    )
}

export const schedulesSection = (parts: ScheduleParts): StatusSection => ({
  name: 'schedules',
  schema: SchedulesStatus,
  collect: () => {
    const {
      store: { schedules },
      config,
    } = parts
    const due = dueOf(parts)
    const oldest = oldestOf(parts, due)
    const [next] = schedules.list({ index: 'due', group: 'due', limit: 1 })
    const nextAt = next === undefined ? undefined : (next.next_fire_at_ms ?? wakeOf(next))
    return {
      dispatch_worker_enabled: config.dispatch_enabled,
      total: schedules.count('all', 'all'),
      ...Object.fromEntries(scheduleStatuses.map((status) => [status, schedules.count('status', status)])),
      due_count: due.length,
      backoff_count: schedules.count('backoff', 'backoff'),
      in_flight_count: schedules.count('open', 'open'),
      queued_fire_count: schedules.count('queued', 'queued'),
      ...(nextAt !== undefined && { next_due_at_ms: nextAt }),
      ...(oldest !== undefined && {
        oldest_due_schedule_id: oldest.record.schedule_id,
        oldest_due_schedule_lag_ms: oldest.lag,
      }),
    }
  },
})

export const schedulesHealth = (parts: ScheduleParts): HealthCheck => ({
  id: 'schedules',
  check: () => [...lagWarning(parts), ...failureWarnings(parts), ...refusalWarnings(parts)],
})

const lagWarning = (parts: ScheduleParts): Warning[] => {
  const {
    config: { lag_warning_threshold_ms, dispatch_enabled },
  } = parts
  const oldest = oldestOf(parts, dueOf(parts))
  if (oldest === undefined || oldest.lag < lag_warning_threshold_ms) return []
  return [
    {
      severity: 'warning',
      code: 'scheduler_lag',
      related_id: oldest.record.schedule_id,
      message: `Schedule ${oldest.record.schedule_id} has been due for ${Math.round(oldest.lag / 1000)} s.`,
      action:
        `See what it waits for: ${commandLine('schedules get', oldest.record.schedule_id)}. ` +
        (dispatch_enabled
          ? 'See the storage too.'
          : 'To let it fire, start again with: holdfast serve --scheduler-enabled'),
    },
  ]
}

/** Schedules named in one status for one reason. */
const sample = 10
/** Characters of a message. */
const mostMessage = 500

/** For how long one is named that failed at last and fires no more, milliseconds. */
const namedMs = 86_400_000

/** What is looked into, and what ends it; of one that fires no more, what does its work once more. */
const failureAction = ({ schedule_id, status, last_dispatched_run_id: run_id }: ScheduleRecord): string => {
  const why = `See why: ${commandLine('schedules get', schedule_id)}`
  if (status === 'active') return `${why}. To have it fire no more: ${commandLine('schedules pause', schedule_id)}`
  return run_id === undefined ? why : `${why}. When the cause is gone: ${commandLine('runs retry', run_id)}`
}

/** Those that fail again and again first; of those that fire no more the newest. */
const failedOf = ({ store: { schedules }, clock }: ScheduleParts): ScheduleRecord[] => {
  const since = clock.now() - namedMs
  const listed = (group: string): ScheduleRecord[] => schedules.list({ index: group, group, limit: sample })
  const last = schedules.list({ index: 'failed_last', group: 'failed_last', limit: sample, order: 'desc' })
  const named = last.filter(({ updated_at_ms }) => updated_at_ms > since)
  return [...listed('failing'), ...listed('failed'), ...named].slice(0, sample)
}

const failureWarnings = (parts: ScheduleParts): Warning[] =>
  failedOf(parts).map((record) => {
    const { schedule_id, name, status, consecutive_failures: failures, last_error } = record
    const why = last_error === undefined ? '' : `: ${last_error}`
    const isMany = status === 'active' && failures >= manyFailures
    const how = status === 'active' ? `${count(failures, 'time')} in a row` : 'and fires no more'
    return {
      severity: isMany ? 'warning' : 'info',
      code: isMany ? 'schedule_failing' : 'schedule_failed',
      related_id: schedule_id,
      message: cutAtWord(`Schedule ${name} has failed ${how}${why}`, mostMessage),
      action: failureAction(record),
    }
  })

const refusalWarnings = ({ store: { schedules } }: ScheduleParts): Warning[] =>
  schedules.list({ index: 'refused', group: 'refused', limit: sample }).map((record) => {
    const { schedule_id, name, last_scheduler_error: why = 'no reason' } = record
    return {
      severity: 'warning',
      code: 'schedule_refused',
      related_id: schedule_id,
      message: cutAtWord(`Schedule ${name} is refused its run and tries again: ${why}`, mostMessage),
      action: failureAction(record),
    }
  })
