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

/** The commits of one schedule, over a store in memory; its runs end as they begin. */
const bench = () => {
  const kept = { record: due, submitted: 0 }
  const clock = createClock()
  const tx: Tx = unsafeCast({ now: 2000, after: () => {} })
  const commits = createScheduleCommits(
    unsafeCast({
      store: {
        state: { commit: async (change: (tx: Tx) => unknown) => change(tx) },
        schedules: { find: () => kept.record },
        find: () => kept.record,
        put: (_: Tx, record: ScheduleRecord) => void (kept.record = record),
      },
      runs: {
        submit: async () => ((kept.submitted += 1), run),
        find: () => run,
        replayed: () => undefined,
      },
      clock,
      ids: createIds(clock),
      log: silent,
      config: {},
    }),
  )
  return { kept, commits, claim: () => commits.claim([kept.record], { now: 2000, awake_since: 1 }) }
}

test('a schedule that is cancelled while a claim goes to the disk makes no run', async (t) => {
  const { kept, commits, claim } = bench()
  const claimed = await claim()
  t.is(claimed.length, 1)
  kept.record = cancel(kept.record, 2000, () => true)
  await commits.send(claimed)
  t.is(kept.submitted, 0)
  t.like(kept.record, { status: 'canceled', executions: [{ status: 'rolled_back' }] })
})

test('nobody waits for the end of a run that was over when its dispatch was noted', async (t) => {
  const { kept, commits, claim } = bench()
  await commits.send(await claim())
  t.like(kept.record.executions, [{ status: 'settled', run_id: 'run_1' }])
  t.is(commits.settle(run), undefined)
})
