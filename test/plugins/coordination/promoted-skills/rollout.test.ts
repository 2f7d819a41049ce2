import test from 'ava'
import { startTestDaemon } from '../../../support/daemon.js'
import { completed, marker, markingModel, procedure, promote, result, skillOf } from '../../../support/promoted.js'
import { codeOf, openSession, submit, until } from '../../../support/runs.js'
import { done, fails, scriptedProvider, text } from '../../../../plugins/providers/scripted/contract.js'

test('promoted-skills-12: a result is looked at in order, and what is wrong changes nothing', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const learning = await procedure(daemon)
  const run = await completed(daemon)
  const send = async (body: object, name = 'notes') =>
    codeOf(await daemon.request('POST', `/v1/learning-skills/${name}/rollout-result`, body))
  const blank = { kind: 'canary', run_id: 'run_none', expected_output_contains: ' ' }
  t.deepEqual(await send(blank), [400, 'invalid_rollout'])
  t.deepEqual(await send({ ...blank, expected_output_contains: 'x' }), [404, 'run_not_found'])
  const canary = { kind: 'canary', run_id: run, expected_output_contains: marker, definition_fingerprint: 'other' }
  t.deepEqual(await send(canary), [404, 'promoted_skill_not_found'])
  await promote(daemon, learning)
  t.deepEqual(await send(canary), [400, 'rollout_not_canary'])
  const verification = { ...canary, kind: 'verification' }
  t.deepEqual(await send(verification), [400, 'rollout_fingerprint_mismatch'])
  const { definition_fingerprint } = await skillOf(daemon)
  const right = { ...verification, definition_fingerprint }
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
