import test from 'ava'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTestDaemon } from '../../../support/daemon.js'
import { answerOf, bring, byHand, publish } from '../../../support/learnings.js'
import { codeOf } from '../../../support/runs.js'
import { secretProse, secretTexts } from '../../../core/base/text/secret-corpus.js'

const workspace = { kind: 'workspace', id: 'default' }

test('learnings-5: a candidate is pending, of the api, and says what was left out', async (t) => {
  const daemon = await startTestDaemon(t, { config: byHand })
  const { request } = daemon
  const { status, body } = await request('POST', '/v1/learning-candidates', {
    scope: { kind: 'workspace' },
    kind: 'preference',
    content: '  Releases are made on Tuesdays.\n',
  })
  t.is(status, 201)
  const { candidate_id, created_at_ms } = body
  const expected = {
    candidate_id,
    created_at_ms,
    scope: workspace,
    kind: 'preference',
    sensitivity: 'scoped',
    content: 'Releases are made on Tuesdays.',
    confidence: 80,
    source: {},
    origin: 'api',
    state: 'pending',
  }
  t.deepEqual(body, expected)
  t.deepEqual((await request('GET', `/v1/learning-candidates/${candidate_id}`)).body, expected)
  const source = { session_id: 's1', run_id: 'r1', agent_id: 'a', input_event_offset: 3, observation_id: 'o' }
  const whole = {
    scope: { kind: 'session', id: 's1' },
    kind: 'procedure',
    sensitivity: 'sensitive',
    content: 'Run the tests first.',
    confidence: 0,
    source: { ...source, derivation_id: 'd' },
    evidence_refs: [{ run_id: 'r1', artifact_id: 'x', note: 'seen' }],
    expires_at_ms: 4_000_000_000_000,
  }
  t.like((await request('POST', '/v1/learning-candidates', whole)).body, whole)
  const summary = await request('POST', '/v1/learning-candidates', { ...whole, kind: 'run_summary' })
  t.deepEqual(codeOf(summary), [400, 'invalid_learning'])
  t.is(summary.body.errors[0].path, 'body.kind')
  t.deepEqual(codeOf(await request('GET', `/v1/learning-candidates/none`)), [404, 'learning_candidate_not_found'])
  t.deepEqual(codeOf(await request('GET', `/v1/learnings/none`)), [404, 'learning_not_found'])
  t.is((await request('GET', '/v1/learning-candidates')).body.length, 2)
})

test('learnings-6: what cannot be is refused with its field, and nothing is kept', async (t) => {
  const { request } = await startTestDaemon(t, { config: byHand })
  const good = { scope: workspace, kind: 'fact', content: 'The sky is blue.' }
  const cases: readonly (readonly [change: object, path: string])[] = [
    [{ scope: { kind: 'session' } }, 'body.scope.id'],
    [{ scope: { kind: 'session', id: '' } }, 'body.scope.id'],
    [{ scope: { kind: 'persona', id: ' p' } }, 'body.scope.id'],
    [{ scope: { kind: 'project', id: 'p\n1' } }, 'body.scope.id'],
    [{ scope: { kind: 'workspace', id: 'other' } }, 'body.scope.id'],
    [{ scope: { kind: 'planet', id: 'x' } }, 'body.scope.kind'],
    [{ content: '' }, 'body.content'],
    [{ content: ' \n' }, 'body.content'],
    [{ content: 'x'.repeat(1601) }, 'body.content'],
    [{ confidence: 101 }, 'body.confidence'],
    [{ confidence: -1 }, 'body.confidence'],
    [{ confidence: 0.5 }, 'body.confidence'],
    [{ kind: 'rumour' }, 'body.kind'],
    [{ sensitivity: 'open' }, 'body.sensitivity'],
    [{ source: { run_id: 'x'.repeat(201) } }, 'body.source.run_id'],
    [{ evidence_refs: [{ note: 'x'.repeat(401) }] }, 'body.evidence_refs.0.note'],
    [{ evidence_refs: Array.from({ length: 17 }, () => ({})) }, 'body.evidence_refs'],
    [{ state: 'published' }, 'body.state'],
  ]
  for (const [change, path] of cases) {
    const { status, body } = await request('POST', '/v1/learning-candidates', { ...good, ...change })
    t.is(status, 400, path)
    t.is(body.errors[0].path, path)
  }
  t.deepEqual((await request('GET', '/v1/learning-candidates')).body, [])
  const long = ` ${'é🙂'.repeat(800)} `
  t.is((await request('POST', '/v1/learning-candidates', { ...good, content: long })).body.content, long.trim())
})

/** Made up, and put together here so that no scanner takes this file for a leak. */
const b = (...parts: string[]): string => parts.join('')
const canary = 'Zq9wErTy7uIoP3aSdFgH1jKl'
/** One or more of each of the five classes. */
const secrets = [
  'it was <redacted:key>',
  b('Use sk', '-proj-', canary),
  b('Use gh', 'p_', canary, 'a1b2c3d4e5f6'),
  b('-----BEGIN RSA ', 'PRIVATE KEY-----\n', canary, '\n-----END RSA PRIVATE KEY-----'),
  `The access token is ${canary}`,
  `our password = ${canary}`,
  `clientsecret: ${canary}`,
  `authorization bearer ${canary}`,
  `authorization: bearer ${canary}`,
  `set refresh_token=${canary}`,
  `api-key:${canary}`,
  `pat=${canary}`,
  `X-Api-Key : ${canary}`,
  `{"personalAccessToken": "${canary}"}`,
  `Deploy auth token: ${canary}`,
]

const filesBelow = (root: string): string[] =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))

test('learnings-7: a secret is refused wherever it is said, and stands nowhere afterwards', async (t) => {
  const daemon = await startTestDaemon(t, { config: byHand })
  const { request, root, log } = daemon
  const answers: string[] = []
  const refused = async (path: string, body: object, field: string): Promise<void> => {
    const answer = await request('POST', path, body)
    t.deepEqual(codeOf(answer), [400, 'learning_secret'], JSON.stringify(body))
    t.is(answer.body.errors[0].path, field)
    answers.push(JSON.stringify(answer.body))
  }
  const candidate = await bring(daemon)
  const learning = await publish(daemon, { content: 'The sea is deep.' })
  const scope = workspace
  for (const content of secrets) {
    for (const kind of ['fact', 'preference', 'decision'])
      await refused('/v1/learning-candidates', { scope, kind, content }, 'body.content')
    await refused(`/v1/learning-candidates/${candidate.candidate_id}/publish`, { content }, 'body.content')
    await refused(`/v1/learnings/${learning.learning_id}/supersede`, { content }, 'body.content')
    await refused(`/v1/learnings/${learning.learning_id}/revoke`, { reason: content }, 'body.reason')
    await refused(`/v1/learnings/revoke-matching`, { kind: 'fact', reason: content }, 'body.reason')
    const evidence_refs = [{}, { note: content.slice(0, 400) }]
    const note = 'body.evidence_refs.1.note'
    await refused('/v1/learning-candidates', { scope, kind: 'procedure', content: 'Do it.', evidence_refs }, note)
    await refused(`/v1/learning-candidates/${candidate.candidate_id}/publish`, { evidence_refs }, note)
  }
  t.deepEqual((await request('GET', `/v1/learning-candidates/${candidate.candidate_id}`)).body, candidate)
  t.deepEqual((await request('GET', `/v1/learnings/${learning.learning_id}`)).body, learning)
  await daemon.stop()
  for (const text of [...answers, JSON.stringify(log), ...filesBelow(root)]) t.false(text.includes(canary))
})

test('learnings-7, learnings-8, learnings-28: the corpus of secrets is refused, and that of prose is kept', async (t) => {
  const { request } = await startTestDaemon(t, { config: byHand })
  const answer = async (content: string): Promise<number> =>
    (await request('POST', '/v1/learning-candidates', { scope: workspace, kind: 'fact', content })).status
  for (const content of secretTexts) t.is(await answer(content), 400, content)
  for (const content of secretProse) t.is(await answer(content), 201, content)
})

test('learnings-7: a secret in an id is refused with its place', async (t) => {
  const { request } = await startTestDaemon(t, { config: byHand })
  const id = b('gh', 'p_', canary, 'a1b2c3d4e5f6')
  const good = { scope: workspace, kind: 'procedure', content: 'Do it.' }
  for (const [more, path] of [
    [{ scope: { kind: 'session', id } }, 'body.scope.id'],
    [{ source: { run_id: id } }, 'body.source.run_id'],
    [{ source: { observation_id: id } }, 'body.source.observation_id'],
    [{ evidence_refs: [{}, { artifact_id: id }] }, 'body.evidence_refs.1.artifact_id'],
  ] as const) {
    const refused = await request('POST', '/v1/learning-candidates', { ...good, ...more })
    t.deepEqual([...codeOf(refused), refused.body.errors[0].path], [400, 'learning_secret', path])
  }
  t.deepEqual((await request('GET', '/v1/learning-candidates')).body, [])
})

test('learnings-7: a procedure is not looked at, until it is to be a fact', async (t) => {
  const daemon = await startTestDaemon(t, { config: byHand })
  const content = 'Set password = x and restart.'
  const candidate = await bring(daemon, { kind: 'procedure', content })
  t.is(candidate.content, content)
  t.deepEqual(codeOf(await answerOf(daemon, candidate, { kind: 'fact' })), [400, 'learning_secret'])
  t.is((await answerOf(daemon, candidate)).body.content, content)
})

test('learnings-8: prose about secrets is kept', async (t) => {
  const daemon = await startTestDaemon(t, { config: byHand })
  for (const content of [
    'Keep an eye on the token budget of each run.',
    'The token budget: 500 a day.',
    'Pat prefers short answers.',
    'Pat is the owner.',
    'The secretariat opens at nine.',
    'We agreed on an authentication strategy.',
    'Our authentication strategy: sessions with short lives.',
    'The private roadmap is due in May.',
    'Passwords are kept in the vault.',
    'max_tokens: 500',
  ]) {
    const learning = await publish(daemon, { content }, { evidence_refs: [{ note: content }] })
    t.is(learning.content, content)
    const { body } = await daemon.request('POST', `/v1/learnings/${learning.learning_id}/revoke`, {
      reason: content,
    })
    t.is(body.revoked_reason, content)
  }
})
