/** Looks at schedules when the first of them is due, and at least once a minute: the wall clock may have jumped. */
import { setImmediate } from 'node:timers/promises'
import { Problem } from '../../../../core/plugin.js'
import type { RunRecord } from '../../runs/contract.js'
import type { ScheduleParts } from './parts.js'
import { retryDelay } from './retry.js'
import { batch, type ScheduleCommits } from './schedule-commits.js'
import { wakeOf, type ScheduleRecord } from '../record/store.js'

/** Longest time between two looks. */
const longestMs = 60_000
/** A look that comes later than this shows that nobody was looking; a clock that is behind by more has gone back. */
const tolerance = 15_000

export interface Worker {
  /** Begins to fire. Returns what ends it. */
  begin(): () => Promise<void>
  /** There may be something to do sooner than planned. */
  poke(): void
}

interface Watch extends ScheduleParts {
  readonly commits: ScheduleCommits
  readonly longest: number
  awakeSince: number
  expected: number
  /** On the clock that never jumps: since then the wall clock has not been looked at. */
  planned: number
  failures: number
  mustSweep: boolean
  swept: number
  running: Promise<void> | undefined
  again: boolean
  ended: boolean
  /** Runs that have ended and whose ends are not noted. */
  readonly heard: string[]
  settling: Promise<void> | undefined
  releasing: Promise<void> | undefined
  cancelTimer: () => void
}

export const createWorker = (parts: ScheduleParts, commits: ScheduleCommits, longest = longestMs): Worker => {
  const watch: Watch = {
    ...parts,
    commits,
    longest,
    awakeSince: 0,
    expected: 0,
    planned: 0,
    failures: 0,
    mustSweep: false,
    swept: 0,
    running: undefined,
    again: false,
    ended: true,
    heard: [],
    settling: undefined,
    releasing: undefined,
    cancelTimer: () => {},
  }
  return { begin: () => begin(watch), poke: () => look(watch) }
}

const begin = (watch: Watch): (() => Promise<void>) => {
  watch.ended = false
  watch.awakeSince = watch.clock.now()
  watch.expected = watch.awakeSince
  watch.planned = watch.clock.elapsed()
  watch.mustSweep = true
  const unhook = watch.runs.onEnded((run) => hear(watch, run))
  look(watch)
  return async () => {
    watch.ended = true
    unhook()
    watch.cancelTimer()
    while ((watch.running ?? watch.settling ?? watch.releasing) !== undefined)
      await Promise.all([watch.running, watch.settling, watch.releasing])
  }
}

const look = (watch: Watch): void => {
  if (watch.ended) return
  watch.again = watch.running !== undefined
  watch.running ??= work(watch)
    .then(
      () => plan(watch),
      (error: unknown) => fail(watch, error),
    )
    .finally(() => {
      watch.running = undefined
      if (watch.again) look(watch)
    })
}

const work = async (watch: Watch): Promise<void> => {
  const { clock, commits } = watch
  const began = clock.now()
  const idle = clock.elapsed() - watch.planned
  if (began > watch.expected + tolerance) watch.awakeSince = began
  else if (began < watch.awakeSince) watch.awakeSince = began - idle
  if (watch.mustSweep || clock.elapsed() >= watch.swept + watch.longest) {
    watch.mustSweep = false
    watch.swept = clock.elapsed()
    await commits.sweep()
  }
  await commits.reckon(began - idle, began + tolerance)
  await fireAll(watch, began)
  watch.failures = 0
}

/** Commits on their way to the disk, behind which the next one is filled. */
const ahead = 16

/**
 * What a commit has taken is due no more, whether it is on the disk or not. Between any two of them others are served,
 * also when several were written at once. Of very many, all are dispatched before the first is executed.
 */
const fireAll = async (watch: Watch, began: number): Promise<void> => {
  const { clock, commits } = watch
  const written: Promise<void>[] = []
  let patient = false
  const faults: unknown[] = []
  for (
    let due = commits.due(began);
    due.length > 0 && !watch.ended && faults.length === 0;
    due = commits.due(clock.now())
  ) {
    patient ||= due.length === batch
    written.push(fire(watch, due, patient).catch((error: unknown) => void faults.push(error)))
    if (written.length >= ahead) await written.shift()
    await setImmediate()
  }
  await Promise.all(written)
  if (patient && !watch.ended) release(watch)
  if (faults.length > 0) throw faults[0]
}

const release = (watch: Watch): void => {
  watch.releasing ??= watch.commits.release().finally(() => {
    watch.releasing = undefined
  })
}

const fire = async (
  { clock, commits, awakeSince }: Watch,
  due: readonly ScheduleRecord[],
  patient: boolean,
): Promise<void> => {
  const left = await commits.claim(due, { now: clock.now(), awake_since: awakeSince, patient })
  if (left.length > 0) await commits.send(left)
}

const plan = (watch: Watch): void => {
  const { clock, store, longest } = watch
  const [first] = store.schedules.list({ index: 'due', group: 'due', limit: 1 })
  const wake = (first === undefined ? undefined : wakeOf(first)) ?? Infinity
  const delay = Math.min(longest, Math.max(0, wake - clock.now()))
  watch.expected = clock.now() + delay
  watch.planned = clock.elapsed()
  arm(watch, delay)
}

const fail = (watch: Watch, error: unknown): void => {
  watch.failures += 1
  watch.mustSweep = true
  if (!(error instanceof Problem)) watch.log.error('schedules could not be looked at', { error })
  arm(watch, retryDelay(watch.config, watch.failures, watch.ids))
}

const arm = (watch: Watch, delay: number): void => {
  watch.cancelTimer()
  if (!watch.ended) watch.cancelTimer = watch.clock.after(delay, () => look(watch))
}

/** An ended run: what a schedule waits for, perhaps. Those that end while others are noted are noted together. */
const hear = (watch: Watch, { run_id }: RunRecord): void => {
  if (!watch.commits.awaits(run_id)) return
  watch.heard.push(run_id)
  settleHeard(watch)
}

const settleHeard = (watch: Watch): void => {
  watch.settling ??= setImmediate()
    .then(() => settle(watch))
    .finally(() => {
      watch.settling = undefined
      if (watch.heard.length > 0) settleHeard(watch)
      look(watch)
    })
}

const settle = async (watch: Watch): Promise<void> => {
  while (watch.heard.length > 0)
    await watch.commits.settle(watch.heard.splice(0, batch / 4)).catch(() => {
      watch.mustSweep = true
    })
}
