import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { startTestDaemon } from '../../../support/daemon.js'
import {
  completed,
  instructions,
  marker,
  markingModel,
  procedure,
  promote,
  result,
  skillOf,
} from '../../../support/promoted.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { done, fails, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'

test('promoted-skills-12: a result is looked at in order, and what is wrong changes nothing', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const learning = await procedure(daemon)
  const early = await completed(daemon)
  const send = async (body: object, name = 'notes') =>
    codeOf(await daemon.request('POST', `/v1/learning-skills/${name}/rollout-result`, body))
  const blank = { kind: 'canary', run_id: 'run_none', expected_output_contains: ' ' }
  t.deepEqual(await send(blank), [400, 'invalid_rollout'])
  t.deepEqual(await send({ ...blank, expected_output_contains: 'x' }), [404, 'run_not_found'])
  const canary = { kind: 'canary', run_id: early, expected_output_contains: marker, definition_fingerprint: 'other' }
  t.deepEqual(await send(canary), [404, 'promoted_skill_not_found'])
  await promote(daemon, learning)
  t.deepEqual(await send(canary), [400, 'rollout_not_canary'])
  const verification = { ...canary, kind: 'verification' }
  t.deepEqual(await send(verification), [400, 'rollout_fingerprint_mismatch'])
  const { definition_fingerprint } = await skillOf(daemon)
  const right = { ...verification, definition_fingerprint, run_id: await completed(daemon) }
  t.deepEqual(await send({ ...right, expected_output_contains: marker.toUpperCase() }), [400, 'rollout_failed'])
  const before = await skillOf(daemon)
  t.is(before.lifecycle_events.length, 1)
  t.deepEqual(await send({ ...right, definition_fingerprint: ' ' }), [200, undefined])
  await daemon.request('POST', `/v1/learning-skills/notes/revoke`)
  t.deepEqual(await send(right), [400, 'promoted_skill_revoked'])
})

test('promoted-skills-12: what counts is a run that completed, and its last output', async (t) => {
  let said = 0
  const model = scriptedProvider(({ messages }) => {
    const asked = JSON.stringify(messages.at(-1))
    if (asked.includes('fail')) return [fails(false)]
    said += 1
    return [text(asked.includes('mark') ? marker : 'Nothing.'), done()]
  })
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await promote(daemon, await procedure(daemon))
  await openSession(daemon)
  for (const content of ['fail', 'other']) {
    const { run_id } = await submit(daemon, 's1', content)
    await until(daemon, run_id, 'completed', 'failed')
    t.deepEqual(codeOf(await result(daemon, 'verification', run_id)), [400, 'rollout_failed'], content)
  }
  const { run_id } = await submit(daemon, 's1', 'mark')
  await until(daemon, run_id, 'completed')
  t.is((await result(daemon, 'verification', run_id)).status, 200)
  t.true(said > 1)
})

test('promoted-skills-13: a run verifies a skill once', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  await promote(daemon, await procedure(daemon))
  const run = await completed(daemon)
  const { body } = await result(daemon, 'verification', run)
  t.like(body, {
    status: 'draft',
    verification_status: 'verified',
    real_daemon_verified: true,
    successful_run_count: 1,
    distinct_session_count: 1,
    verifier_run_ids: [run],
    evidence_refs: [{ run_id: run }],
  })
  t.like(body.lifecycle_events[1], {
    event: 'rollout_result',
    to_status: 'draft',
    rollout_kind: 'verification',
    run_id: run,
    session_id: 'runs',
    success: true,
    definition_fingerprint: body.definition_fingerprint,
  })
  t.false('from_status' in body.lifecycle_events[1])
  t.deepEqual((await result(daemon, 'verification', run, { expected_output_contains: 'nowhere' })).body, body)
  const again = (await result(daemon, 'verification', await completed(daemon))).body
  t.like(again, { successful_run_count: 2, distinct_session_count: 1 })
})

test('promoted-skills-25: a run from before a skill was a draft that says what it says shows nothing of it', async (t) => {
  const model = markingModel()
  let now = 1_800_000_000_000
  const clock = { ...createClock(), now: () => (now += 1) }
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config, clock })
  const [learning, first] = [await procedure(daemon), await completed(daemon)]
  const early = async (run: string) =>
    t.deepEqual(codeOf(await result(daemon, 'verification', run)), [400, 'rollout_run_early'])
  const draft = (await promote(daemon, learning)).body
  await early(first)
  t.deepEqual(await skillOf(daemon), draft)
  const second = await completed(daemon)
  t.is((await result(daemon, 'verification', second)).status, 200)
  t.is((await promote(daemon, learning)).body.rollout_began_at_ms, draft.rollout_began_at_ms, 'the same is the same')
  const changed = (await promote(daemon, learning, { instructions: 'Otherwise.' })).body
  t.true(changed.rollout_began_at_ms > draft.rollout_began_at_ms)
  await early(second)
  const third = await completed(daemon)
  t.is((await result(daemon, 'verification', third)).status, 200)
  const to = (status: string) => promote(daemon, learning, { status, instructions: undefined })
  await to('verified')
  await to('canary')
  t.deepEqual(codeOf(await result(daemon, 'canary', second)), [400, 'rollout_run_early'])
  t.is((await skillOf(daemon)).canary_failure_count, 0)
  await to('draft')
  await early(third)
})

test('promoted-skills-13: a run that counts is refused as another result', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const learning = await procedure(daemon)
  await promote(daemon, learning)
  const run = await completed(daemon)
  await result(daemon, 'verification', run)
  await promote(daemon, learning, { status: 'verified' })
  const { body } = await promote(daemon, learning, { status: 'canary' })
  const refused = await result(daemon, 'canary', run)
  t.deepEqual(codeOf(refused), [409, 'rollout_run_counted'])
  t.regex(refused.body.detail, /counts as verification of the skill notes already/u)
  t.deepEqual((await result(daemon, 'verification', run)).body, body)
})

test('promoted-skills-26: a result says whether its run was told the instructions, by a child or by whomever', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const told = 'Read the log of ${ARGUMENTS}, then write the notes.'
  await promote(daemon, await procedure(daemon), { instructions: told })
  const last = async (run: string) => (await result(daemon, 'verification', run)).body
  const untold = await last(await completed(daemon))
  t.is(untold.lifecycle_events.at(-1).reason, 'its request did not have the instructions')
  t.regex(untold.evidence_refs.at(-1).note, /, not told the instructions$/u)
  const { body: session } = await daemon.request('GET', '/v1/sessions/runs')
  const child = await daemon.request('POST', `/v1/agents/${session.agent_id}/sidechains`, {
    spawn_request_id: 'check',
    agent_type: 'verification',
    subtask: { name: 'check', content: told.replace('${ARGUMENTS}', 'May') },
  })
  t.is(child.status, 200, JSON.stringify(child.body))
  const { body: runs } = await daemon.request('GET', `/v1/runs?session_id=${child.body.session_id}`)
  const run_id: string = runs[0].run_id
  await until(daemon, run_id, 'completed')
  const shown = await last(run_id)
  t.false('reason' in shown.lifecycle_events.at(-1))
  t.regex(shown.evidence_refs.at(-1).note, /, told the instructions$/u)
})

test('promoted-skills-27: where only told runs count, others take a skill nowhere', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, {
    plugins: [model.plugin],
    config: { ...model.config, 'promoted-skills': { told_runs_only: true } },
  })
  const learning = await procedure(daemon)
  await promote(daemon, learning)
  const told = async (): Promise<string> => {
    const { run_id } = await submit(daemon, 'runs', `Now: ${instructions}`)
    await until(daemon, run_id, 'completed')
    return run_id
  }
  const refused = async (kind: 'verification' | 'canary') => {
    const before = await skillOf(daemon)
    t.deepEqual(codeOf(await result(daemon, kind, await completed(daemon))), [400, 'rollout_run_untold'])
    t.deepEqual(await skillOf(daemon), before)
  }
  await refused('verification')
  t.is((await result(daemon, 'verification', await told())).status, 200)
  await promote(daemon, learning, { status: 'verified' })
  await promote(daemon, learning, { status: 'canary' })
  await refused('canary')
  t.deepEqual(codeOf(await promote(daemon, learning, { status: 'active' })), [400, 'promotion_without_canary'])
  t.like((await result(daemon, 'canary', await told())).body, { canary_success_count: 1 })
  t.is((await promote(daemon, learning, { status: 'active' })).body.status, 'active')
})

test('promoted-skills-14: results of canaries count either way, and one failure keeps a skill from being active', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const learning = await procedure(daemon)
  await promote(daemon, learning)
  await result(daemon, 'verification', await completed(daemon))
  await promote(daemon, learning, { status: 'verified' })
  await promote(daemon, learning, { status: 'canary' })
  const [good, bad] = [await completed(daemon), await completed(daemon)]
  t.like((await result(daemon, 'canary', good)).body, { canary_success_count: 1, successful_run_count: 2 })
  const failed = (await result(daemon, 'canary', bad, { expected_output_contains: 'nowhere' })).body
  t.like(failed, { canary_success_count: 1, canary_failure_count: 1, successful_run_count: 2, status: 'canary' })
  t.like(failed.lifecycle_events.at(-1), { rollout_kind: 'canary', success: false, run_id: bad })
  t.is(failed.verifier_run_ids.length, 3)
  t.deepEqual((await result(daemon, 'canary', bad)).body, failed, 'a run counts once')
  t.deepEqual(codeOf(await promote(daemon, learning, { status: 'active' })), [400, 'promotion_without_canary'])
  t.like((await promote(daemon, learning)).body, { canary_failure_count: 0, canary_success_count: 0 })
})
