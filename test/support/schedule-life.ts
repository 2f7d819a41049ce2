/**
 * The dispatcher of schedules over the real store on a simulated disk, with
 * clocks that a test moves and runs that last as long as it says. A life can
 * be killed at any operation of the disk.
 */
import { setImmediate } from 'node:timers/promises'
import { createIds } from '../../core/base/ids.js'
import type { Clock } from '../../core/base/clock.js'
import { unsafeCast } from '../../core/base/schema.js'
import type { Collection, Tx } from '../../core/state/contract.js'
import { openState } from '../../core/state/store/root.js'
import { runErrors } from '../../plugins/execution/runs/record/errors.js'
import type { ReceiptKey, Runs, TerminalRun, Submission } from '../../plugins/execution/runs/contract.js'
import type { ScheduleParts } from '../../plugins/execution/schedules/dispatch/parts.js'
import { createScheduleCommits } from '../../plugins/execution/schedules/dispatch/schedule-commits.js'
import { declareStore, type ScheduleStore } from '../../plugins/execution/schedules/record/store.js'
import { createWorker } from '../../plugins/execution/schedules/dispatch/worker.js'
import { crash, type Image } from '../faults/image.js'
import type { Random } from '../faults/random.js'
import { createSimulatedDisk } from '../faults/simulated-disk.js'
import { silent } from '../faults/stillness.js'

/** Wall and monotonic time of the whole simulation. */
export interface Time {
  wall: number
  mono: number
}

export interface SimulatedRun {
  readonly run_id: string
  readonly schedule_id: string
  readonly fire: number
  readonly status: 'running' | 'completed' | 'failed'
  readonly ends_at: number
  readonly error?: string
}

export interface ScheduleLife {
  readonly store: ScheduleStore
  readonly runs: Collection<SimulatedRun>
  /** Moves time to the next timer of the dispatcher and lets it look; false if the life ended meanwhile. */
  step(): Promise<boolean>
  /** Ends the runs whose time has come, with or without telling. */
  endRuns(told: boolean): Promise<void>
  /** Dies after so many operations of the disk. */
  killAfter(operations: number): void
  readonly dead: boolean
  /** What the disk holds after the death. */
  left(power: boolean): Image
  /** Resolves when nothing of this life goes on. */
  settle(): Promise<void>
}

interface LifeOptions {
  readonly time: Time
  readonly random: Random
  readonly generation: number
  readonly image?: Image | undefined
  readonly longestRun: number
}

/** Between two looks: a year of minutes would take too long. */
const watch = 15 * 60_000

const policies = ['drop', 'keep', 'tear', 'reorder', 'names'] as const
const config = {
  dispatch_enabled: true,
  retry_base_delay_ms: 500,
  retry_max_delay_ms: 30_000,
  retry_jitter_ms: 250,
  retry_max_attempts: 0,
  lag_warning_threshold_ms: 60_000,
}

/** Timers of one life; after its death none fires. */
const createLifeClock = (time: Time) => {
  let due: { at: number; callback: () => void } | undefined
  const clock: Clock = {
    now: () => time.wall,
    elapsed: () => time.mono,
    sleep: () => Promise.resolve(true),
    after(ms, callback) {
      const mine = { at: time.mono + Math.ceil(ms), callback }
      due = mine
      return () => {
        if (due === mine) due = undefined
      }
    },
  }
  return {
    clock,
    armed: () => due !== undefined,
    fire: () => {
      const now = due
      due = undefined
      if (now === undefined) return
      time.wall += Math.max(0, now.at - time.mono)
      time.mono = Math.max(time.mono, now.at)
      now.callback()
    },
  }
}

export const openScheduleLife = async ({
  time,
  random,
  generation,
  image,
  longestRun,
}: LifeOptions): Promise<ScheduleLife> => {
  let killAt = Infinity
  let left: Image | undefined
  let soonest = 0
  const disk = createSimulatedDisk({
    root: '/r',
    random,
    ...(image !== undefined && { image }),
    before: ({ number }) => {
      if (number >= killAt) left ??= disk.image()
    },
    fail: () => (left === undefined ? undefined : 'EIO'),
  })
  const { clock, armed, fire } = createLifeClock(time)
  const still: Clock = { ...clock, after: () => () => {} }
  const ids = createIds(clock)
  const opened = await openState({
    root: '/r',
    rootId: '0'.repeat(32),
    disk,
    clock: still,
    ids,
    log: silent,
    publish: () => {},
    generation,
    tuning: { ballastBytes: 0, freeBytes: 0, segmentBytes: 100_000, pageBytes: 400_000 },
  })
  const { state } = opened
  const runs = state.collection<SimulatedRun>({
    name: 'runs',
    version: 1,
    id: ({ run_id }) => run_id,
    indexes: {
      open: { group: ({ status }) => (status === 'running' ? 'open' : undefined) },
      all: { group: () => 'all' },
    },
  })
  const receipts = state.collection<{ id: string; run_id: string }>({
    name: 'receipts',
    version: 1,
    id: ({ id }) => id,
    indexes: {},
  })
  const listeners = new Set<(run: TerminalRun) => void>()
  const receiptId = ({ scope, key }: ReceiptKey): string => `${scope}/${key}`
  const find = (run_id: string): SimulatedRun | undefined => runs.find(run_id)
  const replayed = (receipt: ReceiptKey | undefined): SimulatedRun | undefined =>
    receipt === undefined ? undefined : find(receipts.find(receiptId(receipt))?.run_id ?? '')
  /**
   * As the engine: a known receipt gives its run; otherwise run and receipt are one commit. Some submissions are
   * refused at first.
   */
  const admit = ({ receipt, input }: Submission): ((tx: Tx) => SimulatedRun) => {
    const known = replayed(receipt)
    if (known !== undefined || receipt === undefined) return () => known ?? unsafeCast(undefined)
    if (random.chance(0.05)) throw runErrors.run_queue_full()
    const failed = random.chance(0.1)
    const run: SimulatedRun = {
      run_id: ids.make('run'),
      schedule_id: input.actor_id ?? '',
      fire: Number(receipt.key),
      status: 'running',
      ends_at: time.wall + random.below(longestRun),
      ...(failed && { error: 'no luck' }),
    }
    return (tx) => {
      soonest = Math.min(soonest, run.ends_at)
      tx.insert(runs, run)
      tx.insert(receipts, { id: receiptId(receipt), run_id: run.run_id })
      return run
    }
  }
  const submit = async (submission: Submission): Promise<SimulatedRun> => state.commit(admit(submission))
  const service: Runs = unsafeCast({
    submit,
    admit,
    find,
    isUsed: (receipt: ReceiptKey) => receipts.has(receiptId(receipt)),
    onEnded: (listener: (run: TerminalRun) => void) => (listeners.add(listener), () => void listeners.delete(listener)),
  })
  const store = declareStore(state)
  const parts: ScheduleParts = {
    store,
    runs: service,
    sessions: unsafeCast({}),
    assets: () => undefined,
    payloads: () => [],
    observers: { tell: () => {} },
    clock,
    ids,
    log: silent,
    config,
  }
  const worker = createWorker(parts, createScheduleCommits(parts), watch)
  const { damage } = await opened.load()
  if (damage !== undefined) throw new TypeError(`damage: ${JSON.stringify(damage)}`)
  const quiet = async (): Promise<void> => {
    for (let turns = 0; !armed() && left === undefined; turns += 1) await (turns < 30 ? undefined : setImmediate())
  }
  const settle = async (): Promise<void> => {
    for (let n = 0; n < 5; n += 1) await setImmediate()
  }
  worker.begin()
  await quiet()
  return {
    store,
    runs,
    async step() {
      fire()
      await quiet()
      return left === undefined
    },
    async endRuns(told) {
      if (soonest > time.wall) return
      soonest = Infinity
      for (const id of runs.ids('open', 'open')) {
        const run = find(id)
        if (run === undefined || left !== undefined) continue
        soonest = Math.min(soonest, Math.max(run.ends_at, time.wall + 1))
        if (run.ends_at > time.wall) continue
        const ended: SimulatedRun = { ...run, status: run.error === undefined ? 'completed' : 'failed' }
        await state
          .commit((tx) => tx.put(runs, ended))
          .then(
            () => {
              if (told) for (const listener of listeners) listener(unsafeCast(ended))
            },
            () => {},
          )
        if (told) await settle()
      }
    },
    killAfter(operations) {
      killAt = disk.operations + operations
    },
    get dead() {
      return left !== undefined
    },
    left: (power) => (left === undefined ? disk.image() : power ? crash(left, random.pick(policies), random) : left),
    settle,
  }
}
