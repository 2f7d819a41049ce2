import test from 'ava'
import type { RunKind } from '../../../../../plugins/execution/runs/contract.js'
import { judgeRuns, runRepair } from '../../../../../plugins/execution/runs/lifecycle/repair.js'
import type { ChangeContext } from '../../../../../plugins/execution/runs/lifecycle/run-engine.js'
import { unsafeCast } from '../../../../../core/base/schema.js'
import { openRunStore, runRecord as run } from '../../../../support/run-store.js'

const open = (t: any, abandoned: string[]): Promise<ChangeContext> =>
  openRunStore(t, {
    ledger: () => unsafeCast({ abandon: (_: unknown, run_id: string) => abandoned.push(run_id) }),
  })

test('every open run gets one verdict, and a second look finds nothing', async (t) => {
  const abandoned: string[] = []
  const parts = await open(t, abandoned)
  const runs = [
    run('r01', 's1', 'running'),
    run('r02', 's1', 'waiting_for_approval'),
    run('r03', 's1', 'waiting_for_user_question'),
    run('r04', 's1', 'waiting_for_approval', { kind: 'scheduled_input' }),
    run('r05', 's1', 'queued'),
    run('r06', 's2', 'running'),
    run('r07', 's3', 'running', { released: true, unclean_boots: 2 }),
    run('r08', 's4', 'running', { unclean_boots: 2 }),
    run('r09', 's5', 'queued'),
    run('r10', 's6', 'waiting_for_user_question'),
    run('r11', 's7', 'running', { stopping: { kind: 'cancel' } }),
    run('r12', 's8', 'waiting_for_approval', { stopping: { kind: 'end', reason: 'session_ended: why' } }),
  ]
  await parts.store.state.commit((tx) => {
    for (const each of runs) tx.insert(parts.store.runs, each)
  })
  const step = runRepair(parts, 3)
  const verdicts = judgeRuns(parts, 3)
  t.deepEqual(verdicts.map(({ run_id, type }) => `${run_id} ${type}`).toSorted(), [
    'r01 interrupt',
    'r03 interrupt',
    'r04 requeue',
    'r06 resume',
    'r07 resume',
    'r08 interrupt',
    'r11 resume',
    'r12 stop',
  ])
  await step.fix(verdicts)
  t.deepEqual(step.check(), [])
  const now = (id: string): any => parts.store.runs.find(id)
  t.deepEqual(
    runs.map(({ run_id }) => `${run_id} ${now(run_id).status}`),
    [
      'r01 interrupted',
      'r02 waiting_for_approval',
      'r03 interrupted',
      'r04 queued',
      'r05 queued',
      'r06 running',
      'r07 running',
      'r08 interrupted',
      'r09 queued',
      'r10 waiting_for_user_question',
      'r11 running',
      'r12 interrupted',
    ],
  )
  t.deepEqual(
    [now('r11').stopping, now('r12').error, now('r12').stopping],
    [{ kind: 'cancel' }, 'session_ended: why', undefined],
  )
  t.deepEqual(abandoned.toSorted(), ['r01', 'r03', 'r04', 'r08', 'r12'], 'what their effects came to is unknown')
  t.like(now('r06'), { owner: 5, unclean_boots: 1 })
  t.like(now('r07'), { owner: 5, unclean_boots: 2 })
  t.regex(now('r08').error, /^crash_loop_quarantined: /u)
  t.regex(now('r03').error, /^several_active_runs: /u)
  await step.fix(verdicts)
  t.deepEqual(step.check(), [])
})

test('what a run asked that is put aside or begins anew is closed in the name of the recovery', async (t) => {
  const parts = await open(t, [])
  const { store } = parts
  const ask = (id: string) => ({
    id,
    tool_call_id: `call_${id}`,
    tool_name: 'bash',
    input: {},
    scope: 'session' as const,
    reason: null,
  })
  await store.state.commit((tx) => {
    const waits = (run_id: string, event: any, more: { kind?: RunKind } = {}): void => {
      const waiting = tx.append(store.journal, 's1', { run_id, at: 1, type: 'event', event })
      tx.insert(
        store.runs,
        unsafeCast({ ...run(run_id, 's1', event.type, more), waiting, pending: event.request_ids.slice(1) }),
      )
    }
    waits('r1', { type: 'waiting_for_approval', request_ids: ['-', 'keeps'], requests: [ask('-'), ask('keeps')] })
    waits('r2', {
      type: 'waiting_for_approval',
      request_ids: ['decided', 'a', 'b'],
      requests: [ask('decided'), ask('a'), ask('b')],
    })
    waits('r3', {
      type: 'waiting_for_user_question',
      request_ids: ['-', 'q'],
      requests: [{ id: 'q', tool_call_id: 'call_q', questions: [], created_at_ms: 1 }],
    })
    waits(
      'r4',
      { type: 'waiting_for_approval', request_ids: ['-', 'again'], requests: [ask('again')] },
      { kind: 'scheduled_input' },
    )
  })
  await runRepair(parts, 3).fix(judgeRuns(parts, 3))
  const closed = store.journal.read('s1', { after: 0, limit: 100 }).flatMap(({ entry }) => {
    if (entry.type !== 'event') return []
    const { event } = entry
    if (event.type === 'approval_resolved')
      return event.resolutions.map(({ request_id, behavior, decided_by }) => [
        entry.run_id,
        request_id,
        behavior,
        decided_by,
      ])
    return event.type === 'user_question_resolved'
      ? [[entry.run_id, event.resolution.request_id, event.resolution.declined, event.resolution.decided_by]]
      : []
  })
  t.deepEqual(closed.toSorted(), [
    ['r2', 'a', 'deny', 'recovery'],
    ['r2', 'b', 'deny', 'recovery'],
    ['r3', 'q', true, 'recovery'],
    ['r4', 'again', 'deny', 'recovery'],
  ])
  const kept: any = store.runs.find('r1')
  t.deepEqual([kept.status, kept.pending], ['waiting_for_approval', ['keeps']])
})
