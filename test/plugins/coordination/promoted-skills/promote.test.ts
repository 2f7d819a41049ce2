import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { publish } from '../../../support/learnings.js'
import {
  activate,
  completed,
  instructions,
  markingModel,
  procedure,
  promote,
  result,
  skillOf,
} from '../../../support/promoted.js'
import { codeOf } from '../../../support/runs.js'

test('promoted-skills-1: only an active procedure of the workspace is promoted', async (t) => {
  let now = 1_800_000_000_000
  const daemon = await startTestDaemon(t, { clock: { ...createClock(), now: () => now } })
  t.deepEqual(codeOf(await promote(daemon, 'learning_none')), [404, 'learning_not_found'])
  let n = 0
  const learn = async (more: object, wish: object = {}): Promise<string> =>
    (await publish(daemon, { kind: 'procedure', content: `Way ${(n += 1)}.`, ...more }, wish)).learning_id
  const revoked = await learn({})
  await daemon.request('POST', `/v1/learnings/${revoked}/revoke`)
  const over = await learn({ expires_at_ms: now + 1_000 })
  now += 1_000
  const ids = [
    await learn({ kind: 'fact' }),
    await learn({}, { publish_tier: 'provisional' }),
    await learn({ scope: { kind: 'session', id: 's1' } }),
    revoked,
    over,
  ]
  for (const id of ids) t.deepEqual(codeOf(await promote(daemon, id)), [400, 'learning_not_promotable'], id)
  t.is((await promote(daemon, await learn({}))).status, 200)
})

test('promoted-skills-2: what no skill can be is refused with the field', async (t) => {
  const daemon = await startTestDaemon(t)
  const learning = await procedure(daemon)
  const cases: readonly (readonly [more: object, path: string])[] = [
    [{ skill_name: '' }, 'body.skill_name'],
    [{ skill_name: 'a b' }, 'body.skill_name'],
    [{ skill_name: 'ä' }, 'body.skill_name'],
    [{ skill_name: 'a\nb' }, 'body.skill_name'],
    [{ skill_name: '../a' }, 'body.skill_name'],
    [{ context: 'inline' }, 'body.context'],
    [{ agent_profile: 'default' }, 'body.agent_profile'],
    [{ instructions: ' ' }, 'body.instructions'],
    [{ instructions: undefined }, 'body.instructions'],
    [{ instructions: 'a'.repeat(65_537) }, 'body.instructions'],
    [{ instructions: 'a\0' }, 'body.instructions'],
    [{ allowed_tools: ['a', ' '] }, 'body.allowed_tools.1'],
    [{ description: '漢'.repeat(4_000), when_to_use: '漢'.repeat(4_000) }, 'body'],
  ]
  for (const [more, path] of cases) {
    const { status, body } = await promote(daemon, learning, more)
    t.like({ status, ...body }, { status: 400, code: 'invalid_promotion', errors: [{ path }] }, path)
  }
  for (const more of [{ status: 'revoked' }, { description: 'a'.repeat(4_001) }, { more: 1 }])
    t.is((await promote(daemon, learning, more)).status, 400)
  t.deepEqual((await daemon.request('GET', '/v1/learning-skills')).body, [])
})

test('promoted-skills-3: a secret in any field or reason is refused, and nothing is kept', async (t) => {
  const daemon = await startTestDaemon(t, { config: markingModel().config, plugins: [markingModel().plugin] })
  const learning = await procedure(daemon)
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
  const cases: readonly (readonly [more: object, path: string])[] = [
    [{ skill_name: secret }, 'skill_name'],
    [{ description: `Use ${secret}` }, 'description'],
    [{ when_to_use: secret }, 'when_to_use'],
    [{ version: secret }, 'version'],
    [{ instructions: `The password is: hunter22` }, 'instructions'],
    [{ allowed_tools: ['a', secret] }, 'allowed_tools.1'],
    [{ blocked_tools: [secret] }, 'blocked_tools.0'],
    [{ provider: secret }, 'provider'],
    [{ model: secret }, 'model'],
    [{ fallback_model: secret }, 'fallback_model'],
  ]
  for (const [more, path] of cases) {
    const { status, body } = await promote(daemon, learning, more)
    t.like({ status, ...body }, { status: 400, code: 'promotion_secret', errors: [{ path: `body.${path}` }] }, path)
    t.false(JSON.stringify(body).includes(secret))
  }
  t.deepEqual((await daemon.request('GET', '/v1/learning-skills')).body, [])
  await activate(daemon, learning)
  for (const what of ['revoke', 'rollback'])
    t.deepEqual(codeOf(await daemon.request('POST', `/v1/learning-skills/notes/${what}`, { reason: secret })), [
      400,
      'promotion_secret',
    ])
  t.is((await skillOf(daemon)).status, 'active')
})

test('promoted-skills-4, promoted-skills-10: a draft is changed, and what shows that it works is of what it says', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const learning = await procedure(daemon)
  const first = (await promote(daemon, learning, { when_to_use: 'Now.', model: 'm' })).body
  t.like(first, {
    skill_name: 'notes',
    source_learning_id: learning,
    source_scope: { kind: 'workspace', id: 'default' },
    status: 'draft',
    verification_status: 'unverified',
    successful_run_count: 0,
    distinct_session_count: 0,
    verifier_run_ids: [],
    real_daemon_verified: false,
    canary_success_count: 0,
    canary_failure_count: 0,
    digest: '',
    runtime: { context: 'fork', agent_profile: 'verification', model: 'm' },
    lifecycle_events: [{ event: 'promote', to_status: 'draft', definition_fingerprint: first.definition_fingerprint }],
  })
  t.regex(first.definition_fingerprint, /^[0-9a-f]{64}$/u)
  t.true(first.skill_path.endsWith(`/skills/procedural/${learning}/SKILL.md`))
  t.is((await result(daemon, 'verification', await completed(daemon))).status, 200)
  const same = (await promote(daemon, learning, { model: 'm' })).body
  t.is(same.lifecycle_events.length, 2, 'the same again is no event')
  t.is(same.successful_run_count, 1)
  const moved = (await promote(daemon, learning, { instructions: undefined, status: 'verified' })).body
  t.like(moved, { status: 'verified', instructions, definition_fingerprint: first.definition_fingerprint })
  const changed = (await promote(daemon, learning, { instructions: 'Otherwise.' })).body
  t.like(changed, {
    when_to_use: 'Now.',
    instructions: 'Otherwise.',
    promoted_at_ms: first.promoted_at_ms,
    verification_status: 'unverified',
    successful_run_count: 0,
    distinct_session_count: 0,
    verifier_run_ids: [],
    real_daemon_verified: false,
  })
  t.deepEqual(changed.runtime, { context: 'fork', agent_profile: 'verification' })
  t.is(changed.evidence_refs.length, 1)
  t.like(changed.lifecycle_events.at(-1), {
    event: 'promote',
    from_status: 'verified',
    reason: 'the definition changed',
  })
})

test('promoted-skills-8, promoted-skills-9, promoted-skills-11: a rollout from draft to active, and every step that is not', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const learning = await procedure(daemon)
  const to = async (status: string, more: object = {}) => promote(daemon, learning, { status, ...more })
  for (const status of ['verified', 'canary', 'active'])
    t.deepEqual(codeOf(await to(status)), [400, 'promotion_not_draft'])
  await promote(daemon, learning)
  t.deepEqual(codeOf(await to('verified')), [400, 'promotion_unverified'])
  await result(daemon, 'verification', await completed(daemon))
  t.is((await skillOf(daemon)).status, 'draft', 'a result moves nothing')
  t.deepEqual(codeOf(await to('active')), [400, 'promotion_step_refused'])
  t.is((await to('verified')).body.status, 'verified')
  t.deepEqual(codeOf(await to('active')), [400, 'promotion_without_canary'])
  t.deepEqual(codeOf(await to('canary', { instructions: 'Otherwise.' })), [400, 'promotion_unverified'])
  t.is((await to('canary')).body.status, 'canary')
  t.deepEqual(codeOf(await to('verified')), [400, 'promotion_step_refused'])
  t.deepEqual(codeOf(await to('active')), [400, 'promotion_without_canary'])
  await result(daemon, 'canary', await completed(daemon))
  t.is((await to('active')).body.status, 'active')
  t.is((await to('active')).body.lifecycle_events.length, 6)
  t.deepEqual(codeOf(await to('active', { instructions: 'Otherwise.' })), [409, 'active_definition_change'])
  t.deepEqual(codeOf(await to('draft', { version: '2' })), [409, 'active_definition_change'])
  t.deepEqual(codeOf(await to('draft')), [400, 'promotion_step_refused'])
  t.is((await skillOf(daemon)).instructions, instructions)
})

test('promoted-skills-10: a rollout that goes back to draft begins anew', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const learning = await procedure(daemon)
  await promote(daemon, learning)
  await result(daemon, 'verification', await completed(daemon))
  await promote(daemon, learning, { status: 'verified' })
  const { body } = await promote(daemon, learning)
  t.like(body, { status: 'draft', verification_status: 'unverified', verifier_run_ids: [], successful_run_count: 0 })
  t.like(body.lifecycle_events.at(-1), {
    from_status: 'verified',
    to_status: 'draft',
    reason: 'the rollout begins anew',
  })
})

test('promoted-skills-5, promoted-skills-6: a name and a learning belong to one skill, until it is revoked', async (t) => {
  const model = markingModel()
  const daemon = await startTestDaemon(t, { plugins: [model.plugin], config: model.config })
  const { request } = daemon
  const [one, two] = [await procedure(daemon, 'First way.'), await procedure(daemon, 'Second way.')]
  await promote(daemon, one)
  t.deepEqual(codeOf(await promote(daemon, one, { skill_name: 'other' })), [409, 'learning_promoted'])
  t.deepEqual(codeOf(await promote(daemon, two)), [409, 'promoted_skill_exists'])
  await result(daemon, 'verification', await completed(daemon))
  await request('POST', `/v1/learning-skills/notes/revoke`, { reason: ' wrong ' })
  t.like(await skillOf(daemon), { status: 'revoked', revoked_reason: 'wrong' })
  const anew = (await promote(daemon, two, { instructions: 'Anew.' })).body
  t.like(anew, { source_learning_id: two, status: 'draft', verification_status: 'unverified', verifier_run_ids: [] })
  t.false('revoked_at_ms' in anew || 'evidence_refs' in anew)
  t.deepEqual(
    anew.lifecycle_events.map(({ event }: any) => event),
    ['promote', 'rollout_result', 'revoke', 'promote'],
  )
  t.is((await promote(daemon, one, { skill_name: 'other' })).status, 200)
})
