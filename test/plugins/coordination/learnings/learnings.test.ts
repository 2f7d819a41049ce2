import test from 'ava'
import { createCommandLine } from '../../../support/command-line.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { freshRoot } from '../../../support/folders.js'

const path = '/v1/runtime/learning-policy'
const initial = {
  mode: 'shadow',
  capture: {
    run_summary_candidates: true,
    semantic_candidates: { enabled: false, model: null, timeout_ms: null, max_candidates_per_run: 2 },
  },
  publication: {
    default_action: 'manual_review',
    allow_api_origin_active_publication: false,
    quarantined_rule_names: [],
    rules: [],
  },
  judge: { enabled: false, model: null, timeout_ms: null },
}

test('learnings-1, learnings-2: a policy is replaced whole, wrapped or flat, and holds after a restart', async (t) => {
  const root = await freshRoot()
  const first = await startTestDaemon(t, { root })
  t.deepEqual((await first.request('GET', '/v1/runtime/learning-policy')).body, initial)
  const judge = { enabled: true, timeout_ms: 500 }
  const answer = await first.request('POST', path, { policy: { mode: 'manual_only', judge }, expected_revision: 0 })
  t.is(answer.status, 200)
  t.deepEqual(answer.body.learning_policy, { ...initial, mode: 'manual_only', judge: { ...judge, model: null } })
  const rules = [{ name: 'facts', kind: 'fact', action: 'publish_active', min_confidence: 90 }]
  const flat = { mode: 'shadow', publication: { rules } }
  t.is((await first.request('POST', '/v1/runtime/learning-policy', flat)).status, 200)
  await first.stop()
  const { request } = await startTestDaemon(t, { root })
  const { body } = await request('GET', path)
  t.like(body, { mode: 'shadow', judge: initial.judge, capture: initial.capture })
  t.like(body.publication.rules[0], { ...rules[0], require_evidence: false })
  t.like((await request('GET', '/v1/runtime/revisions')).body.revisions[0], { setting: 'learning_policy' })
})

test('learnings-2: a change without a mode is refused and changes nothing', async (t) => {
  const { request } = await startTestDaemon(t)
  for (const body of [
    { expected_revision: 0 },
    {},
    { policy: {} },
    { judge: { enabled: true } },
    { policy: { mode: 'sometimes' } },
    { policy: { mode: 'shadow', more: 1 } },
  ]) {
    const { status, body: problem } = await request('POST', path, body)
    t.like(
      { status, ...problem },
      { status: 400, code: 'invalid_learning_policy', domain: 'runtime' },
      JSON.stringify(body),
    )
  }
  const stale = await request('POST', path, { mode: 'enabled', expected_revision: 7 })
  t.like(stale.body, { status: 409, code: 'runtime_revision_conflict' })
  t.deepEqual((await request('GET', path)).body, initial)
})

test('learnings-3: a policy that cannot hold is refused with the path of what is wrong', async (t) => {
  const { request } = await startTestDaemon(t)
  const rule = (more: object) => ({ publication: { rules: [{ name: 'one', action: 'publish_active', ...more }] } })
  const cases: readonly (readonly [policy: object, path: string])[] = [
    [{ publication: { default_action: 'publish_active' } }, 'publication.default_action'],
    [rule({}), 'publication.rules.0.kind'],
    [rule({ kind: 'procedure' }), 'publication.rules.0.kind'],
    [rule({ kind: 'fact', name: ' ' }), 'publication.rules.0.name'],
    [rule({ kind: 'fact', scope_id: ' ' }), 'publication.rules.0.scope_id'],
    [rule({ kind: 'fact', min_confidence: 101 }), 'publication.rules.0.min_confidence'],
    [{ publication: { quarantined_rule_names: ['a', 'A '] } }, 'publication.quarantined_rule_names.1'],
    [{ publication: { quarantined_rule_names: [''] } }, 'publication.quarantined_rule_names.0'],
    [{ judge: { timeout_ms: 0 } }, 'judge.timeout_ms'],
    [{ capture: { semantic_candidates: { timeout_ms: 0 } } }, 'capture.semantic_candidates.timeout_ms'],
    [
      { capture: { semantic_candidates: { max_candidates_per_run: 9 } } },
      'capture.semantic_candidates.max_candidates_per_run',
    ],
  ]
  for (const [policy, where] of cases) {
    const { status, body } = await request('POST', path, { policy: { mode: 'enabled', ...policy } })
    t.like({ status, ...body }, { status: 400, code: 'invalid_learning_policy' }, where)
    t.is(body.errors[0].path, `body.policy.${where}`)
  }
  for (const [body, at] of [
    [{ capture: {} }, 'body.mode'],
    [{ mode: 'enabled', publication: { default_action: 'publish_active' } }, 'body.publication.default_action'],
    [{ policy: { capture: {} } }, 'body.policy.mode'],
    [{}, 'body'],
  ] as const)
    t.is((await request('POST', path, body)).body.errors[0].path, at, 'under the name that was sent')
  const twofold = await request('POST', path, { policy: { mode: 'enabled' }, judge: {} })
  t.like(twofold.body, { code: 'invalid_learning_policy', errors: [{ path: 'body.policy' }] })
  t.deepEqual((await request('GET', path)).body, initial)
})

test('learnings-1: the configuration says what holds first, and is held to the same rules', async (t) => {
  const { request } = await startTestDaemon(t, { config: { learnings: { mode: 'manual_only' } } })
  t.like((await request('GET', path)).body, { mode: 'manual_only', judge: initial.judge })
  const wrong = { learnings: { publication: { default_action: 'publish_active' } } }
  await t.throwsAsync(startTestDaemon(t, { config: wrong }), { message: /^config\/learnings\.toml .*must publish/u })
})

test('learnings-4: the command line changes the policy, and none of its modes is a warning', async (t) => {
  const daemon = await startTestDaemon(t)
  const line = createCommandLine(daemon)
  const told = async () => (await daemon.request('GET', '/v1/status')).body.health.warnings
  const warnings = await told()
  t.regex((await line('runtime', 'learning-policy', 'set', '--mode', 'enabled')).out, /at revision 1/u)
  t.deepEqual(await told(), warnings)
  t.regex((await line('runtime', 'learning-policy', 'get')).out, /^mode enabled\n/u)
  t.not((await line('runtime', 'learning-policy', 'set', '--mode', 'often')).code, 0)
  await line('runtime', 'learning-policy', 'set', '--reset')
  t.deepEqual((await daemon.request('GET', path)).body, initial)
})

test('learnings-7: a secret as a name or an id in a policy is refused with its place', async (t) => {
  const { request } = await startTestDaemon(t)
  const secret = ['gh', 'p_', 'a1b2c3d4e5f6'.repeat(3)].join('')
  const rule = { name: 'facts', action: 'reject' }
  for (const [publication, at] of [
    [{ rules: [rule, { ...rule, name: secret }] }, 'rules.1.name'],
    [{ rules: [{ ...rule, scope_id: secret }] }, 'rules.0.scope_id'],
    [{ quarantined_rule_names: [secret] }, 'quarantined_rule_names.0'],
  ] as const) {
    const refused = await request('POST', path, { mode: 'enabled', publication })
    t.deepEqual([refused.status, refused.body.code], [400, 'learning_secret'])
    t.is(refused.body.errors[0].path, `body.publication.${at}`)
    t.false(JSON.stringify(refused.body).includes(secret))
  }
  t.deepEqual((await request('GET', path)).body, initial)
})
