/** Work by a playbook, followed from its root run to its end. */
import test, { type ExecutionContext } from 'ava'
import type { JsonObject } from '../../../../core/plugin.js'
import { SessionHolds } from '../../../../plugins/execution/sessions/contract.js'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon, type TestDaemonOptions } from '../../../support/daemon.js'
import { inStatus, publish, startFlow, untilFlow } from '../../../support/flows.js'
import { testPlugin } from '../../../support/plugins.js'
import { refusing } from '../../../support/refusing.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { openStream } from '../../../support/sse.js'

const start = async (t: ExecutionContext, manifest: JsonObject = {}, options: TestDaemonOptions = {}) => {
  const daemon = await startTestDaemon(t, options)
  await openSession(daemon)
  return { ...daemon, playbook_ref: await publish(daemon, manifest) }
}

const review = { kind: 'review', id: 'x' }

test('flows-1, flows-3, flows-6: a flow and its root run are accepted together, and the run says so', async (t) => {
  const daemon = await start(t)
  const { playbook_ref } = daemon
  const answer = await startFlow(daemon, { playbook_ref, content: '/emit Notes.', metadata: { ticket: 7 } })
  t.is(answer.status, 201)
  const { flow_id, run_id } = answer.body
  t.regex(flow_id, /^flow_/u)
  t.is(answer.body.run.run_id, run_id)
  const flow = await untilFlow(daemon, flow_id, inStatus('succeeded'))
  t.like(flow, {
    session_id: 's1',
    playbook_ref,
    metadata: { ticket: 7 },
    contract: { passed: true },
    phase_states: [{ phase_id: 'write', status: 'satisfied' }],
    run_stream_url: `/v1/runs/${run_id}/stream`,
  })
  t.deepEqual(flow.primitive_refs.run_ids, [run_id])
  t.is(flow.primitive_refs.output_ids.length, flow.run.outputs.length)
  const { service_flow } = flow.run.input_metadata
  t.like(service_flow, { flow_id, ...playbook_ref })
  t.regex(service_flow.nonce, /^[0-9a-f]{32}$/u)
  const forged = { content: 'x', metadata: { service_flow: { flow_id } } }
  t.deepEqual(codeOf(await daemon.request('POST', '/v1/sessions/s1/runs', forged)), [400, 'reserved_metadata_key'])
  const inFlow = await daemon.request('POST', '/v1/flows', { playbook_ref, session_id: 's1', request: forged })
  t.deepEqual(codeOf(inFlow), [400, 'reserved_metadata_key'])
  t.is(inFlow.body.errors[0].path, 'body.request.metadata.service_flow')
  const failed = (await startFlow(daemon, { playbook_ref, content: '/fail fatal no' })).body
  await untilFlow(daemon, failed.flow_id, inStatus('failed'))
  const again = (await daemon.request('POST', `/v1/runs/${failed.run_id}/retry`, {})).body
  t.is(again.retry_of, failed.run_id)
  t.is(again.input_metadata, undefined, 'what repeats the root run is none of the flow')
  t.is((await daemon.request('GET', '/v1/flows')).body.length, 2)
  t.true((await daemon.request('GET', '/v1/capabilities')).body.flows)
})

test('flows-2: a retry that says the same is the same flow, whatever has happened; another one is refused', async (t) => {
  const daemon = await start(t)
  const { playbook_ref, request } = daemon
  const other = await publish(daemon, { version: '2' })
  await openSession(daemon, 's2')
  const body = {
    flow_id: 'f1',
    idempotency_key: 'k1',
    playbook_ref,
    session_id: 's1',
    request: { content: 'go' },
    metadata: { a: 1 },
    evidence_refs: [review],
  }
  const send = (more: object = {}, headers = {}) => request('POST', '/v1/flows', { ...body, ...more }, headers)
  const first = await send()
  t.is(first.status, 201)
  await untilFlow(daemon, 'f1', inStatus('succeeded'))
  const same = [send(), send({ idempotency_key: undefined }, { 'idempotency-key': 'k1' })]
  for (const again of await Promise.all(same)) t.is(again.body.run_id, first.body.run_id)
  const differing = [
    { playbook_ref: other },
    { session_id: 's2' },
    { request: { content: 'stop' } },
    { metadata: { a: 2 } },
    { evidence_refs: [] },
    { flow_id: 'f2' },
    { flow_id: undefined },
  ]
  for (const more of differing)
    t.deepEqual(codeOf(await send(more)), [409, 'idempotency_conflict'], JSON.stringify(more))
  for (const idempotency_key of [undefined, 'k2'])
    t.deepEqual(codeOf(await send({ idempotency_key })), [409, 'flow_conflict'])
  t.deepEqual(codeOf(await send({}, { 'idempotency-key': 'k9' })), [400, 'invalid_idempotency_key'])
  const evidence_refs = [review]
  await request('POST', '/v1/playbooks/notes/revoke', {
    ...playbook_ref,
    playbook_id: undefined,
    reason: 'r',
    evidence_refs,
  })
  t.is((await send()).body.run_id, first.body.run_id, 'also where its playbook was revoked since')
  t.is((await request('GET', '/v1/runs')).body.length, 1)
  const key = { ...body, playbook_ref: other, flow_id: undefined, idempotency_key: 'k3' }
  const both = await Promise.all([request('POST', '/v1/flows', key), request('POST', '/v1/flows', key)])
  t.is(both[0].body.flow_id, both[1].body.flow_id)
  t.is((await request('GET', '/v1/flows')).body.length, 2)
})

test('flows-4: a session that may do more than the playbook lets it starts no flow', async (t) => {
  const scopes = {
    required_capability_scope: { skill_allow: ['a', 'b'] },
    required_credential_scope: { connector_deny: ['*'] },
  }
  const daemon = await start(t, { scopes })
  const { playbook_ref, request } = daemon
  const capability_scope = { skill_allow: ['a'] }
  const narrow = { connector_deny: ['*'] }
  const sessions: [JsonObject, string | undefined][] = [
    [{}, 'capability_scope'],
    [{ capability_scope: { skill_allow: ['a', 'c'] } }, 'capability_scope'],
    [{ capability_scope }, 'credential_scope'],
    [{ capability_scope, credential_scope: { connector_deny: ['x'] } }, 'credential_scope'],
    [{ capability_scope, credential_scope: narrow }, undefined],
  ]
  for (const [n, [session, scope]] of sessions.entries()) {
    await request('POST', '/v1/sessions', { session_id: `n${n}`, ...session })
    const answer = await startFlow(daemon, { playbook_ref, session_id: `n${n}` })
    if (scope === undefined) t.is(answer.status, 201)
    else {
      t.deepEqual(codeOf(answer), [400, 'flow_scope_too_wide'])
      t.true(answer.body.detail.includes(scope), answer.body.detail)
    }
  }
  t.is((await request('GET', '/v1/runs')).body.length, 1)
})

test('flows-5: only what is published is started, under the digest that was looked at, with its defaults', async (t) => {
  const daemon = await start(t, { runtime_defaults: { model: 'demo-2' } })
  const { playbook_ref, request } = daemon
  const draft = { playbook_id: 'notes', version: '2', title: 't', objective: 'o' }
  const made = await request('POST', '/v1/playbooks', { manifest: draft })
  const { digest } = made.body.selected_version
  const refused: [JsonObject, [number, string]][] = [
    [{ playbook_id: 'notes', version: '2', digest }, [400, 'playbook_not_startable']],
    [{ ...playbook_ref, digest: 'ab' }, [400, 'playbook_digest_mismatch']],
    [{ ...playbook_ref, version: '9' }, [404, 'playbook_version_not_found']],
    [{ ...playbook_ref, playbook_id: 'nobody' }, [404, 'playbook_not_found']],
  ]
  for (const [ref, code] of refused) t.deepEqual(codeOf(await startFlow(daemon, { playbook_ref: ref })), code)
  t.deepEqual(codeOf(await startFlow(daemon, { playbook_ref, session_id: 'nobody' })), [404, 'session_not_found'])
  t.deepEqual(codeOf(await startFlow(daemon, { playbook_ref, content: ' ' })), [400, 'run_input_missing'])
  t.is((await request('GET', '/v1/runs')).body.length, 0)
  t.is((await startFlow(daemon, { playbook_ref })).body.run.request.model, 'demo-2')
  const own = { playbook_ref, session_id: 's1', request: { content: 'x', generation: { model: 'demo-3' } } }
  t.is((await request('POST', '/v1/flows', own)).body.run.request.model, 'demo-3')
})

const worker = (name: string, prompt: string): string =>
  `/tool spawn_agent ${JSON.stringify({ name, description: name, prompt, run_in_background: true })}`

test('flows-7: agents that runs started belong to the flow, however deep, with their runs and tasks', async (t) => {
  const daemon = await start(t)
  const { playbook_ref } = daemon
  const task = '/tool task_create {"title":"Weed","description":"The beds."}'
  const before = await submit(daemon, 's1', '/tool task_create {"title":"Earlier","description":"Not of the flow."}')
  await until(daemon, before.run_id, 'completed')
  const content = [worker('a', `${worker('b', `${task}\n/say deep`)}\n/say mid`), '/say top'].join('\n')
  const { flow_id, run_id } = (await startFlow(daemon, { playbook_ref, content })).body
  const going = await untilFlow(daemon, flow_id, ({ primitive_refs }) => primitive_refs.task_ids.length === 1)
  t.is(going.status, 'running')
  t.is(going.primitive_refs.run_ids.length, 3)
  t.is(going.primitive_refs.run_ids[0], run_id)
  t.is(going.primitive_refs.agent_ids.length, 2)
  t.is(going.completed_at_ms, undefined)
  const [task_id] = going.primitive_refs.task_ids
  await until(daemon, run_id, 'completed')
  const beside = await submit(daemon, 's1', task)
  await until(daemon, beside.run_id, 'completed')
  const same = (await daemon.request('GET', `/v1/flows/${flow_id}`)).body
  for (const list of ['run_ids', 'task_ids', 'agent_ids'])
    t.deepEqual(same.primitive_refs[list], going.primitive_refs[list], 'what others do in its session is not of it')
  const deep = (await daemon.request('GET', '/v1/agents/summaries')).body.find(({ name }: any) => name === 'b')
  const update = await submit(
    daemon,
    deep.session_id,
    `/tool task_update {"task_id":"${task_id}","status":"completed"}`,
  )
  await until(daemon, update.run_id, 'completed')
  const flow = await untilFlow(daemon, flow_id, inStatus('succeeded', 'failed'))
  t.is(flow.status, 'succeeded')
  t.true(flow.primitive_refs.run_ids.includes(update.run_id))
  const later = await submit(daemon, deep.session_id, '/fail fatal no')
  await until(daemon, later.run_id, 'failed')
  const { updated_at_ms: _, ...kept } = (await daemon.request('GET', `/v1/flows/${flow_id}`)).body
  t.like(kept, { status: 'succeeded', completed_at_ms: flow.completed_at_ms })
  t.deepEqual(kept.primitive_refs, flow.primitive_refs, 'what comes later changes nothing')
})

test('flows-7: an agent for which something is still to be done keeps its flow running', async (t) => {
  const held = new Set<string>()
  const plugin = testPlugin('holder', {
    register: (ctx) =>
      void ctx.contribute(SessionHolds, {
        id: 'holder',
        holds: (session_id) => (held.has(session_id) ? 'messages in its mailbox' : undefined),
      }),
  })
  const daemon = await start(t, {}, { plugins: [plugin] })
  const { playbook_ref } = daemon
  const input = { name: 'w', description: 'w', prompt: '/sleep 40', session_id: 'child', run_in_background: true }
  held.add('child')
  const content = `/tool spawn_agent ${JSON.stringify(input)}\n/say ok`
  const { flow_id } = (await startFlow(daemon, { playbook_ref, content })).body
  const isOver = ({ run, primitive_refs }: any) => run.status === 'completed' && primitive_refs.run_ids.length === 2
  const { primitive_refs } = await untilFlow(daemon, flow_id, isOver)
  await until(daemon, primitive_refs.run_ids[1], 'completed')
  t.like(await untilFlow(daemon, flow_id, isOver), { status: 'running', completed_at_ms: undefined })
  held.clear()
  t.is((await daemon.request('GET', `/v1/flows/${flow_id}`)).body.status, 'succeeded')
})

test('flows-8: waiting, running, failed, cancelled and interrupted flows say so', async (t) => {
  const daemon = await start(t)
  const { playbook_ref, request } = daemon
  const begin = async (session_id: string, content: string): Promise<string> => {
    await openSession(daemon, session_id)
    return (await startFlow(daemon, { playbook_ref, session_id, content })).body.flow_id
  }
  const asks = await begin('a', '/tool bash {"command":"true"}')
  const waits = await untilFlow(daemon, asks, inStatus('waiting'))
  t.is(waits.primitive_refs.approval_ids.length, 1)
  t.is(waits.phase_states[0].status, 'pending')
  const questions = await begin('b', '/ask Which? | A | B')
  t.is((await untilFlow(daemon, questions, inStatus('waiting'))).primitive_refs.question_ids.length, 1)
  const sleeps = await begin('c', '/sleep 600000')
  await untilFlow(daemon, sleeps, inStatus('running'))
  const fails = await begin('d', '/fail fatal no')
  t.like(await untilFlow(daemon, fails, inStatus('failed')), { phase_states: [{ status: 'blocked' }] })
  await request('POST', '/v1/sessions/c/interrupt', {})
  await untilFlow(daemon, sleeps, inStatus('interrupted'))
  const child = await begin('e', [worker('x', '/fail fatal no'), '/say fine'].join('\n'))
  t.like(await untilFlow(daemon, child, inStatus('failed')), { contract: { passed: true } })
  const task = await begin('f', '/tool task_create {"title":"T","description":"d"}')
  const going = await untilFlow(daemon, task, ({ run }) => run.status === 'completed')
  t.is(going.status, 'running')
  const [task_id] = going.primitive_refs.task_ids
  const tell = async (status: string): Promise<any> => {
    const content = `/tool task_update {"task_id":"${task_id}","status":"${status}"}`
    await until(daemon, (await submit(daemon, 'f', content)).run_id, 'completed')
    return (await request('GET', `/v1/flows/${task}`)).body.status
  }
  t.is(await tell('blocked'), 'waiting')
  t.is(await tell('in_progress'), 'running')
  t.is(await tell('failed'), 'failed')
})

test('flows-9: the first end is kept with its time, and stays over a restart', async (t) => {
  const daemon = await start(t)
  const { playbook_ref, root } = daemon
  const content = [worker('x', '/fail fatal no'), '/sleep 600000'].join('\n')
  const { flow_id, run_id } = (await startFlow(daemon, { playbook_ref, content })).body
  const failed = await untilFlow(daemon, flow_id, ({ completed_at_ms }) => completed_at_ms !== undefined)
  t.is(failed.status, 'failed')
  t.is((await until(daemon, run_id, 'running')).status, 'running', 'the root goes on')
  const [, child] = failed.primitive_refs.run_ids
  t.is(failed.completed_at_ms, (await until(daemon, child, 'failed')).finished_at_ms)
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`, {})
  t.like((await daemon.request('GET', `/v1/flows/${flow_id}`)).body, {
    status: 'failed',
    completed_at_ms: failed.completed_at_ms,
    run: { status: 'cancelled' },
  })
  await daemon.stop()
  const again = await startTestDaemon(t, { root })
  t.like((await again.request('GET', `/v1/flows/${flow_id}`)).body, {
    status: 'failed',
    completed_at_ms: failed.completed_at_ms,
    primitive_refs: failed.primitive_refs,
  })
})

test('flows-10, flows-11, flows-12: what a playbook requires must be added before a flow succeeds', async (t) => {
  const phase = { objective: 'o', acceptance_criteria: ['c'] }
  const daemon = await start(t, {
    phases: [
      { ...phase, phase_id: 'plan', required_evidence: [{ kind: 'run', id: '*' }] },
      { ...phase, phase_id: 'check', required_evidence: [review] },
      { ...phase, phase_id: 'tell' },
    ],
    required_evidence: [{ kind: 'release', id: '7' }],
  })
  const { playbook_ref, request } = daemon
  const { flow_id, run_id } = (await startFlow(daemon, { playbook_ref, evidence_refs: [review] })).body
  await until(daemon, run_id, 'completed')
  const waits = await untilFlow(daemon, flow_id, inStatus('waiting'))
  const states = ({ phase_states }: any) => phase_states.map(({ status }: any) => status)
  t.deepEqual(states(waits), ['blocked', 'satisfied', 'pending'])
  t.deepEqual(waits.phase_states[0].missing_evidence, [{ kind: 'run', id: '*' }])
  t.like(waits, { completed_at_ms: undefined, contract: { passed: false } })
  t.like(waits.contract.checks[0], { name: 'required_evidence', passed: false, details: 'Missing: release 7, run *.' })
  const add = (...evidence_refs: object[]) => request('POST', `/v1/flows/${flow_id}/evidence`, { evidence_refs })
  t.deepEqual(codeOf(await add({ kind: 'run', id: 'run_other' })), [400, 'flow_evidence_unresolved'])
  t.deepEqual(codeOf(await add({ kind: 'flow', id: 'another' })), [400, 'flow_evidence_unresolved'])
  t.deepEqual(codeOf(await add()), [400, 'bad_request'])
  t.deepEqual((await request('GET', `/v1/flows/${flow_id}`)).body, waits, 'what is refused changes nothing')
  const one = (await add({ kind: 'run', id: run_id }, { kind: 'flow', id: flow_id })).body
  t.is(one.status, 'waiting')
  t.deepEqual(states(one), ['satisfied', 'satisfied', 'pending'])
  const twice = (await add({ kind: 'run', id: run_id, description: 'again' }, { kind: 'note', id: 'n' })).body
  t.deepEqual(twice.evidence_refs, [...one.evidence_refs, { kind: 'note', id: 'n' }])
  const done = (await add({ kind: 'release', id: '7' })).body
  t.like(done, { status: 'succeeded', contract: { passed: true } })
  t.deepEqual(states(done), ['satisfied', 'satisfied', 'satisfied'])
  t.true(done.completed_at_ms >= done.run.finished_at_ms)
  const more = (await add({ kind: 'note', id: 'later' }, { kind: 'run', id: run_id })).body
  t.like(more, { status: 'succeeded', completed_at_ms: done.completed_at_ms })
  t.is(more.evidence_refs.length, done.evidence_refs.length + 1)
  const wrong = await startFlow(daemon, { playbook_ref, evidence_refs: [{ kind: 'run', id: run_id }] })
  t.deepEqual(codeOf(wrong), [400, 'flow_evidence_unresolved'])
  const own = await startFlow(daemon, { playbook_ref, flow_id: 'own', evidence_refs: [{ kind: 'flow', id: 'own' }] })
  t.is(own.status, 201)
})

test('flows-11: a completed run that called what its playbook does not let it fails the flow', async (t) => {
  const daemon = await start(t, { tools: { enforce: true, allow: ['task_*', 'spawn_agent'], deny: ['task_delete'] } })
  const { playbook_ref } = daemon
  const end = async (content: string, ref = playbook_ref): Promise<any> => {
    const { flow_id } = (await startFlow(daemon, { playbook_ref: ref, content })).body
    return untilFlow(daemon, flow_id, ({ completed_at_ms }) => completed_at_ms !== undefined)
  }
  t.like(await end('/tool task_list\n/say ok'), { status: 'succeeded', contract: { passed: true } })
  const stray = await end('/tool sleep {"ms":1}\n/say ok')
  t.like(stray, { status: 'failed', contract: { passed: false } })
  t.is(stray.completed_at_ms, stray.run.finished_at_ms)
  t.like(await end([worker('w', '/tool todo_write {"todos":[]}\n/say x'), '/say ok'].join('\n')), { status: 'failed' })
  const lax = await publish(daemon, { version: '2', tools: { allow: ['task_*'] } })
  t.like(await end('/tool todo_write {"todos":[]}\n/say ok', lax), { status: 'succeeded' })
})

test('flows-13: cancelling ends the root run and all agents; a flow that is over cannot be cancelled', async (t) => {
  const daemon = await start(t)
  const { playbook_ref, request } = daemon
  const content = [worker('w', '/sleep 600000'), '/sleep 600000'].join('\n')
  const { flow_id } = (await startFlow(daemon, { playbook_ref, content })).body
  await untilFlow(daemon, flow_id, ({ primitive_refs }) => primitive_refs.run_ids.length === 2)
  const { body } = await request('POST', `/v1/flows/${flow_id}/cancel`, {})
  t.is(body.status, 'cancelled')
  for (const run_id of body.primitive_refs.run_ids) await until(daemon, run_id, 'cancelled')
  t.deepEqual((await request('POST', `/v1/flows/${flow_id}/cancel`)).body, body)
  const task = '/tool task_create {"title":"T","description":"d"}'
  const open = (await startFlow(daemon, { playbook_ref, content: task })).body.flow_id
  await untilFlow(daemon, open, ({ run }) => run.status === 'completed')
  const left = (await request('POST', `/v1/flows/${open}/cancel`, {})).body
  t.like(left, { status: 'cancelled', run: { status: 'completed' }, phase_states: [{ status: 'blocked' }] })
  t.is((await request('GET', '/v1/sessions/s1/tasks')).body[0].status, 'pending')
  const demanding = await publish(daemon, { version: '2', required_evidence: [review] })
  const lacks = (await startFlow(daemon, { playbook_ref: demanding })).body.flow_id
  await untilFlow(daemon, lacks, inStatus('waiting'))
  t.is((await request('POST', `/v1/flows/${lacks}/cancel`)).body.status, 'cancelled')
  const late = await request('POST', `/v1/flows/${lacks}/evidence`, { evidence_refs: [review] })
  t.like(late.body, { status: 'cancelled', evidence_refs: [review] })
  const over = (await startFlow(daemon, { playbook_ref })).body.flow_id
  await untilFlow(daemon, over, inStatus('succeeded'))
  t.deepEqual(codeOf(await request('POST', `/v1/flows/${over}/cancel`)), [409, 'flow_state_conflict'])
  t.deepEqual(codeOf(await request('POST', '/v1/flows/nobody/cancel')), [404, 'flow_not_found'])
})

test('flows-16: the stream of a flow is that of its root run', async (t) => {
  const daemon = await start(t)
  const { playbook_ref } = daemon
  const { flow_id, run_id } = (await startFlow(daemon, { playbook_ref, content: '/ask A? | B | C' })).body
  await untilFlow(daemon, flow_id, inStatus('waiting'))
  const port = Number(new URL(daemon.url).port)
  const [flow, run] = [`/v1/flows/${flow_id}/stream`, `/v1/runs/${run_id}/stream`].map((path) =>
    openStream({ port, path: `${path}?cursor=0` }),
  )
  t.teardown(() => [flow, run].forEach((one) => one?.close()))
  await submit(daemon, 's1', 'not of the flow')
  await daemon.request('POST', `/v1/runs/${run_id}/cancel`, {})
  await run?.until(4)
  await flow?.until(run?.frames.length ?? 0)
  const heard = (client: typeof flow) => client?.frames.map(({ id, event }) => [id, event])
  t.true((heard(run)?.length ?? 0) >= 4)
  t.deepEqual(heard(flow), heard(run))
  t.deepEqual(codeOf(await daemon.request('GET', '/v1/flows/nobody/stream')), [404, 'flow_not_found'])
})

test('flows-6: flows are listed newest first, by playbook, session and status', async (t) => {
  const daemon = await start(t)
  const { playbook_ref, request } = daemon
  const other = await publish(daemon, { playbook_id: 'other' })
  await openSession(daemon, 's2')
  const made: string[] = []
  for (const [flow_id, ref, session_id, content] of [
    ['f1', playbook_ref, 's1', '/fail fatal no'],
    ['f2', other, 's1', 'x'],
    ['f3', playbook_ref, 's2', 'x'],
    ['f4', playbook_ref, 's2', '/ask A? | B | C'],
  ] as const) {
    await startFlow(daemon, { playbook_ref: ref, flow_id, session_id, content })
    await untilFlow(daemon, flow_id, inStatus('failed', 'succeeded', 'waiting'))
    made.push(flow_id)
  }
  const ids = async (query: string): Promise<string> => {
    const { body } = await request('GET', `/v1/flows${query}`)
    return (body.items ?? body).map(({ flow_id }: any) => flow_id).join(' ')
  }
  t.is(await ids(''), 'f4 f3 f2 f1')
  t.is(await ids('?playbook_id=notes'), 'f4 f3 f1')
  t.is(await ids('?session_id=s1'), 'f2 f1')
  t.is(await ids('?session_id=s1&playbook_id=notes'), 'f1')
  t.is(await ids('?status=succeeded'), 'f3 f2')
  t.is(await ids('?status=waiting&session_id=s2'), 'f4')
  t.is(await ids('?limit=2'), 'f4 f3')
  const page = (await request('GET', '/v1/flows?page=true&limit=3')).body
  t.like(page.pagination, { total_count: 4, has_more: true })
  t.is(await ids(`?limit=3&cursor=${page.pagination.next_cursor}`), 'f1')
  t.is(page.items[0].run, undefined)
  t.deepEqual(codeOf(await request('GET', '/v1/flows?status=gone')), [400, 'bad_request'])
})

test('flows-17: the command line starts, shows, attests and cancels flows', async (t) => {
  const daemon = await start(t, { required_evidence: [review] })
  const { playbook_ref } = daemon
  const line = createCommandLine(daemon)
  t.regex((await line('flows', 'list')).out, /No flows yet/u)
  const named = ['s1', 'notes', '1', 'Write them.', '--digest', String(playbook_ref['digest']), '--id', 'f1']
  t.regex(
    (await line('flows', 'start', ...named)).out,
    /^f1 {2}(?:running|waiting) {2}notes 1 {2}s1\n[^]* {2}run {6}run_/u,
  )
  const streamed = await line('flows', 'stream', 'f1')
  t.is(streamed.code, 0)
  t.regex(streamed.out, /completed/u)
  await untilFlow(daemon, 'f1', inStatus('waiting'))
  t.regex((await line('flows', 'get', 'f1')).out, /open {2}required_evidence {2}Missing: review x\./u)
  t.regex((await line('flows', 'evidence', 'f1', '--evidence', 'run:none')).err, /no run none/u)
  t.regex((await line('flows', 'evidence', 'f1', '--evidence', 'review:x')).out, /^f1 {2}succeeded/u)
  t.regex((await line('flows', 'list', '--status', 'succeeded')).out, /^f1 {2}succeeded/u)
  t.regex((await line('flows', 'cancel', 'f1')).err, /cannot be cancelled/u)
  const missing = await line('flows', 'verify-product-view', 'f1', 'none.md', '--section', 'A')
  t.is(missing.code, 1)
  t.regex(missing.out, /failed {2}report {2}It is not there\./u)
})

test('flows-18: a flow with more than is looked at is unknown, and lists no more ids than it may', async (t) => {
  const daemon = await start(t, {}, { config: { flows: { max_members: 3, max_listed: 1 } } })
  const { playbook_ref, request } = daemon
  const task = (n: number) => `/tool task_create {"title":"T${n}","description":"d"}`
  const few = (await startFlow(daemon, { playbook_ref, content: [1, 2].map(task).join('\n') })).body.flow_id
  const flow = await untilFlow(daemon, few, ({ run }) => run.status === 'completed')
  t.like(flow, { status: 'running', primitive_refs_truncated: true })
  t.is(flow.primitive_refs.task_ids.length, 1)
  const tasks: any[] = (await request('GET', '/v1/sessions/s1/tasks')).body
  const evidence_refs = tasks.map(({ id }) => ({ kind: 'task', id }))
  const attested = await request('POST', `/v1/flows/${few}/evidence`, { evidence_refs })
  t.is(attested.body.evidence_refs.length, 2, 'what is not listed belongs to it all the same')
  const many = (await startFlow(daemon, { playbook_ref, content: [3, 4, 5].map(task).join('\n') })).body.flow_id
  const beyond = await untilFlow(daemon, many, ({ run }) => run.status === 'completed')
  t.like(beyond, { status: 'unknown', completed_at_ms: undefined, phase_states: [{ status: 'pending' }] })
})

test('flows-12: a kind and an id with blanks in them are what they are', async (t) => {
  const required_evidence = [
    { kind: 'review x', id: 'y' },
    { kind: 'review', id: 'x y' },
  ]
  const daemon = await start(t, { required_evidence })
  const { flow_id } = (await startFlow(daemon, { playbook_ref: daemon.playbook_ref })).body
  await untilFlow(daemon, flow_id, inStatus('waiting'))
  const { body } = await daemon.request('POST', `/v1/flows/${flow_id}/evidence`, { evidence_refs: required_evidence })
  t.like(body, { status: 'succeeded', evidence_refs: required_evidence })
})

/** A child of a flow for which a message waits that cannot be told, and which so counts as working. */
const withMail = async (t: ExecutionContext, script: string) => {
  const { plugin, refuse, allow } = refusing()
  const daemon = await start(t, {}, { plugins: [plugin] })
  const { playbook_ref, request } = daemon
  const { flow_id } = (await startFlow(daemon, { playbook_ref, content: worker('w', script) })).body
  const { primitive_refs } = await untilFlow(
    daemon,
    flow_id,
    ({ primitive_refs: { agent_ids } }) => agent_ids.length > 0,
  )
  const [to_agent_id] = primitive_refs.agent_ids
  const { session_id } = (await request('GET', '/v1/agents/summaries')).body.find(
    ({ agent_id }: any) => agent_id === to_agent_id,
  )
  const letter = { from_agent_id: to_agent_id, to_agent_id, subject: 'x', payload: {} }
  const { message_id } = (await request('POST', '/v1/mailboxes', letter)).body
  refuse(session_id)
  return { daemon, flow_id, to_agent_id, session_id, message_id, allow: () => allow(session_id) }
}

test('flows-9: a flow whose last agent comes to rest when its mailbox is emptied is kept then', async (t) => {
  const { daemon, flow_id, to_agent_id, session_id, message_id, allow } = await withMail(t, '/sleep 3000\n/say done')
  await untilFlow(daemon, flow_id, ({ primitive_refs }) => primitive_refs.run_ids.length === 2)
  for (const run of (await daemon.request('GET', `/v1/runs?session_id=${session_id}`)).body)
    await until(daemon, run.run_id, 'completed')
  t.is((await daemon.request('GET', `/v1/flows/${flow_id}`)).body.status, 'running')
  await daemon.request('POST', `/v1/agents/${to_agent_id}/mailbox/${message_id}/ack`)
  await untilFlow(daemon, flow_id, inStatus('succeeded'))
  allow()
  const { run_id } = await submit(daemon, session_id, '/fail fatal no')
  await until(daemon, run_id, 'failed')
  t.is((await daemon.request('GET', `/v1/flows/${flow_id}`)).body.status, 'succeeded')
})

test('flows-13: messages and questions of agents of a cancelled flow are taken back', async (t) => {
  const { daemon, ...mail } = await withMail(t, '/sleep 3000\n/say done')
  t.is((await daemon.request('POST', `/v1/flows/${mail.flow_id}/cancel`)).body.status, 'cancelled')
  const [dead] = (await daemon.request('GET', `/v1/agents/${mail.to_agent_id}/mailbox/dead-letter`)).body
  t.like(dead, { id: mail.message_id, last_error: 'the flow of its reader was cancelled' })
  const question = { question: 'Which?', options: [{ label: 'a' }, { label: 'b' }] }
  const asks = `/tool request_parent_clarification ${JSON.stringify({ questions: [question] })}`
  const { flow_id } = (await startFlow(daemon, { playbook_ref: daemon.playbook_ref, content: worker('q', asks) })).body
  const waits = await untilFlow(daemon, flow_id, inStatus('waiting'))
  const asked = (await daemon.request('GET', '/v1/questions')).body
  t.deepEqual(waits.primitive_refs.question_ids, [asked[0].request.id])
  const { body } = await daemon.request('POST', `/v1/flows/${flow_id}/cancel`)
  t.is(body.status, 'cancelled')
  t.deepEqual((await daemon.request('GET', '/v1/questions')).body, [])
  const runs = async () => (await daemon.request('GET', '/v1/runs')).body
  t.deepEqual(
    (await runs()).filter(({ status }: any) => !['completed', 'cancelled', 'failed'].includes(status)),
    [],
  )
  t.deepEqual(
    (await runs()).filter(({ kind }: any) => kind === 'mailbox_delivery'),
    [],
  )
})
