import test from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { longestSettlingMs } from '../../../../plugins/coordination/learnings/operate.js'
import { createLatch } from '../../../support/latch.js'
import { testPlugin } from '../../../support/plugins.js'
import { startTestDaemon } from '../../../support/daemon.js'
import { bring, byHand, learningsLender, publish } from '../../../support/learnings.js'
import { codeOf } from '../../../support/runs.js'
import {
  LearningUsers,
  learningErrors,
  type CandidateDraft,
  type LearningCandidate,
} from '../../../../plugins/coordination/learnings/contract.js'

const scope = { kind: 'workspace', id: 'default' } as const
const draft: CandidateDraft = {
  scope,
  kind: 'fact',
  sensitivity: 'scoped',
  content: ' The window is Friday. ',
  confidence: 98,
  source: { run_id: 'r1', session_id: 's1' },
}

test('learnings-11: the daemon brings the same once, and nothing secret, blank or long', async (t) => {
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  const heard: LearningCandidate[] = []
  const undo = lent.learnings().onProposed((candidate) => heard.push(candidate))
  lent.learnings().onProposed(() => {
    throw new TypeError('a listener that throws')
  })
  const propose = (more: Partial<CandidateDraft> = {}) =>
    lent.commit((tx) => lent.learnings().propose(tx, { ...draft, ...more }))
  const first = await propose()
  t.like(first, { origin: 'daemon', state: 'pending', content: 'The window is Friday.', confidence: 98 })
  t.is(await propose({ content: 'window: friday' }), undefined)
  for (const content of ['', ' ', 'x'.repeat(1601), 'password: hunter2']) t.is(await propose({ content }), undefined)
  t.is(await propose({ content: 'Other.', evidence_refs: [{ note: 'password: hunter2' }] }), undefined)
  const others = [
    await propose({ source: { run_id: 'r2', session_id: 's1' } }),
    await propose({ source: { run_id: 'r1', session_id: 's2' } }),
    await propose({ kind: 'decision' }),
    await propose({ scope: { kind: 'session', id: 's1' } }),
    await propose({ kind: 'run_summary', content: 'It said <redacted>' }),
  ]
  t.false(others.includes(undefined))
  const brought = await bring(daemon)
  t.deepEqual(
    heard.map(({ candidate_id }) => candidate_id),
    [first, ...others, brought].map((one) => one?.candidate_id),
  )
  t.deepEqual((await daemon.request('GET', `/v1/learning-candidates/${first?.candidate_id}`)).body, first)
  await t.throwsAsync(
    lent.commit((tx) => {
      lent.learnings().propose(tx, { ...draft, content: 'Lost.' })
      throw new RangeError('undone')
    }),
  )
  undo()
  await bring(daemon)
  t.is(heard.length, 7)
  t.is((await daemon.request('GET', '/v1/learning-candidates')).body.length, 8)
})

test('learnings-13: what the daemon publishes says so, and ends when the first of two ends', async (t) => {
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  let n = 0
  const act = async (tier: 'active' | 'provisional', ends: readonly (number | undefined)[] = []): Promise<any> => {
    const candidate = await bring(daemon, {
      content: `Fact number ${(n += 1)}`,
      ...(ends[0] !== undefined && { expires_at_ms: ends[0] }),
    })
    return lent.commit((tx) =>
      lent.learnings().publish(tx, candidate, { tier, ...(ends[1] !== undefined && { expires_at_ms: ends[1] }) }),
    )
  }
  const automatic = { policy_decision: 'automatic', policy_actor: 'daemon' }
  t.like(await act('active'), { ...automatic, status: 'active', verification_status: 'verified' })
  t.like(await act('provisional'), { ...automatic, status: 'provisional', verification_status: 'unverified' })
  t.is((await act('active', [5, 4])).expires_at_ms, 4)
  t.is((await act('active', [5, 6])).expires_at_ms, 5)
  t.is((await act('active', [5])).expires_at_ms, 5)
  t.is((await act('active', [undefined, 6])).expires_at_ms, 6)
  t.is((await act('active')).expires_at_ms, undefined)
  const candidate = await bring(daemon, { content: 'fact NUMBER 1.' })
  const publishIt = () => lent.commit((tx) => lent.learnings().publish(tx, candidate, { tier: 'active' }))
  const same = await publishIt()
  t.is(same.content, 'Fact number 1')
  t.deepEqual(await publishIt(), same)
  const rejected = await bring(daemon, { content: 'Never.' })
  await daemon.request('POST', `/v1/learning-candidates/${rejected.candidate_id}/reject`)
  await t.throwsAsync(
    lent.commit((tx) => lent.learnings().publish(tx, rejected, { tier: 'active' })),
    { message: /was rejected/u },
  )
  await daemon.request('POST', '/v1/runtime/learning-policy', { mode: 'enabled' })
  t.is(lent.learnings().policy().mode, 'enabled')
})

test('learnings-20: who rests on an active learning is told in its commit, and a part of the daemon can refuse', async (t) => {
  const told: [string, string, string][] = []
  let fails = false
  const lent = learningsLender((_, { learning_id, status }, why) => {
    if (fails) throw learningErrors.learning_secret()
    told.push([learning_id, status, why])
  })
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  const { request } = daemon
  const all = []
  for (const n of [1, 2, 3]) all.push(await publish(daemon, { content: `Fact number ${n}` }))
  const [first, second, third] = all.map(({ learning_id }): string => learning_id)
  const draftOne = await publish(daemon, { content: 'Fact number 4' }, { publish_tier: 'provisional' })
  fails = true
  for (const [path, body] of [
    [`${first}/revoke`, {}],
    [`${first}/supersede`, { content: 'Other' }],
    ['revoke-matching', { kind: 'fact' }],
  ] as const) {
    t.is((await request('POST', `/v1/learnings/${path}`, body)).status, 400, path)
    t.deepEqual((await request('GET', `/v1/learnings?status=active`)).body, all)
    t.is((await request('GET', '/v1/learnings')).body.length, 4)
  }
  fails = false
  await request('POST', `/v1/learnings/${first}/revoke`)
  await request('POST', `/v1/learnings/${first}/revoke`)
  await request('POST', `/v1/learnings/${second}/supersede`, { content: 'Fact number 5' })
  await request('POST', `/v1/learnings/${second}/revoke`)
  await request('POST', `/v1/learnings/${draftOne.learning_id}/revoke`)
  const wish = { supersedes: third }
  const candidate = await bring(daemon, { content: 'Fact number 6' })
  t.deepEqual(codeOf(await request('POST', `/v1/learning-candidates/${candidate.candidate_id}/publish`, wish))[0], 200)
  t.deepEqual(told, [
    [first, 'revoked', 'revoked'],
    [second, 'superseded', 'superseded'],
    [third, 'superseded', 'superseded'],
  ])
})

test('learnings-29: who waits for a part of the daemon in vain is told that it is done and not yet safe', async (t) => {
  const clock = createClock()
  const sleep = (ms: number, signal?: AbortSignal) => clock.sleep(ms === longestSettlingMs ? 100 : ms, signal)
  const gate = createLatch()
  const user = testPlugin('user', {
    register: (ctx) => ctx.contribute(LearningUsers, { id: 'user', ended: () => {}, settled: () => gate.wait() }),
  })
  const daemon = await startTestDaemon(t, { plugins: [user], config: byHand, clock: { ...clock, sleep } })
  const { request } = daemon
  const { learning_id } = await publish(daemon)
  const revoke = () => request('POST', `/v1/learnings/${learning_id}/revoke`)
  for (const at of ['at first', 'again']) t.deepEqual(codeOf(await revoke()), [503, 'learnings_unsettled'], at)
  t.is((await request('GET', `/v1/learnings/${learning_id}`)).body.status, 'revoked')
  const { fault_count: count } = daemon.daemon.view.plugins().find(({ id }) => id === 'user') ?? {}
  t.is(count, 1)
  gate.open()
  t.is((await revoke()).status, 200)
})
