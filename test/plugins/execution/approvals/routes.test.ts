import test from 'ava'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { createWorld, effectTools } from '../../../support/effects.js'
import { codeOf, eventTypes, openSession, submit, until } from '../../../support/runs.js'

const start = async (t: any) => {
  const world = createWorld()
  const daemon = await startTestDaemon(t, { plugins: [effectTools(world)] })
  await openSession(daemon)
  return { world, daemon }
}

/** A run that waits for approval of these inputs. */
const asking = async (daemon: TestDaemon, ...whats: string[]): Promise<any> => {
  const run = await submit(daemon, 's1', whats.map((what) => `/tool mcp__pay ${JSON.stringify({ what })}`).join('\n'))
  return until(daemon, run.run_id, 'waiting_for_approval')
}

const allow = (request_id: string) => ({ request_id, behavior: 'allow' })

test('approvals-6: an approved call runs once and the run goes on to its answer', async (t) => {
  const { world, daemon } = await start(t)
  const run = await asking(daemon, 'a')
  t.like(run, { pending_approvals: [{ tool_name: 'mcp__pay', input: { what: 'a' } }], request: { approval_count: 1 } })
  t.like((await daemon.request('GET', '/v1/sessions/s1')).body.snapshot, {
    agent: { status: 'waiting_for_approval' },
    pending_approvals: [{ id: run.pending_approval_ids[0] }],
  })
  t.deepEqual(world.calls, [])
  const answer = await daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, {
    resolutions: [allow(run.pending_approval_ids[0])],
  })
  t.is(answer.status, 202)
  const ended = await until(daemon, run.run_id, 'completed')
  t.false('pending_approvals' in ended)
  t.deepEqual(world.calls, ['mcp__pay:a'])
  t.deepEqual(await eventTypes(daemon, run.run_id), [
    'accepted',
    'queued',
    'started',
    'waiting_for_approval',
    'approval_resolved',
    'output',
    'completed',
  ])
  const events = (await daemon.request('GET', `/v1/runs/${run.run_id}/events`)).body
  t.like(events[4].event.resolutions[0], { behavior: 'allow', decided_by: 'operator' })
  t.regex(events[4].event.resolutions[0].input_digest, /^[0-9a-f]{64}$/u)
  t.like(events[3].event, { requests: [{ input: { what: 'a' } }] })
})

test('a denied call never runs and the model is told why', async (t) => {
  const { world, daemon } = await start(t)
  const run = await asking(daemon, 'a')
  const { body } = await daemon.request('POST', '/v1/sessions/s1/approvals', {
    resolutions: [{ request_id: run.pending_approval_ids[0], behavior: 'deny', reason: 'too dear' }],
  })
  t.is(body.snapshot.agent.status, 'completed')
  t.deepEqual(world.calls, [])
  const journal = (await daemon.request('GET', '/v1/sessions/s1/events')).body.session.journal
  t.like(journal.find((entry: any) => entry.type === 'outcome').entry, {
    state: 'refused',
    output: { error: { code: 'call_denied_by_operator', reason: 'too dear' } },
  })
})

test("an updated input replaces the model's, if it fits the tool", async (t) => {
  const { world, daemon } = await start(t)
  const run = await asking(daemon, 'a')
  const [request_id] = run.pending_approval_ids
  const wrong = await daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, {
    resolutions: [{ ...allow(request_id), updated_input: { what: 7 } }],
  })
  t.deepEqual(codeOf(wrong), [400, 'approval_updated_input_invalid'])
  t.is(wrong.body.errors[0].path, 'body.resolutions.0.updated_input.what')
  const denied = await daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, {
    resolutions: [{ request_id, behavior: 'deny', updated_input: { what: 'b' } }],
  })
  t.deepEqual(codeOf(denied), [400, 'approval_updated_input_invalid'])
  await daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, {
    resolutions: [{ ...allow(request_id), updated_input: { what: 'b' } }],
  })
  await until(daemon, run.run_id, 'completed')
  t.deepEqual(world.calls, ['mcp__pay:b'])
})

test('a batch is all or nothing: an empty, duplicate or stale one changes nothing', async (t) => {
  const { world, daemon } = await start(t)
  const run = await asking(daemon, 'a', 'b')
  const [a, b] = run.pending_approval_ids
  const send = (resolutions: unknown) => daemon.request('POST', `/v1/runs/${run.run_id}/approvals`, { resolutions })
  t.deepEqual(codeOf(await send([])), [400, 'approval_batch_empty'])
  t.deepEqual(codeOf(await send([allow(a), allow(a)])), [400, 'approval_duplicate_resolution'])
  t.deepEqual(codeOf(await send([allow(a), allow('approval_gone')])), [400, 'approval_request_not_pending'])
  t.deepEqual((await daemon.request('GET', `/v1/runs/${run.run_id}`)).body.pending_approval_ids, [a, b])
  t.is((await send([allow(b)])).body.status, 'waiting_for_approval')
  t.deepEqual(codeOf(await send([allow(b)])), [400, 'approval_request_not_pending'])
  t.deepEqual(world.calls, [])
  await send([{ request_id: a, behavior: 'deny' }])
  await until(daemon, run.run_id, 'completed')
  t.deepEqual(world.calls, ['mcp__pay:b'])
  t.deepEqual(codeOf(await send([allow(a)])), [409, 'approval_state_conflict'])
  const late = await daemon.request('POST', '/v1/sessions/s1/approval-runs', { resolutions: [allow(a)] })
  t.deepEqual(codeOf(late), [409, 'approval_state_conflict'])
  t.is(late.body.detail, 'Nothing waits for approval here: session s1 is without a run that waits.')
})

test('unknown sessions and runs are named, and foreign fields refused', async (t) => {
  const { daemon } = await start(t)
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/none/approvals', { resolutions: [] })), [
    404,
    'session_not_found',
  ])
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/runs/none/approvals', { resolutions: [] })), [
    404,
    'run_not_found',
  ])
  t.is(
    (
      await daemon.request('POST', '/v1/sessions/s1/approvals', {
        resolutions: [{ request_id: 'x', behavior: 'maybe' }],
      })
    ).status,
    400,
  )
})

test('an idempotency key gives the same run for the same decisions and a conflict for others', async (t) => {
  const { world, daemon } = await start(t)
  const run = await asking(daemon, 'a')
  const body = { resolutions: [allow(run.pending_approval_ids[0])] }
  const at = `/v1/runs/${run.run_id}/approvals`
  t.deepEqual(
    codeOf(await daemon.request('POST', at, { ...body, idempotency_key: 'k' }, { 'idempotency-key': 'other' })),
    [400, 'invalid_idempotency_key'],
  )
  t.deepEqual(codeOf(await daemon.request('POST', at, { ...body, idempotency_key: ' ' })), [
    400,
    'invalid_idempotency_key',
  ])
  t.is((await daemon.request('POST', at, body, { 'idempotency-key': 'k' })).status, 202)
  await until(daemon, run.run_id, 'completed')
  const again = await daemon.request('POST', at, { ...body, idempotency_key: 'k' })
  t.is(again.status, 202)
  t.like(again.body, { run_id: run.run_id, status: 'completed' })
  t.deepEqual(
    codeOf(
      await daemon.request(
        'POST',
        at,
        { resolutions: [{ ...body.resolutions[0], behavior: 'deny' }] },
        { 'idempotency-key': 'k' },
      ),
    ),
    [409, 'idempotency_conflict'],
  )
  t.deepEqual(world.calls, ['mcp__pay:a'])
})

test('approvals-10: a decision by session is repeated by its key, although its run has ended', async (t) => {
  const { world, daemon } = await start(t)
  const run = await asking(daemon, 'a')
  const send = (way: string) =>
    daemon.request(
      'POST',
      `/v1/sessions/s1/${way}`,
      { resolutions: [allow(run.pending_approval_ids[0])] },
      { 'idempotency-key': 'k' },
    )
  t.is((await send('approval-runs')).status, 202)
  await until(daemon, run.run_id, 'completed')
  const again = await send('approval-runs')
  t.deepEqual([again.status, again.body.run_id, again.body.status], [202, run.run_id, 'completed'])
  t.is((await send('approvals')).status, 200)
  t.deepEqual(world.calls, ['mcp__pay:a'])
})

test('fifty equal decisions at once have one effect, and of fifty different ones the first counts', async (t) => {
  const { world, daemon } = await start(t)
  const run = await asking(daemon, 'a')
  const at = `/v1/runs/${run.run_id}/approvals`
  const equal = await Promise.all(
    Array.from({ length: 50 }, () =>
      daemon.request('POST', at, { resolutions: [allow(run.pending_approval_ids[0])] }, { 'idempotency-key': 'same' }),
    ),
  )
  t.deepEqual([...new Set(equal.map(({ status, body }) => `${status} ${body.run_id}`))], [`202 ${run.run_id}`])
  await until(daemon, run.run_id, 'completed')
  t.deepEqual(world.calls, ['mcp__pay:a'])
  const next = await asking(daemon, 'b')
  const different = await Promise.all(
    Array.from({ length: 50 }, (_, at_) =>
      daemon.request(
        'POST',
        `/v1/runs/${next.run_id}/approvals`,
        { resolutions: [{ ...allow(next.pending_approval_ids[0]), updated_input: { what: `b${at_}` } }] },
        { 'idempotency-key': 'one-key' },
      ),
    ),
  )
  t.deepEqual(different.map(({ status }) => status).toSorted(), [202, ...Array.from({ length: 49 }, () => 409)])
  await until(daemon, next.run_id, 'completed')
  t.is(world.calls.length, 2)
})

test('open approvals survive a restart with their ids and their receipts', async (t) => {
  const world = createWorld()
  const plugins = [effectTools(world)]
  const first = await startTestDaemon(t, { plugins })
  await openSession(first)
  const { root } = first
  const run = await asking(first, 'a', 'b')
  const [a, b] = run.pending_approval_ids
  await first.request(
    'POST',
    `/v1/runs/${run.run_id}/approvals`,
    { resolutions: [allow(a)] },
    { 'idempotency-key': 'k' },
  )
  await first.stop()
  const second = await startTestDaemon(t, { root, plugins })
  t.deepEqual((await second.request('GET', `/v1/runs/${run.run_id}`)).body.pending_approval_ids, [b])
  t.is(
    (
      await second.request(
        'POST',
        `/v1/runs/${run.run_id}/approvals`,
        { resolutions: [allow(a)] },
        { 'idempotency-key': 'k' },
      )
    ).status,
    202,
  )
  await second.request('POST', `/v1/runs/${run.run_id}/approvals`, { resolutions: [allow(b)] })
  await until(second, run.run_id, 'completed')
  t.deepEqual(world.calls, ['mcp__pay:a', 'mcp__pay:b'])
})
