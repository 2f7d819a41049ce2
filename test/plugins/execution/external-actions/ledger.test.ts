import test from 'ava'
import { definePlugin, object } from '../../../../core/plugin.js'
import type { AnyPlugin, PluginContext } from '../../../../core/plugin.js'
import { ExternalActions } from '../../../../plugins/execution/external-actions/contract.js'
import type { ActionIntent } from '../../../../plugins/execution/external-actions/contract.js'
import { createDisk } from '../../../../core/state/real-disk.js'
import { showEntries } from '../../../../core/state/show.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { openSession, submit, until } from '../../../support/runs.js'

interface Hands { context: PluginContext<unknown>; ledger: ExternalActions }

/** Lends the ledger and the state to a test. */
const borrow = (lend: (hands: Hands) => void): AnyPlugin => definePlugin({
  id: 'borrower', version: '1.0.0', api: 1, summary: 'Lends the ledger to a test.', needs: { ledger: ExternalActions }, config: object({}),
  register: (context, { ledger }) => lend({ context, ledger }),
})

const intent = (more: Partial<ActionIntent> = {}): ActionIntent => ({
  action_id: 'd1', kind: 'delivery', session_id: 's1', target: 'http:https://example.com', request_digest: 'aa', attempt: 1, approved_by: { type: 'configuration', id: 'reply_target' }, ...more,
})

test('a run shows each of its actions once, with its first time, its latest attempt and what came of it', async (t) => {
  let hands: Hands | undefined
  const daemon = await startTestDaemon(t, { plugins: [borrow((lent) => { hands = lent })] })
  const { context: { state }, ledger } = hands ?? t.fail()
  await openSession(daemon)
  const { run_id } = await until(daemon, (await submit(daemon, 's1', 'hello')).run_id, 'completed')
  const actions = async (): Promise<any[]> => (await daemon.request('GET', `/v1/runs/${run_id}/external-actions`)).body
  t.deepEqual(await actions(), [])

  await state.commit((tx) => ledger.intend(tx, intent({ run_id })))
  const [pending] = await actions()
  t.like(pending, { action_id: 'd1', run_id, session_id: 's1', kind: 'delivery', outcome: 'pending', attempts: 1, sequence: 1, approved_by: { type: 'configuration', id: 'reply_target' } })
  t.is(typeof pending.agent_id, 'string', 'the agent of the run is added')

  await state.commit((tx) => ledger.conclude(tx, { action_id: 'd1', session_id: 's1', attempt: 1, outcome: 'failed', code: 'target_refused' }))
  t.like((await actions())[0], { outcome: 'failed', code: 'target_refused', timestamp_ms: pending.timestamp_ms })
  await state.commit((tx) => {
    ledger.intend(tx, intent({ run_id, action_id: 'd2' }))
    ledger.intend(tx, intent({ action_id: 'd3' }))
    ledger.intend(tx, intent({ run_id, attempt: 2 }))
  })
  t.deepEqual((await actions()).map(({ action_id, outcome, attempts, code }) => ({ action_id, outcome, attempts, code })), [
    { action_id: 'd1', outcome: 'pending', attempts: 2, code: undefined },
    { action_id: 'd2', outcome: 'pending', attempts: 1, code: undefined },
  ])
  await state.commit((tx) => ledger.conclude(tx, { action_id: 'd1', session_id: 's1', attempt: 2, outcome: 'done', response_digest: 'bb' }))
  const [done] = await actions()
  t.like(done, { outcome: 'done', attempts: 2, response_digest: 'bb', sequence: 6 })
  t.regex(done.hash, /^[0-9a-f]{64}$/u)
  t.deepEqual((await daemon.request('GET', '/v1/status')).body.external_actions, { unknown_run_count: 0 })
  await state.commit((tx) => ledger.conclude(tx, { action_id: 'd2', session_id: 's1', attempt: 1, outcome: 'unknown' }))
  t.deepEqual((await daemon.request('GET', '/v1/status')).body.external_actions, { unknown_run_count: 1 })
})

test('the actions of a run that is not there are not found', async (t) => {
  const daemon = await startTestDaemon(t)
  const { status, body } = await daemon.request('GET', '/v1/runs/none/external-actions')
  t.deepEqual([status, body.code], [404, 'run_not_found'])
})

test('each entry of a session carries the hash of the one before, and the head knows the last', async (t) => {
  let hands: Hands | undefined
  const daemon = await startTestDaemon(t, { plugins: [borrow((lent) => { hands = lent })] })
  const { context: { state }, ledger } = hands ?? t.fail()
  await openSession(daemon)
  await state.commit((tx) => { for (const action_id of ['a', 'b', 'c']) ledger.intend(tx, intent({ action_id })) })
  await daemon.stop()
  const entries: any = showEntries({ root: daemon.root, disk: createDisk() }, 'external_actions', 's1').value
  t.deepEqual(entries.map(({ prev }: any) => prev), ['', entries[0].hash, entries[1].hash])
})
