/** Records of schedules for tests of pure functions. */
import { fireAfter } from '../../plugins/execution/schedules/calendar/cadence.js'
import type { ScheduleRecord } from '../../plugins/execution/schedules/record/store.js'

/** A schedule that was made at `now`; members replace those of an hourly one. */
export const scheduleRecord = ({
  now,
  ...more
}: Partial<ScheduleRecord> & { readonly now: number }): ScheduleRecord => {
  const cadence = more.cadence ?? { type: 'interval', every_seconds: 3600 }
  return {
    schedule_id: 'schedule_1',
    name: 'report',
    target_session_id: 's1',
    status: 'active',
    cadence,
    anchor_ms: now,
    payload: { kind: 'request', request: { content: 'hello' } },
    overlap_policy: 'skip',
    misfire_policy: { type: 'coalesce_once' },
    next_fire_at_ms: fireAfter({ cadence, anchor_ms: now }, now),
    execution_count: 0,
    consecutive_failures: 0,
    executions: [],
    reckoned_at_ms: now,
    created_at_ms: now,
    updated_at_ms: now,
    ...more,
  }
}
