/** Every state with every action on it. */
import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { startTestDaemon, type Answer, type TestDaemon } from '../../../support/daemon.js'
import { answerOf, bring, byHand, learningsLender, publish } from '../../../support/learnings.js'
import { codeOf } from '../../../support/runs.js'
import type { LearningCandidate } from '../../../../plugins/coordination/learnings/contract.js'

type Review = NonNullable<LearningCandidate['automation_review']>
const review = (mode: Review['mode'], action: Review['action'], more: object = {}): Review => ({
  mode,
  action,
  reviewed_at_ms: 5,
  reason: 'By the default.',
  ...more,
})

const lent = learningsLender()
let number = 0
/** Something that nobody has said yet. */
const news = (): { content: string } => ({ content: `Number ${(number += 1)} is a prime of this test ${number}.` })

const reviewed = async (daemon: TestDaemon, candidate: LearningCandidate, what: Review): Promise<LearningCandidate> => {
  await lent.commit((tx) => lent.learnings().review(tx, candidate, what))
  return (await daemon.request('GET', `/v1/learning-candidates/${candidate.candidate_id}`)).body
}
const inState = async (daemon: TestDaemon, state: LearningCandidate['state']): Promise<LearningCandidate> => {
  const candidate: LearningCandidate = await bring(daemon, news())
  if (state === 'pending') return candidate
  if (state === 'escalated') return reviewed(daemon, candidate, review('enabled', 'manual_review'))
  const action = state === 'published' ? 'publish' : 'reject'
  await daemon.request('POST', `/v1/learning-candidates/${candidate.candidate_id}/${action}`)
  return (await daemon.request('GET', `/v1/learning-candidates/${candidate.candidate_id}`)).body
}
const states = ['pending', 'escalated', 'published', 'rejected'] as const

test.serial('learnings-9, learnings-10: every state of a candidate with what people do', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  const { request } = daemon
  const table = {
    pending: { publish: [200, 'published'], reject: [200, 'rejected'] },
    escalated: { publish: [200, 'published'], reject: [200, 'rejected'] },
    published: { publish: [200, 'published'], reject: [409, 'learning_candidate_published'] },
    rejected: { publish: [409, 'learning_candidate_rejected'], reject: [200, 'rejected'] },
  } as const
  for (const state of states)
    for (const action of ['publish', 'reject'] as const) {
      const before = await inState(daemon, state)
      t.is(before.state, state)
      const [status, becomes] = table[state][action]
      const answer = await request('POST', `/v1/learning-candidates/${before.candidate_id}/${action}`)
      t.is(answer.status, status, `${state} ${action}`)
      const after = (await request('GET', `/v1/learning-candidates/${before.candidate_id}`)).body
      if (status === 409) {
        t.is(answer.body.code, becomes)
        t.deepEqual(after, before)
        continue
      }
      t.is(after.state, becomes)
      if (state === becomes) t.deepEqual(after, before)
      if (action === 'reject') t.deepEqual(answer.body, after)
      else t.is(answer.body.learning_id, after.published_learning_id)
    }
  t.deepEqual(codeOf(await request('POST', `/v1/learning-candidates/none/reject`)), [
    404,
    'learning_candidate_not_found',
  ])
  t.deepEqual(codeOf(await request('POST', `/v1/learning-candidates/none/publish`)), [
    404,
    'learning_candidate_not_found',
  ])
})

test.serial('learnings-12: every state of a candidate with every review', async (t) => {
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  const becomes: Readonly<Record<string, LearningCandidate['state']>> = {
    'enabled manual_review': 'escalated',
    'enabled reject': 'rejected',
  }
  for (const state of states)
    for (const mode of ['manual_only', 'shadow', 'enabled'] as const)
      for (const action of ['manual_review', 'reject', 'publish_provisional', 'publish_active'] as const) {
        const candidate = await inState(daemon, state)
        const what = review(mode, action, { matched_rule_name: 'facts' })
        const after = await reviewed(daemon, candidate, what)
        const expected = state === 'pending' ? (becomes[`${mode} ${action}`] ?? 'pending') : state
        t.deepEqual(after, { ...candidate, state: after.state, automation_review: what })
        t.is(after.state, expected, `${state} ${mode} ${action}`)
      }
  const { candidates } = lent.learnings()
  t.is(candidates.count('unreviewed', 'all'), 0)
  await bring(daemon, news())
  t.is(candidates.count('unreviewed', 'all'), 1)
})

test('learnings-9: a learning is what the candidate says, or what is said instead', async (t) => {
  const daemon = await startTestDaemon(t, { config: byHand })
  const evidence_refs = [{ run_id: 'r1', note: 'seen' }]
  const source = { session_id: 's1', run_id: 'r1' }
  const candidate = await bring(daemon, { ...news(), evidence_refs, source, expires_at_ms: 4_000_000_000_000 })
  const { body } = await answerOf(daemon, candidate, { evidence_refs: [] })
  const { learning_id, published_at_ms } = body
  const { candidate_id, origin, state, ...kept } = candidate
  t.deepEqual([origin, state], ['api', 'pending'])
  t.deepEqual(body, {
    ...kept,
    learning_id,
    published_at_ms,
    source_candidate_id: candidate_id,
    status: 'active',
    publish_tier: 'active',
    policy_decision: 'manual',
    policy_actor: 'operator',
    verification_status: 'unverified',
  })
  t.deepEqual((await daemon.request('GET', `/v1/learnings/${learning_id}`)).body, body)
  const wish = {
    scope: { kind: 'session', id: 's2' },
    kind: 'decision',
    sensitivity: 'sensitive',
    ...news(),
    confidence: 7,
    expires_at_ms: 4_000_000_000_005,
    evidence_refs: [{ note: 'other' }],
    publish_tier: 'provisional',
  }
  const other = await answerOf(daemon, await bring(daemon, { ...news(), evidence_refs }), wish)
  t.like(other.body, { ...wish, status: 'provisional', verification_status: 'unverified' })
  t.deepEqual(await publish(daemon, news(), { kind: 'run_summary' }).then(({ code }) => code), 'invalid_learning')
})

/** A learning in each status. */
const ofStatus = {
  provisional: (daemon: TestDaemon) => publish(daemon, news(), { publish_tier: 'provisional' }),
  active: (daemon: TestDaemon) => publish(daemon, news()),
  superseded: async (daemon: TestDaemon) => {
    const { learning_id } = await publish(daemon, news())
    await daemon.request('POST', `/v1/learnings/${learning_id}/supersede`, news())
    return (await daemon.request('GET', `/v1/learnings/${learning_id}`)).body
  },
  revoked: async (daemon: TestDaemon) => {
    const { learning_id } = await publish(daemon, news())
    return (await daemon.request('POST', `/v1/learnings/${learning_id}/revoke`)).body
  },
} as const

test('learnings-17, learnings-18, learnings-19: every status of a learning with what people do', async (t) => {
  const daemon = await startTestDaemon(t, { config: byHand })
  const { request } = daemon
  const table = {
    provisional: { revoke: 'revoked', supersede: 'superseded', publish: 'superseded', 'publish provisional': 400 },
    active: { revoke: 'revoked', supersede: 'superseded', publish: 'superseded', 'publish provisional': 400 },
    superseded: { revoke: 'revoked', supersede: 409, publish: 409, 'publish provisional': 400 },
    revoked: { revoke: 'same', supersede: 409, publish: 409, 'publish provisional': 400 },
  } as const
  const codes: Readonly<Record<string, string>> = {
    'superseded 409': 'learning_superseded',
    'revoked 409': 'learning_revoked',
  }
  for (const status of ['provisional', 'active', 'superseded', 'revoked'] as const)
    for (const action of ['revoke', 'supersede', 'publish', 'publish provisional'] as const) {
      const before = await ofStatus[status](daemon)
      t.is(before.status, status)
      const { learning_id } = before
      const count = (await request('GET', '/v1/learnings')).body.length
      const candidate = await bring(daemon, news())
      const wish = { supersedes: learning_id, publish_tier: action === 'publish' ? 'active' : 'provisional' }
      const answer =
        action === 'revoke'
          ? await request('POST', `/v1/learnings/${learning_id}/revoke`, { reason: ' Enough. ' })
          : action === 'supersede'
            ? await request('POST', `/v1/learnings/${learning_id}/supersede`, news())
            : await answerOf(daemon, candidate, wish)
      const after = (await request('GET', `/v1/learnings/${learning_id}`)).body
      const all = (await request('GET', '/v1/learnings')).body
      const result = table[status][action]
      const what = `${status} ${action}`
      if (typeof result === 'number') {
        t.is(answer.status, result, what)
        t.is(answer.body.code, codes[`${status} ${result}`] ?? 'invalid_learning', what)
        t.is((await request('GET', `/v1/learning-candidates/${candidate.candidate_id}`)).body.state, 'pending')
      } else t.is(answer.status, 200, what)
      if (typeof result === 'number' || result === 'same') {
        t.deepEqual(after, before, what)
        t.is(all.length, count, what)
        if (result === 'same') t.is(answer.body.learning_id, learning_id, what)
        continue
      }
      t.is(after.status, result, what)
      if (result === 'revoked') t.like(after, { revoked_reason: 'Enough.', superseded_by: before.superseded_by })
      else {
        t.is(after.superseded_by, answer.body.learning_id)
        t.like(answer.body, { supersedes: learning_id, status: 'active', publish_tier: 'active' })
      }
      if (result === 'revoked') t.true(after.revoked_at_ms >= after.published_at_ms)
    }
})

test('learnings-18: what is not said of a replacement is as it was', async (t) => {
  const daemon = await startTestDaemon(t, { config: byHand })
  const { request } = daemon
  const said = {
    kind: 'preference',
    sensitivity: 'sensitive',
    confidence: 12,
    evidence_refs: [{ note: 'seen' }],
    expires_at_ms: 4_000_000_000_000,
    source: { run_id: 'r1' },
  }
  const before = await publish(daemon, { ...said, ...news() })
  const supersede = (wish: object) => request('POST', `/v1/learnings/${before.learning_id}/supersede`, wish)
  const refused: readonly (readonly [wish: object, status: number, code: string])[] = [
    [{ ...news(), scope: { kind: 'session', id: 's1' } }, 409, 'learning_scope_mismatch'],
    [{ ...news(), kind: 'run_summary' }, 400, 'invalid_learning'],
    [{ content: ' ' }, 400, 'invalid_learning'],
    [{}, 400, 'bad_request'],
  ]
  for (const [wish, status, code] of refused) t.deepEqual(codeOf(await supersede(wish)), [status, code])
  t.is((await request('GET', `/v1/learnings/${before.learning_id}`)).body.status, 'active')
  const wish = { ...news(), scope: { kind: 'workspace' } }
  const { body } = await supersede(wish)
  t.like(body, said)
  t.is(body.source_candidate_id, undefined)
  t.deepEqual((await supersede(wish)).body, body, 'a repetition is answered')
  t.deepEqual(codeOf(await supersede(news())), [409, 'learning_superseded'], 'what would be lost is not')
  t.deepEqual(codeOf(await request('POST', `/v1/learnings/none/supersede`, news())), [404, 'learning_not_found'])
  t.deepEqual(codeOf(await request('POST', `/v1/learnings/none/revoke`)), [404, 'learning_not_found'])
})

test('learnings-9, learnings-18: an end that is over is refused, and a later one is to be said', async (t) => {
  let now = 1_900_000_000_000
  const daemon = await startTestDaemon(t, { config: byHand, clock: { ...createClock(), now: () => now } })
  const refused = async (answer: Promise<Answer>): Promise<void> => {
    const { status, body } = await answer
    t.deepEqual([status, body.code, body.errors?.[0]?.path], [400, 'invalid_learning', 'body.expires_at_ms'])
  }
  const lasting = await bring(daemon, news())
  for (const expires_at_ms of [5, now]) await refused(answerOf(daemon, lasting, { expires_at_ms }))
  const ending = await bring(daemon, { ...news(), expires_at_ms: now + 10 })
  now += 10
  await refused(answerOf(daemon, ending))
  const { body: learning } = await answerOf(daemon, ending, { expires_at_ms: now + 10 })
  t.like(learning, { status: 'active', expires_at_ms: now + 10 })
  now += 10
  const supersede = (wish: object) =>
    daemon.request('POST', `/v1/learnings/${learning.learning_id}/supersede`, { ...wish, content: 'It holds on.' })
  await refused(supersede({}))
  await refused(supersede({ expires_at_ms: now }))
  t.is((await daemon.request('GET', `/v1/learnings/${learning.learning_id}`)).body.status, 'active')
  const later = await supersede({ expires_at_ms: now + 10 })
  t.is(later.status, 200)
  now += 10
  t.deepEqual((await supersede({ expires_at_ms: now - 10 })).body, later.body, 'a repetition is answered')
  t.is((await daemon.request('GET', '/v1/learnings')).body.length, 2)
})
