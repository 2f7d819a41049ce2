import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { codeOf, eventTypes, openSession, submit, until } from '../../../support/runs.js'

/** A daemon whose wall clock the test moves; its timers run as always. */
const start = async (t: any, { after_ms, root }: { after_ms: number; root?: string }) => {
  const world = createWorld()
  const real = createClock()
  const time = { ahead: 0 }
  const clock = { ...real, now: () => real.now() + time.ahead }
  const daemon = await startTestDaemon(t, {
    plugins: [effectTools(world)],
    clock,
    config: { runs: { approval_expires_after_ms: after_ms } },
    ...(root !== undefined && { root }),
  })
  if (root === undefined) await openSession(daemon)
  return {
    world,
    daemon,
    jump: (ms: number) => {
      time.ahead += ms
    },
  }
}

const hour = 3_600_000

const asking = async (daemon: TestDaemon, ...whats: string[]): Promise<any> => {
  const run = await submit(
    daemon,
    's1',
    `${whats.map((what) => `/tool mcp__pay ${JSON.stringify({ what })}`).join('\n')}\n---\n/say On we go.`,
  )
  return until(daemon, run.run_id, 'waiting_for_approval')
}

const resolutionsOf = async (daemon: TestDaemon, run_id: string): Promise<any[]> =>
  (await daemon.request('GET', `/v1/runs/${run_id}/events`)).body.flatMap(({ event }: any) =>
    event.type === 'approval_resolved' ? event.resolutions : [],
  )

const outcomesOf = async (daemon: TestDaemon): Promise<any[]> =>
  (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.journal
    .filter(({ type }: any) => type === 'outcome')
    .map(({ entry }: any) => entry)

test('a request that nobody answers is denied by time when the clock says so, the model is told, and the run goes on', async (t) => {
  const { world, daemon, jump } = await start(t, { after_ms: hour })
  const run = await asking(daemon, 'a', 'b', 'c')
  const [a, b, c] = run.pending_approval_ids
  for (const request of run.pending_approvals) t.is(request.expires_at_ms - request.created_at_ms, hour)
  await daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, {
    resolutions: [{ request_id: b, behavior: 'deny', reason: 'no' }],
  })
  jump(hour)
  t.is((await until(daemon, run.run_id, 'completed')).outputs[0].content, 'On we go.')
  t.deepEqual(world.calls, [])
  t.deepEqual(
    (await resolutionsOf(daemon, run.run_id)).map(({ request_id, behavior, decided_by }) => [
      request_id,
      behavior,
      decided_by,
    ]),
    [
      [b, 'deny', 'operator'],
      [a, 'deny', 'timeout'],
      [c, 'deny', 'timeout'],
    ],
  )
  t.deepEqual(
    (await outcomesOf(daemon)).map(({ state, output }) => [state, output.error.code]),
    [
      ['refused', 'call_denied_by_operator'],
      ['refused', 'approval_expired'],
      ['refused', 'approval_expired'],
    ],
  )
})

test(
  'approvals-18: a late answer is refused as expired, by run and by session, also while the run waits for ' +
    'something else',
  async (t) => {
    const { world, daemon, jump } = await start(t, { after_ms: hour })
    const run = await submit(daemon, 's1', '/tool mcp__pay {"what":"a"}\n---\n/tool mcp__pay {"what":"b"}')
    const [a] = (await until(daemon, run.run_id, 'waiting_for_approval')).pending_approval_ids
    jump(hour)
    const body = { resolutions: [{ request_id: a, behavior: 'allow' }] }
    const late = await daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, body)
    t.deepEqual([...codeOf(late), late.body.domain], [409, 'approval_expired', 'approvals'])
    for (;;) {
      const { pending_approval_ids: [b] = [] } = await until(daemon, run.run_id, 'waiting_for_approval', 'running')
      if (b !== undefined && b !== a) break
    }
    t.deepEqual(codeOf(await daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, body)), [
      409,
      'approval_expired',
    ])
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/approvals', body)), [409, 'approval_expired'])
    jump(hour)
    await until(daemon, run.run_id, 'completed')
    t.deepEqual(codeOf(await daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, body)), [
      409,
      'approval_expired',
    ])
    t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/approval-runs', body)), [409, 'approval_expired'])
    t.deepEqual(world.calls, [])
  },
)

test(
  'approvals-17: a deadline that passes while the daemon is down is kept at the next start, and by default ' +
    'there is none',
  async (t) => {
    const first = await start(t, { after_ms: hour })
    const run = await asking(first.daemon, 'a')
    await first.daemon.stop()
    const second = await start(t, { after_ms: 0, root: first.daemon.root })
    t.is((await second.daemon.request('GET', `/v1/runs/${run.run_id}`)).body.status, 'waiting_for_approval')
    await second.daemon.stop()
    const real = createClock()
    const third = await startTestDaemon(t, {
      root: first.daemon.root,
      plugins: [effectTools(createWorld())],
      clock: { ...real, now: () => real.now() + hour },
    })
    await until(third, run.run_id, 'completed')
    t.deepEqual(
      (await resolutionsOf(third, run.run_id)).map(({ decided_by }) => decided_by),
      ['timeout'],
    )
    const open = await asking(third, 'b')
    t.false('expires_at_ms' in open.pending_approvals[0])
  },
)

test('the status counts what is due as over', async (t) => {
  const { daemon, jump } = await start(t, { after_ms: hour })
  const asks = await submit(
    daemon,
    's1',
    '/tool ask_user_question ' +
      '{"questions":[{"question":"Now?","options":[{"label":"Yes"},{"label":"No"}]}],"expires_after_ms":1000000}',
  )
  await until(daemon, asks.run_id, 'waiting_for_user_question')
  t.like((await daemon.request('GET', '/v1/status')).body.runs, {
    pending_question_count: 1,
    waiting_for_user_question: 1,
  })
  jump(hour)
  t.like((await daemon.request('GET', '/v1/status')).body.runs, {
    pending_question_count: 0,
    waiting_for_user_question: 0,
    cancelled: 1,
  })
})

test('a run that ends while it waits leaves no request open: its history says that the end decided', async (t) => {
  const { world, daemon } = await start(t, { after_ms: 0 })
  const cancelled = await asking(daemon, 'a', 'b')
  await daemon.request('POST', `/v1/runs/${cancelled.run_id}/cancel`)
  const interrupted = await asking(daemon, 'c')
  await daemon.request('POST', '/v1/sessions/s1/interrupt')
  for (const { run_id, pending_approval_ids } of [cancelled, interrupted]) {
    const decided = await resolutionsOf(daemon, run_id)
    t.deepEqual(
      decided.map(({ request_id, behavior, decided_by }) => [request_id, behavior, decided_by]),
      pending_approval_ids.map((id: string) => [id, 'deny', 'cancel']),
    )
    t.is((await eventTypes(daemon, run_id)).at(-2), 'approval_resolved')
  }
  const asked = await submit(daemon, 's1', '/ask One? | A | B')
  const { pending_question_ids } = await until(daemon, asked.run_id, 'waiting_for_user_question')
  await daemon.request('POST', '/v1/sessions/s1/end')
  const events = (await daemon.request('GET', `/v1/runs/${asked.run_id}/events`)).body
  t.like(events.at(-2).event, {
    type: 'user_question_resolved',
    resolution: { request_id: pending_question_ids[0], declined: true, decided_by: 'cancel' },
  })
  t.deepEqual(world.calls, [])
})
