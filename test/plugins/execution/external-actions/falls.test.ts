/** Nothing falls that somebody still has to look at: docs/rules/retention.md. */
import test, { type ExecutionContext } from 'ava'
import { ExternalActions, type ActionOutcome } from '../../../../plugins/execution/external-actions/contract.js'
import { verifyShipped } from '../../../support/copied-root.js'
import { freshRoot, startTestDaemon } from '../../../support/daemon.js'
import { createLeapingClock } from '../../../../core/testing/leaping-clock.js'
import { lender } from '../../../support/plugins.js'
import { day, retain, weekOfRuns } from '../../../support/retention.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'

const start = async (t: ExecutionContext) => {
  const [root, clock, lent] = [await freshRoot(), createLeapingClock(), lender({ ledger: ExternalActions })]
  const daemon = await startTestDaemon(t, { root, clock, config: { retention: weekOfRuns }, plugins: [lent.plugin] })
  await openSession(daemon)
  const run = async (content: string, status = 'completed'): Promise<string> => {
    const { run_id } = await submit(daemon, 's1', content)
    await until(daemon, run_id, status)
    return run_id
  }
  /** Enters an action of a run as some plugin would. */
  const act = (run_id: string, outcome: ActionOutcome['outcome'], kind: 'tool' | 'delivery' = 'tool') =>
    lent.context().state.commit((tx) => {
      const action = { action_id: `${run_id}/pay`, session_id: 's1', attempt: 1 }
      const approved_by = { type: 'configuration' as const, id: 'default' }
      lent.services().ledger.intend(tx, { ...action, kind, run_id, target: 'pay', request_digest: 'aa', approved_by })
      lent.services().ledger.conclude(tx, { ...action, outcome })
    })
  const age = async (): Promise<any> => {
    await retain(daemon, true)
    clock.leap(20 * day)
    return (await retain(daemon, false)).parts
  }
  const get = (run_id: string, more = '') => daemon.request('GET', `/v1/runs/${run_id}${more}`)
  const acknowledge = (run_id: string) => daemon.request('POST', `/v1/runs/${run_id}/external-actions/acknowledge`)
  return { ...daemon, root, run, act, age, get, acknowledge }
}

test('retention-4: a run with an unknown effect stays with its ledger until somebody acknowledges it', async (t) => {
  const daemon = await start(t)
  const [plain, unknown] = [await daemon.run('one'), await daemon.run('two')]
  await daemon.act(plain, 'done')
  await daemon.act(unknown, 'unknown')
  const before = (await daemon.get(unknown, '/external-actions')).body
  t.like(before, [{ outcome: 'unknown' }])
  t.like(await daemon.age(), [{ kind: 'runs', records: 1 }])
  t.deepEqual(codeOf(await daemon.get(plain)), [404, 'run_expired'])
  t.is((await daemon.get(unknown)).body.status, 'completed')
  t.deepEqual((await daemon.get(unknown, '/external-actions')).body, before)
  t.deepEqual(await daemon.age(), [])
  const { stays_because } = (await daemon.request('GET', '/v1/status')).body.retention.kinds.runs
  t.regex(stays_because, new RegExp(`because runs ${unknown} can still change`, 'u'))
  t.is((await daemon.acknowledge(unknown)).status, 200)
  t.like(await daemon.age(), [{ kind: 'runs', records: 1 }])
  t.deepEqual(codeOf(await daemon.get(unknown)), [404, 'run_expired'])
  await daemon.stop()
  t.deepEqual((await verifyShipped(daemon.root)).findings, [])
})

test('retention-4: so does one whose effect became unknown before it ended', async (t) => {
  const daemon = await start(t)
  const run_id = await daemon.run('/ask Well? | A | B', 'waiting_for_user_question')
  await daemon.act(run_id, 'unknown')
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`)
  await until(daemon, run_id, 'cancelled', 'interrupted')
  t.deepEqual(await daemon.age(), [])
  t.is((await daemon.get(run_id)).status, 200)
})

test('a run whose delivery had an unknown attempt falls once the next one has arrived', async (t) => {
  const daemon = await start(t)
  const run_id = await daemon.run('one')
  await daemon.act(run_id, 'unknown', 'delivery')
  t.deepEqual(await daemon.age(), [])
  await daemon.act(run_id, 'done', 'delivery')
  t.like(await daemon.age(), [{ kind: 'runs', records: 1 }])
})

test('an effect that became unknown after its run fell is listed until it is acknowledged', async (t) => {
  const daemon = await start(t)
  const run_id = await daemon.run('one')
  t.like(await daemon.age(), [{ kind: 'runs', records: 1 }])
  await daemon.act(run_id, 'unknown', 'delivery')
  await daemon.age()
  const count = async () => (await daemon.request('GET', '/v1/status')).body.external_actions.unknown_run_count
  t.is(await count(), 1)
  t.deepEqual((await daemon.request('GET', '/v1/runs?unknown=true')).body, [])
  t.is((await daemon.acknowledge(run_id)).status, 200)
  t.is(await count(), 0)
  t.deepEqual(codeOf(await daemon.acknowledge(run_id)), [404, 'run_expired'])
})
