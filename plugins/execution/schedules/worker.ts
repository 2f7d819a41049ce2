/** Looks at schedules when the first of them is due, and at least once a minute: the wall clock may have jumped. */
import { Problem } from '../../../core/plugin.js'
import type { RunRecord } from '../runs/contract.js'
import type { ScheduleParts } from './parts.js'
import { retryDelay } from './retry.js'
import type { Rounds } from './rounds.js'
import { wakeOf } from './store.js'

/** Longest time between two looks. */
const watch = 60_000
/** A look that comes later than this shows that nobody was looking; a clock that is behind by more has gone back. */
const tolerance = 15_000

export interface Worker {
  /** Begins to fire. Returns what ends it. */
  begin(): () => Promise<void>
  /** There may be something to do sooner than planned. */
  poke(): void
}

export const createWorker = (parts: ScheduleParts, rounds: Rounds, longest = watch): Worker => {
  const {
    store: { schedules },
    runs,
    clock,
    ids,
    log,
    config,
  } = parts
  let awakeSince = 0
  let expected = 0
  /** On the clock that never jumps: since then the wall clock has not been looked at. */
  let planned = 0
  let failures = 0
  let mustSweep = false
  let swept = 0
  let running: Promise<void> | undefined
  let again = false
  let ended = true
  let cancelTimer = (): void => {}

  const work = async (): Promise<void> => {
    const began = clock.now()
    const idle = clock.elapsed() - planned
    if (began > expected + tolerance) awakeSince = began
    else if (began < awakeSince) awakeSince = began - idle
    if (mustSweep || clock.elapsed() >= swept + longest) {
      mustSweep = false
      swept = clock.elapsed()
      await rounds.sweep()
    }
    await rounds.reckon(began - idle, began + tolerance)
    for (let due = rounds.due(began); due.length > 0 && !ended; due = rounds.due(clock.now())) {
      await rounds.send(await rounds.claim(due, { now: clock.now(), awake_since: awakeSince }))
    }
    failures = 0
  }

  const arm = (delay: number): void => {
    cancelTimer()
    if (!ended) cancelTimer = clock.after(delay, look)
  }

  const plan = (): void => {
    const [first] = schedules.list({ index: 'due', group: 'due', limit: 1 })
    const wake = (first === undefined ? undefined : wakeOf(first)) ?? Infinity
    const delay = Math.min(longest, Math.max(0, wake - clock.now()))
    expected = clock.now() + delay
    planned = clock.elapsed()
    arm(delay)
  }

  const failed = (error: unknown): void => {
    failures += 1
    mustSweep = true
    if (!(error instanceof Problem)) log.error('schedules could not be looked at', { error: String(error) })
    arm(retryDelay(config, failures, ids))
  }

  const look = (): void => {
    if (ended) return
    again = running !== undefined
    running ??= work()
      .then(plan, failed)
      .finally(() => {
        running = undefined
        if (again) look()
      })
  }

  const settling = new Set<Promise<void>>()
  const heard = (run: RunRecord): void => {
    const settled = rounds.settle(run)?.catch(() => {
      mustSweep = true
    })
    if (settled === undefined) return
    settling.add(settled)
    void settled.then(() => {
      settling.delete(settled)
      look()
    })
  }

  return {
    begin() {
      ended = false
      awakeSince = clock.now()
      expected = awakeSince
      planned = clock.elapsed()
      mustSweep = true
      const unhook = runs.onSettled(heard)
      look()
      return async () => {
        ended = true
        unhook()
        cancelTimer()
        await Promise.all([running, ...settling])
      }
    },
    poke: look,
  }
}
