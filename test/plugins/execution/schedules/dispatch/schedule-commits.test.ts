import test from 'ava'
import { createClock } from '../../../../../core/base/clock.js'
import { createIds } from '../../../../../core/base/ids.js'
import { unsafeCast } from '../../../../../core/base/schema.js'
import type { Tx } from '../../../../../core/plugin.js'
import type { RunRecord } from '../../../../../plugins/execution/runs/contract.js'
import { createScheduleCommits } from '../../../../../plugins/execution/schedules/dispatch/schedule-commits.js'
import { cancel } from '../../../../../plugins/execution/schedules/record/machine.js'
import type { ScheduleRecord } from '../../../../../plugins/execution/schedules/record/store.js'
import { silent } from '../../../../faults/stillness.js'

const due: ScheduleRecord = {
  schedule_id: 'schedule_1',
  name: 'report',
  target_session_id: 's1',
  status: 'active',
  cadence: { type: 'interval', every_seconds: 3600 },
  anchor_ms: 1000,
  payload: { kind: 'request', request: { content: 'hello' } },
  overlap_policy: 'skip',
  misfire_policy: { type: 'coalesce_once' },
  next_fire_at_ms: 1000,
  execution_count: 0,
  consecutive_failures: 0,
  executions: [],
  reckoned_at_ms: 1000,
  created_at_ms: 1,
  updated_at_ms: 1,
}
const run: RunRecord = unsafeCast({ run_id: 'run_1', status: 'completed' })

/** A run that needs more than a commit. */
const looking: ScheduleRecord = {
  ...due,
  payload: {
    kind: 'request',
    request: { content: 'hello', completion_requirements: [{ type: 'workspace_file', path: 'report' }] },
  },
}

/** The commits of one schedule, over a store in memory; its runs end as they begin. */
const bench = (record = due, enter: () => RunRecord = () => run, clock = createClock()) => {
  const kept = { record, submitted: 0, entered: 0, commits: 0, looks: 0 }
  const tx: Tx = unsafeCast({ now: 2000, after: () => {} })
  const commit = async (change: (tx: Tx) => unknown) => {
    const before = kept.record
    kept.commits += 1
    try {
      return change(tx)
    } catch (error) {
      kept.record = before
      throw error
    }
  }
  const commits = createScheduleCommits(
    unsafeCast({
      store: {
        state: { commit, health: { mode: 'ok' } },
        schedules: { find: () => kept.record },
        find: () => ((kept.looks += 1), kept.record),
        put: (_: Tx, changed: ScheduleRecord) => void (kept.record = changed),
      },
      runs: {
        submit: async () => ((kept.submitted += 1), run),
        admit: () => () => ((kept.entered += 1), enter()),
        find: () => run,
        isUsed: () => false,
      },
      clock,
      ids: createIds(clock),
      log: silent,
      observers: { tell: () => {} },
      config: {},
    }),
  )
  return { kept, commits, claim: () => commits.claim([kept.record], { now: 2000, awake_since: 1, patient: false }) }
}

test('a fire and its run are one commit', async (t) => {
  const { kept, claim } = bench()
  t.deepEqual(await claim(), [])
  t.like(kept, { entered: 1, submitted: 0, commits: 1 })
  t.like(kept.record.executions, [{ status: 'settled', run_id: 'run_1' }])
})

test('a run that no commit of fires can make is made in a commit of its own', async (t) => {
  const { kept, commits, claim } = bench(due, () => {
    throw new TypeError('unreadable')
  })
  await commits.send(await claim())
  t.like(kept, { entered: 1, submitted: 1 })
  t.like(kept.record.executions, [{ status: 'settled', run_id: 'run_1' }])
})

test('a schedule that is cancelled while a claim goes to the disk makes no run', async (t) => {
  const { kept, commits, claim } = bench(looking)
  const claimed = await claim()
  t.is(claimed.length, 1)
  kept.record = cancel(kept.record, 2000, () => true)
  await commits.send(claimed)
  t.is(kept.submitted, 0)
  t.like(kept.record, { status: 'canceled', executions: [{ status: 'rolled_back' }] })
})

test('nobody waits for the end of a run that was over when its dispatch was noted', async (t) => {
  for (const record of [due, looking]) {
    const { kept, commits, claim } = bench(record)
    await commits.send(await claim())
    t.like(kept.record.executions, [{ status: 'settled', run_id: 'run_1' }])
    t.false(commits.awaits('run_1'))
  }
})

test('of many that are due one commit takes as many as it can in half a millisecond, and one at least', async (t) => {
  for (const [step, looks] of [
    [0, 5],
    [0.3, 2],
    [1000, 1],
  ] as const) {
    let elapsed = 0
    const clock = { ...createClock(), elapsed: () => (elapsed += step) }
    const { kept, commits } = bench(due, () => run, clock)
    await commits.claim([due, due, due, due, due], { now: 2000, awake_since: 1, patient: false })
    t.like(kept, { commits: 1, looks })
  }
})
