/** Which goal a model means. */
import test from 'ava'
import { unsafeCast } from '../../../../core/plugin.js'
import type { Runs } from '../../../../plugins/execution/runs/contract.js'
import { createAsked } from '../../../../plugins/coordination/goals/asked.js'
import { created, type GoalRecord } from '../../../../plugins/coordination/goals/record.js'

const moment = (now: number) => ({ now, usage: { input_tokens: 0, output_tokens: 0 } })
const goalAt = (now: number, more: Partial<GoalRecord> = {}): GoalRecord => ({
  ...created({ goal_id: `g${now}`, session_id: 's', objective: 'x', status: 'paused' }, moment(now)),
  ...more,
})

const withRun = (run: object) => {
  let goal: GoalRecord | undefined
  const asked = createAsked({ find: () => goal }, { find: () => unsafeCast<ReturnType<Runs['find']>>(run) })
  const note = (now: GoalRecord | undefined): void => {
    goal = now
    asked.note({ run_id: 'r', session_id: 's' })
  }
  return { asked, note }
}

test('goals-4: where an earlier life of the daemon has asked, a goal is meant that has not changed since the run began', (t) => {
  const { asked } = withRun({ status: 'running', begun_at_ms: 10, started_at_ms: 90 })
  t.true(asked.isOf('r', goalAt(10)))
  t.false(asked.isOf('r', goalAt(20)), 'also if the run began anew behind it')
  t.true(asked.isOf('r', goalAt(20, { created_by_run_id: 'r' })))
  t.false(asked.isOf('r', goalAt(20, { created_by_run_id: 'r', version: 2 })))
})

test('goals-4: what was there when the model was asked last counts, and nothing is kept of runs that are over', (t) => {
  const { asked, note } = withRun({ status: 'running', started_at_ms: 10 })
  note(undefined)
  t.false(asked.isOf('r', goalAt(10)), 'there was none')
  note(goalAt(20))
  t.true(asked.isOf('r', goalAt(20)))
  t.false(asked.isOf('r', goalAt(20, { version: 2 })))
  asked.forget('r')
  t.false(asked.isOf('r', goalAt(20)))
  const over = withRun({ status: 'completed', started_at_ms: 10, finished_at_ms: 15 })
  over.note(goalAt(20))
  t.false(over.asked.isOf('r', goalAt(20)))
})
