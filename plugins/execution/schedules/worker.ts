/**
 * Fires schedules. The truth is in the records: a look takes what is due in one
 * commit, makes the runs, and records them in another. A kill anywhere leaves
 * records from which the next look goes on.
 */
import { Problem } from '../../../core/plugin.js'
import type { Tx } from '../../../core/plugin.js'
import type { RunRecord } from '../runs/contract.js'
import { dispatch, endingOf, noted, receiptOf } from './dispatch.js'
import type { Due } from './dispatch.js'
import { advance, reckonAgain, settled } from './machine.js'
import type { ScheduleParts } from './parts.js'
import { retryDelay } from './retry.js'
import { wakeOf } from './store.js'
import type { ScheduleRecord } from './store.js'

/** Schedules that one commit moves on: between two of them, requests are served. */
const batch = 64
/** Longest time between two looks: the wall clock may have jumped. */
const longest = 60_000
/** A look that comes later than this shows that nobody was looking; a clock that is behind by more has gone back. */
const tolerance = 15_000

export interface Worker {
  /** Begins to fire. Returns what ends it. */
  begin(): () => Promise<void>
  /** There may be something to do sooner than planned. */
  poke(): void
  /** True while the run of this fire is being made. */
  isDispatching(schedule_id: string, fire: number): boolean
  /** When the worker looked last, Unix ms; undefined before. */
  looked_at_ms(): number | undefined
}

export const createWorker = (parts: ScheduleParts): Worker => {
  const { store: { state, schedules }, runs, clock, ids, log, config } = parts
  const dispatching = new Set<string>()
  /** Schedules by run, for those that have been dispatched: derived, made again at the start. */
  const executing = new Map<string, string>()
  let awakeSince = 0
  let expected = 0
  let lookedAt: number | undefined
  let failures = 0
  let mustSweep = false
  let running: Promise<void> | undefined
  let again = false
  let ended = true
  let cancelTimer = (): void => {}

  const update = (tx: Tx, schedule_id: string, change: (record: ScheduleRecord) => ScheduleRecord): ScheduleRecord | undefined => {
    const record = schedules.find(schedule_id)
    const changed = record === undefined ? undefined : change(record)
    if (changed !== undefined && changed !== record) tx.put(schedules, { ...changed, updated_at_ms: tx.now })
    return changed
  }

  const dueAt = (now: number): ScheduleRecord[] =>
    schedules.list({ index: 'due', group: 'due', limit: batch }).filter((record) => (wakeOf(record) ?? Infinity) <= now)

  const hasRun = (record: ScheduleRecord, fire: number): boolean => runs.replayed(receiptOf(record, fire)) !== undefined

  /** Takes what is due, and gives the executions that want their run. */
  const claim = (due: readonly ScheduleRecord[], now: number): Promise<Due[]> => state.commit((tx) => due.flatMap(({ schedule_id }) => {
    const record = update(tx, schedule_id, (found) => advance(found, { now, awake_since: awakeSince, has_run: hasRun }))
    return record === undefined ? [] : record.executions
      .filter(({ status, retry_after_ms }) => status === 'claimed' || (status === 'retrying' && (retry_after_ms ?? 0) <= now))
      .map((execution) => ({ record, execution }))
  }))

  const send = async (due: readonly Due[]): Promise<void> => {
    const ordered = due.toSorted((a, b) => a.execution.fire_at_ms - b.execution.fire_at_ms)
    const keys = ordered.map(({ record, execution }) => `${record.schedule_id}/${execution.fire_at_ms}`)
    for (const key of keys) dispatching.add(key)
    try {
      const outcomes = await Promise.all(ordered.map((one) => dispatch(parts, one)))
      for (const outcome of outcomes) if ('run' in outcome) executing.set(outcome.run.run_id, outcome.schedule_id)
      const now = clock.now()
      await state.commit((tx) => { for (const outcome of outcomes) update(tx, outcome.schedule_id, (record) => noted(parts, record, { outcome, now })) })
    } finally {
      for (const key of keys) dispatching.delete(key)
    }
  }

  /** What the records say after the clock went back is reckoned again. */
  const reckon = async (now: number): Promise<void> => {
    for (;;) {
      const ahead = schedules.list({ index: 'reckoned', group: 'reckoned', limit: batch, order: 'desc' }).filter((record) => record.reckoned_at_ms > now + tolerance)
      if (ahead.length === 0) return
      await state.commit((tx) => { for (const { schedule_id } of ahead) update(tx, schedule_id, (record) => reckonAgain(record, now)) })
    }
  }

  const settleOf = (tx: Tx, schedule_id: string): void => void update(tx, schedule_id, (record) => record.executions.reduce((changed, { status, run_id, fire_at_ms }) => {
    if (status !== 'dispatched' || run_id === undefined) return changed
    const ending = endingOf(runs.find(run_id), clock.now())
    if (ending === undefined) executing.set(run_id, schedule_id)
    else executing.delete(run_id)
    return ending === undefined ? changed : settled(changed, fire_at_ms, ending)
  }, record))

  /** Looks at the run of every execution that is not over: runs may have ended unheard. */
  const sweep = async (): Promise<void> => {
    const open = [...schedules.ids('open', 'open')]
    for (let at = 0; at < open.length; at += batch) await state.commit((tx) => { for (const id of open.slice(at, at + batch)) settleOf(tx, id) })
    mustSweep = false
  }

  const work = async (): Promise<void> => {
    const began = clock.now()
    if (began > expected + tolerance) awakeSince = began
    if (mustSweep) await sweep()
    await reckon(began)
    for (let due = dueAt(began); due.length > 0 && !ended; due = dueAt(clock.now())) await send(await claim(due, clock.now()))
    failures = 0
    lookedAt = clock.now()
  }

  const arm = (delay: number): void => {
    cancelTimer()
    if (ended) return
    cancelTimer = clock.after(delay, look)
  }

  const untilNext = (): number => {
    const [first] = schedules.list({ index: 'due', group: 'due', limit: 1 })
    const wake = first === undefined ? undefined : wakeOf(first)
    return Math.min(longest, Math.max(0, (wake ?? Infinity) - clock.now()))
  }

  const plan = (): void => {
    const delay = untilNext()
    expected = clock.now() + delay
    arm(delay)
  }

  const failed = (error: unknown): void => {
    failures += 1
    mustSweep = true
    if (!(error instanceof Problem)) log.error('schedules could not be looked at', { error: String(error) })
    arm(retryDelay(config, failures, ids))
  }

  function look(): void {
    if (ended) return
    if (running !== undefined) {
      again = true
      return
    }
    again = false
    running = work().then(plan, failed).finally(() => {
      running = undefined
      if (again) look()
    })
  }

  const heard = (run: RunRecord): void => {
    const schedule_id = executing.get(run.run_id)
    if (schedule_id === undefined) return
    state.commit((tx) => settleOf(tx, schedule_id)).then(look, () => {
      mustSweep = true
      look()
    })
  }

  return {
    begin() {
      ended = false
      awakeSince = clock.now()
      expected = awakeSince
      mustSweep = true
      const unhook = runs.onSettled(heard)
      look()
      return async () => {
        ended = true
        unhook()
        cancelTimer()
        await running
      }
    },
    poke: look,
    isDispatching: (schedule_id, fire) => dispatching.has(`${schedule_id}/${fire}`),
    looked_at_ms: () => lookedAt,
  }
}
