import test from 'ava'
import { unsafeCast } from '../../../../../core/plugin.js'
import { createWaiters } from '../../../../../plugins/execution/runs/lifecycle/waiters.js'
import { runRecord } from '../../../../support/run-store.js'

test('a listener for ended runs that throws is told with its error, and keeps no other from hearing', (t) => {
  const told: unknown[] = []
  const log = { error: (fact: string, details: unknown) => void told.push([fact, details]) }
  const waiters = createWaiters(unsafeCast({}), unsafeCast(log))
  const error = new Error('broken')
  const heard: string[] = []
  waiters.onEnded(() => {
    throw error
  })
  waiters.onEnded(({ run_id }) => heard.push(run_id))
  waiters.halted(runRecord('r1', 's1', 'completed', { finished_at_ms: 1 }))
  t.deepEqual(heard, ['r1'])
  t.deepEqual(told, [['a listener for ended runs threw, which its contract forbids', { run_id: 'r1', error }]])
})
