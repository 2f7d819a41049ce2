/** What routes and tools do to schedules: each change is one commit, and the worker is told of it. */
import type { Tx } from '../../../core/plugin.js'
import type { ScheduleCreateRequest } from './contract.js'
import { draftSchedule, keep, withFiles } from './create.js'
import { receiptOf } from './dispatch/dispatch.js'
import { scheduleErrors } from './record/errors.js'
import { cancel, pause, resume, trigger } from './record/machine.js'
import type { ScheduleParts } from './dispatch/parts.js'
import type { ScheduleCommits } from './dispatch/schedule-commits.js'
import type { ScheduleRecord } from './record/store.js'
import type { Worker } from './dispatch/worker.js'

export const scheduleActions = ['cancel', 'pause', 'resume', 'trigger'] as const
export type ScheduleAction = (typeof scheduleActions)[number]

/** What `get` throws, for the problems of a route. */
export const noSchedule = [scheduleErrors.schedule_not_found, scheduleErrors.schedule_expired] as const

export interface Schedules {
  /** Throws `schedule_not_found` (404), or `schedule_expired` (404) for one that was here and fell. */
  get(schedule_id: string): ScheduleRecord
  /** The same request, the files in it stored. */
  withFiles(request: ScheduleCreateRequest): Promise<ScheduleCreateRequest>
  /** Checks a request, whose files are stored; throws what is wrong with it. */
  draft(request: ScheduleCreateRequest): ScheduleRecord
  add(tx: Tx, draft: ScheduleRecord): ScheduleRecord
  /** What the schedule would become; throws `schedule_state_conflict` or `schedule_busy` (409). */
  changed(action: ScheduleAction, schedule_id: string): ScheduleRecord
  change(tx: Tx, action: ScheduleAction, schedule_id: string): ScheduleRecord
}

export const createSchedules = (parts: ScheduleParts, commits: ScheduleCommits, worker: Worker): Schedules => {
  const { store, runs, clock } = parts
  const get = (schedule_id: string): ScheduleRecord => {
    const record = store.find(schedule_id)
    if (record !== undefined) return record
    const { schedule_expired, schedule_not_found } = scheduleErrors
    throw (store.schedules.hasFallen(schedule_id) ? schedule_expired : schedule_not_found)({ details: { schedule_id } })
  }
  const changed = (action: ScheduleAction, schedule_id: string): ScheduleRecord => {
    const record = get(schedule_id)
    const now = clock.now()
    switch (action) {
      case 'pause':
        return pause(record, now)
      case 'resume':
        return resume(record, now)
      case 'trigger':
        return trigger(record, now)
      case 'cancel':
        return cancel(
          record,
          now,
          ({ fire_at_ms }) =>
            !commits.isDispatching(schedule_id, fire_at_ms) && !runs.isUsed(receiptOf(record, fire_at_ms)),
        )
    }
  }
  return {
    get,
    changed,
    withFiles: (request) => withFiles(parts, request),
    draft: (request) => draftSchedule(parts, request),
    add(tx, draft) {
      tx.after(() => worker.poke())
      return keep(parts, tx, draft)
    },
    change(tx, action, schedule_id) {
      const next = changed(action, schedule_id)
      const record = { ...next, updated_at_ms: Math.max(tx.now, next.updated_at_ms) }
      store.put(tx, record)
      tx.after(() => worker.poke())
      return record
    },
  }
}
