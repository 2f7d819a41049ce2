/**
 * The commits by which schedules move on. A kill between any two of them leaves records from which the next start goes
 * on. A fire and its run are one commit where a commit is enough to make the run.
 */
import { setImmediate } from 'node:timers/promises'
import type { Tx } from '../../../../core/plugin.js'
import { dispatch, dispatchNow, endingOf, noted, receiptOf, type Dispatched, type Due } from './dispatch.js'
import { advance, reckonAgain, settled } from '../record/machine.js'
import type { ScheduleParts } from './parts.js'
import { passes } from './retry.js'
import { wakeOf, type ScheduleRecord } from '../record/store.js'

/** Schedules that one commit moves on: between two of them, requests are served. */
export const batch = 64
/**
 * How long one turn of the event loop fills a commit, or lets runs start: code that has just begun to run is slow, and
 * a request waits for five to ten turns until what it saw is on the disk.
 */
const sliceMs = 0.5

/** When schedules are looked at; `patient`: very many are due, so their runs wait for `release`. */
export interface Look {
  readonly now: number
  readonly awake_since: number
  readonly patient: boolean
}

export interface ScheduleCommits {
  /** The first schedules that are due. */
  due(now: number): ScheduleRecord[]
  /** Takes the fires that are due, makes their runs, and gives the executions whose runs need more than that. */
  claim(due: readonly ScheduleRecord[], moment: Look): Promise<Due[]>
  /** Lets the runs of patient claims start, a few in each turn of the event loop. */
  release(): Promise<void>
  /** Makes the runs, the oldest fire first, and notes what became of it. */
  send(due: readonly Due[]): Promise<void>
  /** Reckons again what was reckoned later than this. */
  reckon(now: number, later: number): Promise<void>
  /** Looks at the run of every execution that is not over: runs may have ended unheard. */
  sweep(): Promise<void>
  /** True if a schedule waits for the end of this run. */
  awaits(run_id: string): boolean
  /** Notes the ends of runs. */
  settle(run_ids: readonly string[]): Promise<void>
  isDispatching(schedule_id: string, fire: number): boolean
}

type Change = (record: ScheduleRecord) => ScheduleRecord

interface State extends ScheduleParts {
  /** Keys of the fires whose runs are being made. */
  readonly dispatching: Set<string>
  /** Schedules by run, for executions that have been dispatched: derived, made again by `sweep`. */
  readonly executing: Map<string, string>
  /** Sessions with runs that wait for `release`. */
  readonly held: Set<string>
}

export const createScheduleCommits = (parts: ScheduleParts): ScheduleCommits => {
  const context: State = { ...parts, dispatching: new Set(), executing: new Map(), held: new Set() }
  const { schedules } = parts.store
  return {
    due: (now) =>
      schedules
        .list({ index: 'due', group: 'due', limit: batch })
        .filter((record) => (wakeOf(record) ?? Infinity) <= now),
    claim: (due, moment) => claim(context, due, moment),
    release: () => release(context),
    send: (due) => send(context, due),
    reckon: (now, later) => reckon(context, now, later),
    sweep: () => sweep(context),
    awaits: (run_id) => context.executing.has(run_id),
    settle: (run_ids) => settle(context, run_ids),
    isDispatching: (schedule_id, fire) => context.dispatching.has(keyOf(schedule_id, fire)),
  }
}

/** Puts the changed record of a schedule, if there is one and it differs. */
const update = (
  context: State,
  tx: Tx,
  { schedule_id, change }: { schedule_id: string; change: Change },
): ScheduleRecord | undefined => {
  const record = context.store.find(schedule_id)
  if (record === undefined) return undefined
  const changed = change(record)
  if (changed !== record) context.store.put(tx, { ...changed, updated_at_ms: Math.max(tx.now, changed.updated_at_ms) })
  tellFailure(context, tx, { record, changed })
  tellEnds(context, tx, { record, changed })
  return changed
}

const claim = async (context: State, due: readonly ScheduleRecord[], look: Look): Promise<Due[]> => {
  try {
    return await take(context, due, { ...look, make: dispatchNow })
  } catch (error) {
    if (passes(error)) throw error
    // One of them cannot be made so, and nobody knows which: each run has a commit of its own.
    return take(context, due, { ...look, make: () => undefined })
  }
}

const take = (
  context: State,
  due: readonly ScheduleRecord[],
  { now, awake_since, patient, make }: Look & { readonly make: typeof dispatchNow },
): Promise<Due[]> => {
  const has_run = (record: ScheduleRecord, fire: number): boolean => context.runs.isUsed(receiptOf(record, fire))
  return context.store.state.commit((tx) => {
    const left: Due[] = []
    const change: Change = (record) => {
      let changed = advance(record, { now, awake_since, has_run })
      for (const one of wanting(changed, now)) {
        if (patient) context.held.add(record.target_session_id)
        const outcome = make(context, tx, { ...one, patient })
        if (outcome === undefined) left.push(one)
        else changed = note(context, changed, { outcome, now })
      }
      return changed
    }
    const until = context.clock.elapsed() + sliceMs
    for (const { schedule_id } of due) {
      update(context, tx, { schedule_id, change })
      // The others are still due.
      if (context.clock.elapsed() > until) break
    }
    return left
  })
}

const release = async ({ held, runs, clock }: State): Promise<void> => {
  let until = clock.elapsed() + sliceMs
  for (const session_id of held) {
    held.delete(session_id)
    runs.wake(session_id)
    if (clock.elapsed() <= until) continue
    await setImmediate()
    until = clock.elapsed() + sliceMs
  }
}

/** What became of a dispatch. Of a run that is over nobody will hear. */
const note = (
  context: State,
  record: ScheduleRecord,
  { outcome, now }: { outcome: Dispatched; now: number },
): ScheduleRecord => {
  const changed = noted(context, record, { outcome, now })
  if ('run' in outcome && endingOf(context.runs.find(outcome.run.run_id), now) === undefined)
    context.executing.set(outcome.run.run_id, outcome.schedule_id)
  return changed
}

/**
 * While its claim went to the disk an execution may have been rolled back, or a claim before this one may have made its
 * run or be about to.
 */
const isStillWanted = (
  { store, dispatching }: State,
  { record: { schedule_id }, execution: { fire_at_ms, attempt } }: Due,
): boolean => {
  if (dispatching.has(keyOf(schedule_id, fire_at_ms))) return false
  const record = store.schedules.find(schedule_id)
  const now = record?.executions.find((one) => one.fire_at_ms === fire_at_ms)
  return now?.attempt === attempt && (now.status === 'claimed' || now.status === 'retrying')
}

const send = async (context: State, due: readonly Due[]): Promise<void> => {
  const { dispatching, clock, store } = context
  const ordered = due
    .filter((one) => isStillWanted(context, one))
    .toSorted((a, b) => a.execution.fire_at_ms - b.execution.fire_at_ms)
  const keys = ordered.map(({ record, execution }) => keyOf(record.schedule_id, execution.fire_at_ms))
  for (const key of keys) dispatching.add(key)
  try {
    const outcomes = await Promise.all(ordered.map((one) => dispatch(context, one)))
    const now = clock.now()
    await store.state.commit((tx) => {
      for (const outcome of outcomes) {
        const change: Change = (record) => note(context, record, { outcome, now })
        update(context, tx, { schedule_id: outcome.schedule_id, change })
      }
    })
  } finally {
    for (const key of keys) dispatching.delete(key)
  }
}

const reckon = async (context: State, now: number, later: number): Promise<void> => {
  const { state, schedules } = context.store
  const change: Change = (record) => reckonAgain(record, now)
  const ahead = (): ScheduleRecord[] =>
    schedules
      .list({ index: 'reckoned', group: 'reckoned', limit: batch, order: 'desc' })
      .filter((record) => record.reckoned_at_ms > later)
  for (let found = ahead(); found.length > 0; found = ahead()) {
    await state.commit((tx) => {
      for (const { schedule_id } of found) update(context, tx, { schedule_id, change })
    })
  }
}

const sweep = async (context: State): Promise<void> => {
  const { state, schedules } = context.store
  const over = schedules.ids('open', 'open').filter((id) => {
    const record = schedules.find(id)
    return record !== undefined && withEndings(context, record) !== record
  })
  for (let at = 0; at < over.length; at += batch)
    await state.commit((tx) => {
      for (const id of over.slice(at, at + batch)) endExecutions(context, tx, id)
    })
}

const settle = (context: State, run_ids: readonly string[]): Promise<void> =>
  context.store.state.commit((tx) => {
    const ended = new Set(run_ids.flatMap((run_id) => context.executing.get(run_id) ?? []))
    for (const schedule_id of ended) endExecutions(context, tx, schedule_id)
  })

const endExecutions = (context: State, tx: Tx, schedule_id: string): void =>
  void update(context, tx, { schedule_id, change: (record) => withEndings(context, record) })

const withEndings = ({ runs, clock, executing }: State, record: ScheduleRecord): ScheduleRecord =>
  record.executions.reduce((changed, { status, run_id, fire_at_ms }) => {
    if (status !== 'dispatched' || run_id === undefined) return changed
    const ending = endingOf(runs.find(run_id), clock.now())
    if (ending === undefined) executing.set(run_id, record.schedule_id)
    else executing.delete(run_id)
    return ending === undefined ? changed : settled(changed, fire_at_ms, ending)
  }, record)

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

/** Runs of executions that were not over before this change. */
const tellEnds = (
  { observers }: ScheduleParts,
  tx: Tx,
  { record, changed }: { record: ScheduleRecord; changed: ScheduleRecord },
): void => {
  if (changed === record) return
  const { schedule_id, name } = changed
  for (const { status, run_id, fire_at_ms } of changed.executions) {
    if (status !== 'settled' || run_id === undefined) continue
    const before = record.executions.find((one) => one.fire_at_ms === fire_at_ms)
    if (before === undefined || before.status === 'settled') continue
    const end = { schedule_id, name, run_id }
    observers.tell(tx, 'hearing of the end of an execution', (observer) => observer.settled(tx, end))
  }
}

const keyOf = (schedule_id: string, fire: number): string => `${schedule_id}/${fire}`

const wanting = (record: ScheduleRecord, now: number): Due[] =>
  record.executions
    .filter(
      ({ status, retry_after_ms }) => status === 'claimed' || (status === 'retrying' && (retry_after_ms ?? 0) <= now),
    )
    .map((execution) => ({ record, execution }))
