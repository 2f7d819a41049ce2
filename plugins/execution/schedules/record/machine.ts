/** How a schedule changes: pure functions of the record and of what is known at that moment. */
import type { Problem } from '../../../../core/plugin.js'
import { fireAfter, lastFireBefore } from '../calendar/cadence.js'
import { scheduleErrors } from './errors.js'
import { isOpen, isTerminal, openOf, statusText, type ScheduleExecution, type ScheduleRecord } from './store.js'

const keptExecutions = 50
/** Executions of one schedule that are not over, at most: more than the history holds could not be shown. */
const mostOpen = keptExecutions

/**
 * What the wall clock says, and since when the daemon has been looking without a break: what was due before that was
 * missed.
 */
export interface Moment {
  readonly now: number
  readonly awake_since: number
  /** True if a fire has led to a run, though the history may no longer show it. */
  readonly has_run: (record: ScheduleRecord, fire: number) => boolean
}

const conflict = ({ schedule_id, status }: ScheduleRecord, verb: string): Problem =>
  scheduleErrors.schedule_state_conflict({ details: { schedule_id, status: statusText(status), verb } })

/** Oldest entries go first, but none that is not over. */
const remember = (executions: readonly ScheduleExecution[]): readonly ScheduleExecution[] => {
  const excess = executions.length - keptExecutions
  if (excess <= 0) return executions
  const dropped = new Set(executions.filter((execution) => !isOpen(execution)).slice(0, excess))
  return executions.filter((execution) => !dropped.has(execution))
}

const added = (record: ScheduleRecord, execution: ScheduleExecution): ScheduleRecord => ({
  ...record,
  executions: remember([...record.executions, execution]),
})

const skip = (record: ScheduleRecord, { fire, now, why }: { fire: number; now: number; why: string }): ScheduleRecord =>
  added(record, {
    fire_at_ms: fire,
    status: 'skipped',
    attempt: 0,
    from_queued_fire: false,
    settled_at_ms: now,
    error: why,
  })

const isUsedUp = ({ max_executions, execution_count }: ScheduleRecord): boolean =>
  max_executions !== undefined && execution_count >= max_executions

/** Takes a fire: from this commit on it leads to exactly one execution. */
const take = (
  record: ScheduleRecord,
  { fire, now, queued = false }: { fire: number; now: number; queued?: boolean },
): ScheduleRecord => {
  const taken = added(
    { ...record, execution_count: record.execution_count + 1, last_fire_at_ms: fire },
    { fire_at_ms: fire, status: 'claimed', attempt: 0, from_queued_fire: queued, claimed_at_ms: now },
  )
  return isUsedUp(taken)
    ? { ...taken, next_fire_at_ms: undefined, queued_fire_at_ms: undefined, paused_remaining_ms: undefined }
    : taken
}

/** Takes, queues or skips a fire, as the overlap policy says. */
const overlap = (record: ScheduleRecord, fire: number, now: number): ScheduleRecord => {
  const open = openOf(record).length
  if (open === 0 && record.queued_fire_at_ms === undefined) return take(record, { fire, now })
  if (record.overlap_policy === 'parallel') {
    return open < mostOpen
      ? take(record, { fire, now })
      : skip(record, { fire, now, why: `${mostOpen} executions are not over` })
  }
  if (record.overlap_policy === 'skip') return skip(record, { fire, now, why: 'the execution before it was not over' })
  return record.queued_fire_at_ms === undefined
    ? { ...record, queued_fire_at_ms: fire }
    : skip(record, { fire, now, why: 'a fire before it was queued' })
}

/** The next fire is set before the fire is taken: the last one takes it away again. */
const passed = (record: ScheduleRecord, fire: number, now: number): ScheduleRecord => ({
  ...record,
  next_fire_at_ms: fireAfter(record, fire),
  reckoned_at_ms: now,
})

/** After the clock went back, a moment may come a second time; one that was skipped gets another chance. */
const hasFired = ({ executions, queued_fire_at_ms }: ScheduleRecord, fire: number): boolean =>
  queued_fire_at_ms === fire || executions.some(({ fire_at_ms, status }) => fire_at_ms === fire && status !== 'skipped')

const fireDue = (record: ScheduleRecord, { now, awake_since, has_run }: Moment): ScheduleRecord => {
  const { next_fire_at_ms: next } = record
  if (record.status !== 'active' || next === undefined || next > now) return record
  const wasMissed = next < awake_since
  const fire = wasMissed ? lastFireBefore(record, next, Math.min(awake_since, now + 1)) : next
  const behind = passed(record, fire, now)
  if (hasFired(record, fire) || has_run(record, fire)) return behind
  if (!wasMissed) return overlap(behind, fire, now)
  return record.misfire_policy.type === 'coalesce_once'
    ? overlap(behind, fire, now)
    : skip(behind, { fire, now, why: 'missed while the daemon was not looking' })
}

const startQueued = (record: ScheduleRecord, now: number): ScheduleRecord => {
  const { queued_fire_at_ms: fire } = record
  if (record.status !== 'active' || fire === undefined || openOf(record).length > 0) return record
  return take({ ...record, queued_fire_at_ms: undefined }, { fire, now, queued: true })
}

/** A schedule is over when nothing is left to fire and every execution is over. */
const complete = (record: ScheduleRecord): ScheduleRecord => {
  const left = record.next_fire_at_ms ?? record.queued_fire_at_ms ?? record.paused_remaining_ms
  return isTerminal(record) || left !== undefined || openOf(record).length > 0
    ? record
    : { ...record, status: 'completed' }
}

/** One look at a schedule: the queued fire if its turn has come, then one fire that is due. */
export const advance = (record: ScheduleRecord, moment: Moment): ScheduleRecord =>
  complete(fireDue(startQueued(record, moment.now), moment))

/**
 * The clock went back behind the moment of the last reckoning: reckons from now. Fires that were taken are known by
 * their receipts.
 */
export const reckonAgain = (record: ScheduleRecord, now: number): ScheduleRecord => ({
  ...record,
  reckoned_at_ms: now,
  ...(record.next_fire_at_ms !== undefined && {
    next_fire_at_ms: record.cadence.type === 'once' ? record.next_fire_at_ms : fireAfter(record, now),
  }),
  executions: record.executions.map((execution) =>
    execution.status === 'retrying'
      ? { ...execution, retry_after_ms: Math.min(execution.retry_after_ms ?? now, now) }
      : execution,
  ),
})

export const pause = (record: ScheduleRecord, now: number): ScheduleRecord => {
  if (record.status !== 'active') throw conflict(record, 'be paused')
  const { next_fire_at_ms: next } = record
  return {
    ...record,
    status: 'paused',
    next_fire_at_ms: undefined,
    paused_remaining_ms: next === undefined ? undefined : Math.max(0, next - now),
  }
}

/**
 * An interval goes on with what was left of it; a cron expression with its next moment; a single fire keeps its moment,
 * and the misfire policy judges one that has passed.
 */
export const resume = (record: ScheduleRecord, now: number): ScheduleRecord => {
  if (record.status !== 'paused') throw conflict(record, 'be resumed')
  const { paused_remaining_ms: left, cadence } = record
  const resumed = { ...record, status: 'active' as const, paused_remaining_ms: undefined, reckoned_at_ms: now }
  if (left === undefined) return complete(resumed)
  if (cadence.type === 'interval') return { ...resumed, anchor_ms: now + left, next_fire_at_ms: now + left }
  if (cadence.type === 'cron') return complete({ ...resumed, next_fire_at_ms: fireAfter(record, now) })
  if (record.anchor_ms > now || record.misfire_policy.type === 'coalesce_once')
    return { ...resumed, next_fire_at_ms: record.anchor_ms }
  return complete(skip(resumed, { fire: record.anchor_ms, now, why: 'missed while it was paused' }))
}

/** `unsent` tells executions of which no run can exist. */
export const cancel = (
  record: ScheduleRecord,
  now: number,
  unsent: (execution: ScheduleExecution) => boolean,
): ScheduleRecord => {
  if (isTerminal(record)) throw conflict(record, 'be cancelled')
  const executions = record.executions.map((execution): ScheduleExecution =>
    isOpen(execution) && execution.status !== 'dispatched' && unsent(execution)
      ? { ...execution, status: 'rolled_back', settled_at_ms: now, error: 'the schedule was cancelled' }
      : execution,
  )
  return {
    ...record,
    status: 'canceled',
    executions,
    next_fire_at_ms: undefined,
    queued_fire_at_ms: undefined,
    paused_remaining_ms: undefined,
  }
}

/** One execution now, beside the cadence. It counts as one, and the overlap policy holds for it. */
export const trigger = (record: ScheduleRecord, now: number): ScheduleRecord => {
  if (isTerminal(record) || isUsedUp(record)) throw conflict(record, 'be triggered')
  let fire = now
  while (hasFired(record, fire) || record.next_fire_at_ms === fire) fire += 1
  const busy = openOf(record).length > 0 || record.queued_fire_at_ms !== undefined
  const refused =
    busy &&
    (record.overlap_policy === 'skip' ||
      (record.overlap_policy === 'queue_one' && record.queued_fire_at_ms !== undefined))
  if (refused || openOf(record).length >= mostOpen)
    throw scheduleErrors.schedule_busy({ details: { schedule_id: record.schedule_id } })
  return overlap(record, fire, now)
}

const edit = (
  record: ScheduleRecord,
  fire: number,
  change: (execution: ScheduleExecution) => ScheduleExecution,
): ScheduleRecord => ({
  ...record,
  executions: record.executions.map((execution) =>
    execution.fire_at_ms === fire && execution.status !== 'settled' && execution.status !== 'skipped'
      ? change(execution)
      : execution,
  ),
})

const cleared = { retry_after_ms: undefined, error: undefined, settled_at_ms: undefined }

/** The run of an execution exists. */
export const dispatched = (
  record: ScheduleRecord,
  fire: number,
  { run_id, now }: { run_id: string; now: number },
): ScheduleRecord => ({
  ...edit(record, fire, (execution) =>
    Object.assign({ ...execution }, cleared, { status: 'dispatched' as const, run_id, dispatched_at_ms: now }),
  ),
  last_dispatched_run_id: run_id,
  last_scheduler_error: undefined,
})

/** A dispatch was refused and is tried again. */
export const refused = (
  record: ScheduleRecord,
  fire: number,
  { error, retry_after_ms }: { error: string; retry_after_ms: number },
): ScheduleRecord => ({
  ...edit(record, fire, (execution) => ({
    ...execution,
    status: 'retrying',
    attempt: execution.attempt + 1,
    retry_after_ms,
    error,
  })),
  last_scheduler_error: error,
})

/** How an execution ended; `error` is absent if nothing went wrong, `counts` says whether it is a failure. */
export interface Ending {
  readonly now: number
  readonly error?: string | undefined
  readonly counts?: boolean
}

/** An execution is over. */
export const settled = (
  record: ScheduleRecord,
  fire: number,
  { now, error, counts = error !== undefined }: Ending,
): ScheduleRecord =>
  complete({
    ...edit(record, fire, (execution) => ({ ...execution, ...cleared, status: 'settled', settled_at_ms: now, error })),
    last_error: error,
    consecutive_failures: counts
      ? record.consecutive_failures + 1
      : error === undefined
        ? 0
        : record.consecutive_failures,
  })
