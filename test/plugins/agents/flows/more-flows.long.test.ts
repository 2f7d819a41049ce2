/** Reports of flows, flows of schedules, and flows through kills. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import type { JsonObject } from '../../../../core/plugin.js'
import { freshRoot, spawnDaemon, startTestDaemon } from '../../../support/daemon.js'
import { inStatus, publish, startFlow, untilFlow } from '../../../support/flows.js'
import { watcher } from '../../../support/interceptors.js'
import { codeOf, openSession } from '../../../support/runs.js'

const clock = createClock()

const start = async (t: ExecutionContext, manifest: JsonObject = {}) => {
  const workspace = await freshRoot()
  t.teardown(() => rmSync(workspace, { recursive: true, force: true }))
  const daemon = await startTestDaemon(t, { flags: { 'workspace-root': workspace } })
  await openSession(daemon)
  return { ...daemon, workspace, playbook_ref: await publish(daemon, manifest) }
}

test('flows-14: a report is looked at inside the workspace, and is evidence where all is as it must be', async (t) => {
  const daemon = await start(t, { required_evidence: [{ kind: 'product_view', id: 'docs/report.md' }] })
  const { playbook_ref, request, workspace } = daemon
  const content = '/tool todo_write {"todos":[]}\n/say ok'
  const { flow_id } = (await startFlow(daemon, { playbook_ref, content })).body
  await untilFlow(daemon, flow_id, inStatus('waiting'))
  const verify = (body: JsonObject) => request('POST', `/v1/flows/${flow_id}/verify/product-view`, body)
  for (const report_path of ['/etc/passwd', '../x.md', 'a/../../x.md', 'C:\\x.md', 'a\u0000b', '..']) {
    const answer = await verify({ report_path })
    t.deepEqual(codeOf(answer), [400, 'flow_report_path_invalid'], report_path)
  }
  const checks = async (body: JsonObject): Promise<string[]> => {
    const answer = await verify({ report_path: 'docs/report.md', ...body })
    t.is(answer.status, 200)
    t.is(
      answer.body.passed,
      answer.body.checks.every(({ passed }: any) => passed),
    )
    t.is(answer.body.evidence !== undefined, answer.body.passed)
    return answer.body.checks.flatMap(({ name, passed }: any) => (passed ? [] : [name]))
  }
  t.deepEqual(await checks({}), ['report'])
  mkdirSync(join(workspace, 'docs'))
  symlinkSync('/etc/hostname', join(workspace, 'docs', 'out.md'))
  t.deepEqual(await checks({ report_path: 'docs/out.md' }), ['report'])
  t.deepEqual(await checks({ report_path: 'docs' }), ['report'])
  writeFileSync(join(workspace, 'docs', 'report.md'), '# Summary ##\n\n```\n# Hidden\n```\n  ## Open points\nRisks\n')
  const required_sections = ['summary', 'Open Points', 'Hidden', 'Risks']
  t.deepEqual(await checks({ required_sections }), ['section:Hidden', 'section:Risks'])
  t.deepEqual(await checks({ forbidden_tools: ['todo_*'] }), ['forbidden_tools'])
  t.is((await request('GET', `/v1/flows/${flow_id}`)).body.status, 'waiting', 'what did not pass is no evidence')
  t.deepEqual(await checks({ required_sections: ['Summary'], forbidden_tools: ['bash'] }), [])
  const flow = (await request('GET', `/v1/flows/${flow_id}`)).body
  t.is(flow.status, 'succeeded')
  t.like(flow.evidence_refs[0], { kind: 'product_view', id: 'docs/report.md' })
  t.regex(flow.evidence_refs[0].description, /^SHA-256 [0-9a-f]{64}$/u)
  writeFileSync(join(workspace, 'docs', 'report.md'), '# Changed\n<!--\n# Comment\n-->\nUnder\n=====\n')
  t.deepEqual(await checks({ required_sections: ['changed', 'under', 'comment'] }), ['section:comment'])
  const renewed = await verify({ report_path: 'docs/report.md' })
  const { evidence_refs } = (await request('GET', `/v1/flows/${flow_id}`)).body
  t.deepEqual(evidence_refs, [renewed.body.evidence], 'what is said last of a report is its evidence')
  t.not(evidence_refs[0].description, flow.evidence_refs[0].description)
})

test('flows-14, flows-12: a report that a person attests is told from one that was looked at', async (t) => {
  const id = 'docs/report.md'
  const daemon = await start(t, { required_evidence: [{ kind: 'product_view', id }] })
  const { playbook_ref, request, workspace } = daemon
  const begin = async (more: JsonObject = {}): Promise<string> => {
    const { flow_id } = (await startFlow(daemon, { playbook_ref, content: '/say ok', ...more })).body
    return (await untilFlow(daemon, flow_id, ({ run }) => run.status === 'completed')).flow_id
  }
  const flow_id = await begin()
  const attest = (of: string, more: JsonObject = {}) =>
    request('POST', `/v1/flows/${of}/evidence`, { evidence_refs: [{ kind: 'product_view', id, ...more }] })
  t.is((await attest(flow_id, { verified_at_ms: 1 })).status, 400, 'nobody but the daemon says that')
  t.is((await request('GET', `/v1/flows/${flow_id}`)).body.status, 'waiting')
  mkdirSync(join(workspace, 'docs'))
  writeFileSync(join(workspace, id), '# Summary\n')
  const verify = (of: string) => request('POST', `/v1/flows/${of}/verify/product-view`, { report_path: id })
  const seen = (await verify(flow_id)).body.evidence
  t.is(typeof seen.verified_at_ms, 'number')
  t.deepEqual((await verify(flow_id)).body.evidence, seen, 'the same again stays as it was')
  t.deepEqual((await attest(flow_id, { description: 'I say so' })).body.evidence_refs, [seen])
  const details = async (of: string): Promise<string> =>
    (await request('GET', `/v1/flows/${of}`)).body.contract.checks[0].details
  t.is(await details(flow_id), 'All that is required is there.')
  const { description } = seen
  const other = await begin({ evidence_refs: [{ kind: 'product_view', id, description }] })
  const told = await untilFlow(daemon, other, inStatus('succeeded'))
  t.deepEqual(told.evidence_refs, [{ kind: 'product_view', id, description }])
  t.is(
    await details(other),
    `All that is required is there. A person attests, and the daemon has not looked at: product_view ${id}.`,
  )
  t.is(typeof (await verify(other)).body.evidence.verified_at_ms, 'number', 'what it finds stands in its place')
})

test('flows-1: a flow whose run is refused, by a hook or for what it requires, is not there; its files are', async (t) => {
  const hook = watcher()
  hook.rules.user_prompt_submit = ({ payload }) =>
    JSON.stringify(payload).includes('forbidden') ? { block: 'not this' } : undefined
  const daemon = await startTestDaemon(t, { plugins: [hook.plugin] })
  await openSession(daemon)
  const playbook_ref = await publish(daemon)
  const send = (input: JsonObject) =>
    daemon.request('POST', '/v1/flows', { playbook_ref, session_id: 's1', request: input })
  t.deepEqual(codeOf(await send({ content: 'forbidden' })), [403, 'hook_blocked'])
  const outside = [{ type: 'workspace_file', path: '../out.md' }]
  const answer = await send({ content: 'x', completion_requirements: outside })
  t.deepEqual(codeOf(answer), [400, 'completion_requirement_invalid'])
  t.regex(answer.body.errors[0].path, /^body\.request\.completion_requirements/u)
  t.deepEqual((await daemon.request('GET', '/v1/flows')).body, [])
  t.deepEqual((await daemon.request('GET', '/v1/runs')).body, [])
  const file = { file_name: 'a.txt', media_type: 'text/plain', content_base64: Buffer.from('hello').toString('base64') }
  const made = await send({ content: 'x', attachments: [file] })
  t.is(made.body.run.input_attachments[0].file_name, 'a.txt')
  await untilFlow(daemon, made.body.flow_id, inStatus('succeeded'))
})

test('flows-15: each fire of a schedule is a flow of its own, which names its schedule', async (t) => {
  const daemon = await start(t)
  const { playbook_ref, request } = daemon
  const flow_start = { playbook_ref, request: { content: 'go' }, metadata: { from: 'schedule' } }
  const create = (more: JsonObject, cadence: JsonObject = { type: 'interval', every_seconds: 3_600 }) =>
    request('POST', '/v1/schedules', {
      name: 'n',
      target_session_id: 's1',
      cadence,
      flow_start: { ...flow_start, ...more },
    })
  await openSession(daemon, 's2')
  const wrong: [JsonObject, string][] = [
    [{ flow_id: 'f' }, 'body.flow_start.flow_id'],
    [{ idempotency_key: 'k' }, 'body.flow_start.idempotency_key'],
    [{ session_id: 's2' }, 'body.flow_start.session_id'],
    [{ request: undefined }, 'body.flow_start.request'],
    [{ playbook_ref: { ...playbook_ref, digest: 'x' } }, 'body.flow_start.playbook_ref'],
    [{ playbook_ref: { ...playbook_ref, version: '9' } }, 'body.flow_start.playbook_ref'],
    [{ evidence_refs: [{ kind: 'run', id: 'run_1' }] }, 'body.flow_start.evidence_refs.0.id'],
  ]
  for (const [more, path] of wrong) {
    const answer = await create(more)
    t.deepEqual([answer.status, answer.body.errors[0].path], [400, path])
  }
  const forged = await create({ metadata: { service_flow: { flow_id: 'notes-1' } } })
  t.deepEqual(codeOf(forged), [400, 'reserved_metadata_key'], 'as the start would refuse it')
  t.is(forged.body.errors[0].path, 'body.flow_start.metadata.service_flow')
  t.deepEqual((await request('GET', '/v1/schedules')).body, [])
  const { schedule_id } = (await create({})).body
  for (const n of [1, 2]) {
    await request('POST', `/v1/schedules/${schedule_id}/trigger`, {})
    for (;;) {
      const { execution_count, in_flight_run_id } = (await request('GET', `/v1/schedules/${schedule_id}`)).body
      if (execution_count === n && in_flight_run_id === undefined) break
      await clock.sleep(5)
    }
  }
  const flows: any[] = (await request('GET', '/v1/flows')).body
  t.is(flows.length, 2)
  t.not(flows[0].flow_id, flows[1].flow_id)
  for (const { flow_id } of flows) {
    const flow = await untilFlow(daemon, flow_id, inStatus('succeeded'))
    t.deepEqual(flow.primitive_refs.schedule_ids, [schedule_id])
    t.like(flow, {
      metadata: { from: 'schedule' },
      run: { kind: 'scheduled_input', request: { actor_id: schedule_id } },
    })
    t.is(flow.run.input_metadata.service_flow.flow_id, flow_id)
  }
})

test('flows-15: a schedule that fires once keeps the name that it is given, and makes both where it has none', async (t) => {
  const daemon = await start(t)
  const { playbook_ref, request } = daemon
  const once = async (more: JsonObject): Promise<any> => {
    const { body } = await request('POST', '/v1/schedules', {
      name: 'n',
      target_session_id: 's1',
      cadence: { type: 'once', fire_at_ms: 1 },
      flow_start: { playbook_ref, request: { content: 'go' }, ...more },
    })
    for (;;) {
      const { last_dispatched_run_id } = (await request('GET', `/v1/schedules/${body.schedule_id}`)).body
      const flows: any[] = (await request('GET', '/v1/flows')).body
      const made = flows.find(({ run_id }) => run_id === last_dispatched_run_id)
      if (made !== undefined) return made
      await clock.sleep(5)
    }
  }
  const again = (more: JsonObject) => startFlow(daemon, { playbook_ref, ...more })
  const none = await once({})
  t.regex(none.flow_id, /^flow_[0-9a-f]{26}$/u)
  const named = await once({ flow_id: 'mine' })
  t.is(named.flow_id, 'mine')
  t.is((await again({ flow_id: 'mine' })).body.run_id, named.run_id, 'it has no key')
  const keyed = await once({ idempotency_key: 'k' })
  t.is((await again({ idempotency_key: 'k' })).body.flow_id, keyed.flow_id, 'it has no id that was given')
  t.is((await request('GET', '/v1/flows')).body.length, 3)
})

test('flows-15: a schedule that could never start its flow is refused when it is made', async (t) => {
  const daemon = await start(t)
  const { playbook_ref, request } = daemon
  const create = (more: JsonObject) =>
    request('POST', '/v1/schedules', {
      name: 'n',
      target_session_id: 's1',
      cadence: { type: 'once', fire_at_ms: 4_000_000_000_000 },
      flow_start: { playbook_ref, request: { content: 'go' }, ...more },
    })
  const known = { flow_id: 'f1', idempotency_key: 'k1' }
  await startFlow(daemon, { playbook_ref, ...known })
  for (const [field, value] of Object.entries(known)) {
    const answer = await create({ [field]: value, request: { content: 'another' } })
    t.deepEqual(codeOf(answer), [400, 'invalid_schedule'])
    t.is(answer.body.errors[0].path, `body.flow_start.${field}`)
  }
  const { version, digest } = playbook_ref
  await request('POST', '/v1/playbooks/notes/revoke', { version, digest, reason: 'wrong', evidence_refs: [] })
  const revoked = await create({})
  t.deepEqual(codeOf(revoked), [400, 'invalid_schedule'])
  t.deepEqual(revoked.body.errors, [
    { path: 'body.flow_start.playbook_ref', rule: 'must name a version that was not revoked' },
  ])
  t.deepEqual((await request('GET', '/v1/schedules')).body, [])
})

test('flows-1, flows-9: through kills a flow has its run, a run its flow, and each flow ends at the same time', async (t) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  let daemon = await spawnDaemon({ root })
  const playbook_ref = await publish(daemon)
  const ends = new Map<string, number>()
  const asked = new Set<string>()
  for (let kill = 0; kill < 6; kill += 1) {
    let answered = 0
    const sent = Array.from({ length: 12 }, (_, n) => {
      const flow_id = `f${kill}-${n}`
      const session_id = `s${n}`
      asked.add(flow_id)
      return openSession(daemon, session_id)
        .then(() => startFlow(daemon, { playbook_ref, flow_id, session_id, content: `/sleep ${n * 3}\n/say ok` }))
        .then(() => (answered += 1))
        .catch(() => undefined)
    })
    while (answered < 1 + kill * 2) await clock.sleep(1)
    await daemon.kill('SIGKILL')
    await Promise.all(sent)
    daemon = await spawnDaemon({ root })
  }
  const flows: any[] = (await daemon.request('GET', '/v1/flows?limit=100')).body
  const runs: any[] = (await daemon.request('GET', '/v1/runs?limit=100')).body
  t.true(flows.length > 3)
  t.deepEqual(flows.map(({ run_id }) => run_id).toSorted(), runs.map(({ run_id }) => run_id).toSorted())
  for (const { flow_id, run_id } of flows) {
    t.true(asked.has(flow_id))
    t.is(runs.find((run) => run.run_id === run_id).input_metadata.service_flow.flow_id, flow_id)
    const flow = await untilFlow(daemon, flow_id, ({ completed_at_ms }) => completed_at_ms !== undefined)
    t.is(flow.completed_at_ms, flow.run.finished_at_ms)
    ends.set(flow_id, flow.completed_at_ms)
  }
  await daemon.kill('SIGKILL')
  daemon = await spawnDaemon({ root })
  for (const [flow_id, completed_at_ms] of ends)
    t.is((await daemon.request('GET', `/v1/flows/${flow_id}`)).body.completed_at_ms, completed_at_ms)
  await daemon.stop()
})

test('flows-3: metadata of a flow that only the daemon writes is refused', async (t) => {
  const daemon = await start(t)
  const answer = await startFlow(daemon, { playbook_ref: daemon.playbook_ref, metadata: { service_flow: 1 } })
  t.deepEqual(codeOf(answer), [400, 'reserved_metadata_key'])
  t.is(answer.body.errors[0].path, 'body.metadata.service_flow')
})
