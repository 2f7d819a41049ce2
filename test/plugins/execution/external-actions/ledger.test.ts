import test, { type ExecutionContext } from 'ava'
import type { AnyPlugin } from '../../../../core/plugin.js'
import { ExternalActions, type ActionIntent } from '../../../../plugins/execution/external-actions/contract.js'
import { hashOf, newHash } from '../../../../plugins/execution/external-actions/store.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { showEntries } from '../../../../core/state/inspect/show.js'
import { Trace } from '../../../../plugins/execution/runs/contract.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { openSession, submit, until } from '../../../support/runs.js'
import { lender, testPlugin } from '../../../support/plugins.js'

/** A daemon with a session, its state and its ledger. */
const startLent = async (t: ExecutionContext) => {
  const { plugin, context, services } = lender({ ledger: ExternalActions })
  const daemon = await startTestDaemon(t, { plugins: [plugin] })
  await openSession(daemon)
  return { daemon, state: context().state, ledger: services().ledger }
}

const intent = (more: Partial<ActionIntent> = {}): ActionIntent => ({
  action_id: 'd1',
  kind: 'delivery',
  session_id: 's1',
  target: 'http:https://example.com',
  request_digest: 'aa',
  attempt: 1,
  approved_by: { type: 'configuration', id: 'reply_target' },
  ...more,
})

test('a run shows each of its actions once, with its first time, its latest attempt and what came of it', async (t) => {
  const { daemon, state, ledger } = await startLent(t)
  const { run_id } = await until(daemon, (await submit(daemon, 's1', 'hello')).run_id, 'completed')
  const actions = async (): Promise<any[]> => (await daemon.request('GET', `/v1/runs/${run_id}/external-actions`)).body
  t.deepEqual(await actions(), [])

  await state.commit((tx) => ledger.intend(tx, intent({ run_id, agent_id: 'agent_1' })))
  const [pending] = await actions()
  t.like(pending, {
    action_id: 'd1',
    run_id,
    agent_id: 'agent_1',
    session_id: 's1',
    kind: 'delivery',
    outcome: 'pending',
    attempts: 1,
    sequence: 1,
    approved_by: { type: 'configuration', id: 'reply_target' },
  })

  await state.commit((tx) =>
    ledger.conclude(tx, { action_id: 'd1', session_id: 's1', attempt: 1, outcome: 'failed', code: 'target_refused' }),
  )
  t.like((await actions())[0], { outcome: 'failed', code: 'target_refused', timestamp_ms: pending.timestamp_ms })
  await state.commit((tx) => {
    ledger.intend(tx, intent({ run_id, action_id: 'd2' }))
    ledger.intend(tx, intent({ action_id: 'd3' }))
    ledger.intend(tx, intent({ run_id, attempt: 2 }))
  })
  t.deepEqual(
    (await actions()).map(({ action_id, outcome, attempts, code }) => ({ action_id, outcome, attempts, code })),
    [
      { action_id: 'd1', outcome: 'pending', attempts: 2, code: undefined },
      { action_id: 'd2', outcome: 'pending', attempts: 1, code: undefined },
    ],
  )
  await state.commit((tx) =>
    ledger.conclude(tx, { action_id: 'd1', session_id: 's1', attempt: 2, outcome: 'done', response_digest: 'bb' }),
  )
  const [done] = await actions()
  t.like(done, { outcome: 'done', attempts: 2, response_digest: 'bb', sequence: 6 })
  t.regex(done.hash, /^[0-9a-f]{64}$/u)
  t.deepEqual((await daemon.request('GET', '/v1/status')).body.external_actions, { unknown_run_count: 0 })
  await state.commit((tx) => ledger.conclude(tx, { action_id: 'd2', session_id: 's1', attempt: 1, outcome: 'unknown' }))
  t.deepEqual((await daemon.request('GET', '/v1/status')).body.external_actions, { unknown_run_count: 1 })
  await state.commit((tx) => {
    ledger.intend(tx, intent({ run_id, action_id: 'd2', attempt: 2 }))
    ledger.conclude(tx, { action_id: 'd2', session_id: 's1', attempt: 2, outcome: 'done' })
  })
  t.deepEqual(
    (await daemon.request('GET', '/v1/status')).body.external_actions,
    { unknown_run_count: 0 },
    'another attempt made it known',
  )
})

test('the actions of a run that is not there are not found', async (t) => {
  const daemon = await startTestDaemon(t)
  const { status, body } = await daemon.request('GET', '/v1/runs/none/external-actions')
  t.deepEqual([status, body.code], [404, 'run_not_found'])
})

test('external-actions-13: each entry of a session carries the hash of the one before, and the head knows the last', async (t) => {
  const { daemon, state, ledger } = await startLent(t)
  await state.commit((tx) => {
    for (const action_id of ['a', 'b', 'c']) ledger.intend(tx, intent({ action_id }))
  })
  await daemon.stop()
  const entries: any = showEntries({ root: daemon.root, disk: createDisk() }, 'external_actions', 's1').value
  t.deepEqual(
    entries.map(({ prev }: any) => prev),
    ['', entries[0].hash, entries[1].hash],
  )
})

test('external-actions-13: the hash of an entry covers all that it holds, in whatever order', async (t) => {
  const link = { at: 3, action_id: 'a', attempt: 1, prev: 'p' }
  const {
    action_id: _,
    session_id: __,
    attempt: ___,
    ...given
  } = intent({ agent_id: 'g', run_id: 'r', tool_call_id: 'c' })
  const outcome = { ...link, type: 'outcome' as const, outcome: 'failed' as const, code: 'x', response_digest: 'y' }
  for (const entry of [
    { ...link, type: 'intent' as const, ...given },
    outcome,
    { ...link, type: 'acknowledgement' as const, by: 'admin', note: 'n' },
  ])
    t.is(newHash('s1', entry), hashOf('s1', entry))
  t.not(newHash('s1', outcome), newHash('s2', outcome))
})

test('what a run leaves behind when it ends is unknown: its tool calls, and not its deliveries', async (t) => {
  const { daemon, state, ledger } = await startLent(t)
  const { run_id } = await until(daemon, (await submit(daemon, 's1', 'hello')).run_id, 'completed')
  await state.commit((tx) => {
    for (const action_id of ['a', 'b', 'c'])
      ledger.intend(tx, intent({ action_id, run_id, kind: action_id === 'c' ? 'delivery' : 'tool' }))
    ledger.conclude(tx, { action_id: 'a', session_id: 's1', attempt: 1, outcome: 'done' })
    ledger.abandon(tx, run_id, 'lost')
    ledger.abandon(tx, run_id, 'lost')
    ledger.abandon(tx, 'another', 'lost')
  })
  const { body } = await daemon.request('GET', `/v1/runs/${run_id}/external-actions`)
  t.deepEqual(
    body.map(({ action_id, outcome, code, sequence }: any) => [action_id, outcome, code, sequence]),
    [
      ['a', 'done', undefined, 4],
      ['b', 'unknown', 'lost', 5],
      ['c', 'pending', undefined, 3],
    ],
  )
})

test('external-actions-12: those who watch are told of the intent before the effect, and of what came of it', async (t) => {
  const seen: any[] = []
  const watcher: AnyPlugin = testPlugin('watcher', {
    register: (ctx) =>
      ctx.onStart(() =>
        ctx.events.on(Trace, ({ trace }) => {
          if (trace.kind.type === 'external_action') seen.push(trace)
        }),
      ),
  })
  const daemon = await startTestDaemon(t, { plugins: [watcher, effectTools({ ...createWorld(), calls: seen })] })
  await openSession(daemon)
  const { run_id } = await until(daemon, (await submit(daemon, 's1', '/tool pay {"what":"rent"}')).run_id, 'completed')
  const [before, act, after] = seen
  t.is(act, 'pay:rent')
  t.like(before, {
    run_id,
    session_id: 's1',
    kind: { type: 'external_action', phase: 'intent', kind: 'tool', target: 'pay' },
  })
  t.like(after, { run_id, kind: { phase: 'outcome', target: 'pay', outcome: 'done' } })
  t.is(typeof before.kind.request_digest + typeof after.kind.response_digest, 'stringstring')
})
