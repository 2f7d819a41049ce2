/** The next fires of a schedule as people read them, with what clock changes do to them named. */
import { doc, array, integer, named, object, string, timestamp, type Infer } from '../../../core/plugin.js'
import { fireAfter } from './calendar/cadence.js'
import { openCron } from './calendar/cron.js'
import { isTerminal, type ScheduleRecord } from './record/store.js'
import { clockText, localText, secondOccurrence, wallOf } from './calendar/zone.js'

export const SchedulePreview = named(
  'SchedulePreview',
  object({
    schedule_id: doc(string(), 'Id of the schedule.'),
    timezone: doc(string(), 'IANA name of the time zone.'),
    fires: array(object({ fire_at_ms: timestamp(), utc: string(), local: string(), notes: array(string()) })),
  }),
)
export type SchedulePreview = Infer<typeof SchedulePreview>
export const previewCount = integer({ min: 1, max: 100 })

export const previewOf = (record: ScheduleRecord, count: number, now: number): SchedulePreview => {
  const { cadence, schedule_id } = record
  const timezone = cadence.type === 'cron' ? cadence.timezone : 'UTC'
  const fires = firesOf(record, count, now).map((fire) => ({
    fire_at_ms: fire,
    utc: new Date(fire).toISOString(),
    local: localText(fire, timezone),
    notes: cadence.type === 'cron' ? notesOf(cadence.expression, timezone, fire) : [],
  }))
  return { schedule_id, timezone, fires }
}

/** A paused schedule is shown as if it were resumed now. */
const firstOf = (record: ScheduleRecord, now: number): number | undefined => {
  const { paused_remaining_ms: left, cadence } = record
  if (record.status !== 'paused' || left === undefined) return record.next_fire_at_ms
  if (cadence.type === 'interval') return now + left
  return cadence.type === 'cron' ? fireAfter(record, now) : record.anchor_ms
}

const firesOf = (record: ScheduleRecord, count: number, now: number): number[] => {
  if (isTerminal(record)) return []
  const most = Math.min(count, (record.max_executions ?? Infinity) - record.execution_count)
  const first = firstOf(record, now)
  const beat = first !== undefined && record.cadence.type === 'interval' ? { ...record, anchor_ms: first } : record
  const fires: number[] = []
  for (let fire = first; fire !== undefined && fires.length < most; fire = fireAfter(beat, fire)) fires.push(fire)
  return fires
}

export const notesOf = (expression: string, timezone: string, fire: number): string[] => [
  ...gapNote(expression, timezone, fire),
  ...overlapNote(expression, timezone, fire),
]

/**
 * In a zone without clock changes the expression names what the wall would have shown: a time that the wall left out
 * lies between what it showed before and now.
 */
const gapNote = (expression: string, timezone: string, fire: number): string[] => {
  const [before, shown] = [wallOf(fire - 1000, timezone), wallOf(fire, timezone)]
  if (shown - before <= 1000) return []
  const named = openCron(expression, 'UTC').next(before)
  if (named === undefined || named >= shown) return []
  return [`${clockText(named)} does not exist on this day in ${timezone}: fires at ${clockText(shown)}`]
}

const overlapNote = (expression: string, timezone: string, fire: number): string[] => {
  const shown = clockText(wallOf(fire, timezone))
  const again = secondOccurrence(fire, timezone)
  const { next } = openCron(expression, timezone)
  if (again === undefined) return []
  return [
    next(again - 1000) === again
      ? `${shown} happens twice on this day in ${timezone}: fires at both`
      : `${shown} happens twice on this day in ${timezone}: fires at the first`,
  ]
}
