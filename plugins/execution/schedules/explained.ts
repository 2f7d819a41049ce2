/** Schedules that give an agent work, or would (explanations-14); one whose session has ended takes none. */
import { commandLine, sentence } from '../../../core/plugin.js'
import type { Reason, ReasonSource } from '../../operator/explanations/contract.js'
import type { Sessions } from '../sessions/contract.js'
import type { ScheduleParts } from './dispatch/parts.js'
import type { ScheduleRecord } from './record/store.js'

/** Schedules of one session that are told. */
const mostTold = 10

const reasonOf = (schedule: ScheduleRecord, fires: boolean): readonly Reason[] => {
  const { schedule_id, status, executions, next_fire_at_ms, queued_fire_at_ms, last_scheduler_error } = schedule
  const name = `schedule ${JSON.stringify(schedule.name)}`
  const get = commandLine('schedules get', schedule_id)
  if (status === 'paused')
    return [
      {
        code: 'schedule_paused',
        text: `The ${name} is paused.`,
        since_ms: schedule.updated_at_ms,
        commands: [commandLine('schedules resume', schedule_id)],
      },
    ]
  if (status !== 'active') return []
  if (!fires)
    return [
      { code: 'schedule_off', text: `The ${name} gives it no work: this daemon lets none fire.`, commands: [get] },
    ]
  const retrying = executions.find((execution) => execution.status === 'retrying')
  if (retrying !== undefined)
    return [
      {
        code: 'schedule_backoff',
        text: sentence(`The ${name} was refused its run and tries again: ${last_scheduler_error ?? 'no reason'}`),
        ...(retrying.retry_after_ms !== undefined && { until_ms: retrying.retry_after_ms }),
        commands: [get],
      },
    ]
  if (queued_fire_at_ms !== undefined)
    return [
      {
        code: 'schedule_queued',
        text: `The ${name} has a fire that waits for the end of the one before.`,
        since_ms: queued_fire_at_ms,
        commands: [get],
      },
    ]
  if (next_fire_at_ms === undefined) return []
  const last = executions.findLast((execution) => execution.status === 'settled')
  if (last?.run_id === undefined && last?.error !== undefined)
    return [
      {
        code: 'schedule_refused',
        text: sentence(`The last fire of the ${name} was refused, and the next may be: ${last.error}`),
        ...(last.settled_at_ms !== undefined && { since_ms: last.settled_at_ms }),
        until_ms: next_fire_at_ms,
        commands: [commandLine('schedules pause', schedule_id), get],
      },
    ]
  return [{ code: 'schedule', text: `The ${name} gives it its next work.`, until_ms: next_fire_at_ms, commands: [get] }]
}

export const scheduleReasons = (
  { store: { schedules, whole }, config }: Pick<ScheduleParts, 'store' | 'config'>,
  sessions: Pick<Sessions, 'find'>,
): ReasonSource => ({
  id: 'schedules',
  of: ({ kind, session_id }) =>
    kind === 'agent' && sessions.find(session_id)?.ended_at_ms === undefined
      ? schedules
          .list({ index: 'session', group: session_id, limit: 100 })
          .flatMap((stored) => reasonOf(whole(stored), config.dispatch_enabled))
          .slice(0, mostTold)
      : [],
})
