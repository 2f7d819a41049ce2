/** The point through which plugins hear of schedules. */
import { definePoint, hasMembers, type Point, type Tx } from '../../../../core/plugin.js'

/**
 * Hears of schedules, in the commits that change them. Its methods must be fast, and must not be async, write to
 * what they are told or throw: what one throws is charged to its plugin, what it changed is taken back, and the
 * schedule goes on. What a shipped plugin throws undoes the commit.
 */
export interface ScheduleObserver {
  readonly id: string
  /** One was made. */
  created(tx: Tx, schedule: { readonly schedule_id: string; readonly created_by_run_id?: string | undefined }): void
  /** The run of an execution has ended; it may have fallen since. */
  settled(tx: Tx, end: ScheduleEnd): void
}
/** An execution that is over. */
export interface ScheduleEnd {
  readonly schedule_id: string
  /** That of the schedule. */
  readonly name: string
  readonly run_id: string
}
/** Everyone who hears of schedules. */
export const ScheduleObservers: Point<ScheduleObserver> = definePoint<ScheduleObserver>(
  'schedule-observers@1',
  ({ id }) => id,
  hasMembers('an observer of schedules', { id: 'id', created: 'function', settled: 'function' }),
)
