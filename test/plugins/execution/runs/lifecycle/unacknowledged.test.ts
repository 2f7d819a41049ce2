import test from 'ava'
import { unsafeCast } from '../../../../../core/base/schema.js'
import { unknownRepair } from '../../../../../plugins/execution/runs/lifecycle/unacknowledged.js'
import type { RunRecord } from '../../../../../plugins/execution/runs/contract.js'

test('ended runs of earlier versions with an unknown effect are marked at the start, once', async (t) => {
  const kept = [
    { run_id: 'ended', status: 'completed' },
    { run_id: 'open', status: 'running' },
  ]
  const runs = new Map<string, RunRecord>(kept.map((run) => [run.run_id, unsafeCast(run)]))
  const put = (_: unknown, run: RunRecord): void => void runs.set(run.run_id, run)
  const repair = unknownRepair(
    unsafeCast({
      store: { runs, state: { commit: async (change: (tx: object) => void) => change({ put }) } },
      ledger: () => ({ unknown: () => ['ended', 'open', 'fell'] }),
    }),
  )
  Object.assign(runs, { find: (run_id: string) => runs.get(run_id) })
  const found = await repair.check()
  t.deepEqual(found, ['ended'])
  await repair.fix(found)
  t.like(runs.get('ended'), { unacknowledged: true })
  t.like(runs.get('open'), { unacknowledged: undefined })
  t.deepEqual(await repair.check(), [])
})
