/**
 * The commits by which schedules move on. A kill between any two of them
 * leaves records from which the next start goes on.
 */
import type { Tx } from '../../../core/plugin.js'
import type { RunRecord } from '../runs/contract.js'
import { dispatch, endingOf, noted, receiptOf, type Due } from './dispatch.js'
import { advance, reckonAgain, settled } from './machine.js'
import type { ScheduleParts } from './parts.js'
import { wakeOf, type ScheduleRecord } from './store.js'

/** Schedules that one commit moves on: between two of them, requests are served. */
const batch = 32

export interface Rounds {
  /** The first schedules that are due. */
  due(now: number): ScheduleRecord[]
  /** Takes the fires that are due, and gives the executions that want their run. */
  claim(due: readonly ScheduleRecord[], moment: { readonly now: number; readonly awake_since: number }): Promise<Due[]>
  /** Makes the runs, the oldest fire first, and notes what became of it. */
  send(due: readonly Due[]): Promise<void>
  /** Reckons again what was reckoned later than this. */
  reckon(now: number, later: number): Promise<void>
  /** Looks at the run of every execution that is not over: runs may have ended unheard. */
  sweep(): Promise<void>
  /** Notes the end of a run; undefined if no schedule made it. */
  settle(run: RunRecord): Promise<void> | undefined
  isDispatching(schedule_id: string, fire: number): boolean
}

type Change = (record: ScheduleRecord) => ScheduleRecord

export const createRounds = (parts: ScheduleParts): Rounds => {
  const {
    store,
    store: { state, schedules },
    runs,
    clock,
  } = parts
  const dispatching = new Set<string>()
  /** Schedules by run, for executions that have been dispatched: derived, made again by `sweep`. */
  const executing = new Map<string, string>()
  const update = (tx: Tx, schedule_id: string, change: Change): ScheduleRecord | undefined => {
    const record = store.find(schedule_id)
    const changed = record === undefined ? undefined : change(record)
    if (changed !== undefined && changed !== record)
      store.put(tx, { ...changed, updated_at_ms: Math.max(tx.now, changed.updated_at_ms) })
    if (record !== undefined && changed !== undefined) tellFailure(parts, tx, { record, changed })
    return changed
  }
  const hasRun = (record: ScheduleRecord, fire: number): boolean => runs.replayed(receiptOf(record, fire)) !== undefined
  const withEndings: Change = (record) =>
    record.executions.reduce((changed, { status, run_id, fire_at_ms }) => {
      if (status !== 'dispatched' || run_id === undefined) return changed
      const ending = endingOf(runs.find(run_id), clock.now())
      if (ending === undefined) executing.set(run_id, record.schedule_id)
      else executing.delete(run_id)
      return ending === undefined ? changed : settled(changed, fire_at_ms, ending)
    }, record)
  return {
    due: (now) =>
      schedules
        .list({ index: 'due', group: 'due', limit: batch })
        .filter((record) => (wakeOf(record) ?? Infinity) <= now),
    claim: (due, { now, awake_since }) =>
      state.commit((tx) =>
        due.flatMap(({ schedule_id }) => {
          const record = update(tx, schedule_id, (found) => advance(found, { now, awake_since, has_run: hasRun }))
          return record === undefined ? [] : wanting(record, now)
        }),
      ),
    async send(due) {
      const ordered = due.toSorted((a, b) => a.execution.fire_at_ms - b.execution.fire_at_ms)
      const keys = ordered.map(({ record, execution }) => keyOf(record.schedule_id, execution.fire_at_ms))
      for (const key of keys) dispatching.add(key)
      try {
        const outcomes = await Promise.all(ordered.map((one) => dispatch(parts, one)))
        for (const outcome of outcomes) if ('run' in outcome) executing.set(outcome.run.run_id, outcome.schedule_id)
        const now = clock.now()
        await state.commit((tx) => {
          for (const outcome of outcomes)
            update(tx, outcome.schedule_id, (record) => noted(parts, record, { outcome, now }))
        })
      } finally {
        for (const key of keys) dispatching.delete(key)
      }
    },
    async reckon(now, later) {
      const ahead = (): ScheduleRecord[] =>
        schedules
          .list({ index: 'reckoned', group: 'reckoned', limit: batch, order: 'desc' })
          .filter((record) => record.reckoned_at_ms > later)
      for (let found = ahead(); found.length > 0; found = ahead()) {
        await state.commit((tx) => {
          for (const { schedule_id } of found) update(tx, schedule_id, (record) => reckonAgain(record, now))
        })
      }
    },
    async sweep() {
      const over = schedules.ids('open', 'open').filter((id) => {
        const record = schedules.find(id)
        return record !== undefined && withEndings(record) !== record
      })
      for (let at = 0; at < over.length; at += batch)
        await state.commit((tx) => {
          for (const id of over.slice(at, at + batch)) update(tx, id, withEndings)
        })
    },
    settle({ run_id }) {
      const schedule_id = executing.get(run_id)
      return schedule_id === undefined ? undefined : state.commit((tx) => void update(tx, schedule_id, withEndings))
    },
    isDispatching: (schedule_id, fire) => dispatching.has(keyOf(schedule_id, fire)),
  }
}

const tellFailure = (
  { log }: ScheduleParts,
  tx: Tx,
  { record, changed }: { record: ScheduleRecord; changed: ScheduleRecord },
): void => {
  const { schedule_id, consecutive_failures, last_error } = changed
  if (consecutive_failures <= record.consecutive_failures) return
  tx.after(() =>
    log.warn('an execution of a schedule failed', {
      schedule_id,
      failures_in_a_row: consecutive_failures,
      ...(last_error !== undefined && { reason: last_error }),
    }),
  )
}

const keyOf = (schedule_id: string, fire: number): string => `${schedule_id}/${fire}`

const wanting = (record: ScheduleRecord, now: number): Due[] =>
  record.executions
    .filter(
      ({ status, retry_after_ms }) => status === 'claimed' || (status === 'retrying' && (retry_after_ms ?? 0) <= now),
    )
    .map((execution) => ({ record, execution }))
