import test from 'ava'
import { startTestDaemon, type TestDaemon } from '../../../support/daemon.js'
import { bring, byHand, learningsLender, publish } from '../../../support/learnings.js'
import { codeOf } from '../../../support/runs.js'
import type { Learning } from '../../../../plugins/coordination/learnings/contract.js'

const idsOf = async ({ request }: TestDaemon, path: string): Promise<string[]> => {
  const { status, body } = await request('GET', path)
  return status === 200
    ? body.map((one: any) => one.candidate_id ?? one.learning_id)
    : [`${status} ${body.code} ${body.errors[0].path}`]
}
const refusals: readonly (readonly [query: string, field: string])[] = [
  ['scope_id=s1', 'scope_id'],
  ['scope_kind=session', 'scope_id'],
  ['scope_kind=session&scope_id=', 'scope_id'],
  ['scope_kind=persona&scope_id=%20p', 'scope_id'],
  ['scope_kind=workspace&scope_id=other', 'scope_id'],
]

test('learnings-22, learnings-23: candidates by every filter, alone and together', async (t) => {
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  const s1 = { kind: 'session', id: 's1' }
  const made = [
    await bring(daemon, { content: 'Alpha Red' }),
    await bring(daemon, { content: 'Beta', scope: s1 }),
    await bring(daemon, { content: 'Gamma', scope: s1, kind: 'decision', source: { run_id: 'Run-7' } }),
    await bring(daemon, { content: 'Delta', kind: 'decision' }),
  ]
  const [alpha, beta, gamma, delta] = made.map(({ candidate_id }): string => candidate_id)
  await daemon.request('POST', `/v1/learning-candidates/${delta}/reject`)
  const cases: readonly (readonly [query: string, found: readonly (string | undefined)[]])[] = [
    ['', [alpha, beta, gamma, delta]],
    ['scope_kind=session&scope_id=s1', [beta, gamma]],
    ['scope_kind=workspace', [alpha, delta]],
    ['scope_kind=workspace&scope_id=default', [alpha, delta]],
    ['scope_kind=project&scope_id=s1', []],
    ['kind=decision', [gamma, delta]],
    ['state=pending', [alpha, beta, gamma]],
    ['state=rejected', [delta]],
    ['state=published', []],
    ['kind=decision&state=pending', [gamma]],
    ['scope_kind=session&scope_id=s1&kind=fact&state=pending', [beta]],
    ['query=alpha%20r', [alpha]],
    ['query=SESSION:s1', [beta, gamma]],
    ['query=DECI', [gamma, delta]],
    ['query=run-7', [gamma]],
    [`query=${delta?.toUpperCase()}`, [delta]],
    ['query=%20', [alpha, beta, gamma, delta]],
    ['query=session&kind=fact', [beta]],
  ]
  for (const [query, found] of cases) t.deepEqual(await idsOf(daemon, `/v1/learning-candidates?${query}`), found, query)
  for (const [query, field] of refusals)
    t.deepEqual(
      await idsOf(daemon, `/v1/learning-candidates?${query}`),
      [`400 invalid_learning_filter query.${field}`],
      query,
    )
  for (const query of ['state=open', 'kind=x', 'scope_kind=x&scope_id=x', 'status=active'])
    t.is((await daemon.request('GET', `/v1/learning-candidates?${query}`)).status, 400, query)
  for (const filter of ['', '&kind=decision', '&query=a']) {
    const whole = await idsOf(daemon, `/v1/learning-candidates?${filter.slice(1)}`)
    const paged: string[] = []
    for (let cursor = ''; ;) {
      const { body } = await daemon.request('GET', `/v1/learning-candidates?page=true&limit=1${filter}${cursor}`)
      t.is(body.pagination.total_count, whole.length)
      paged.push(...body.items.map((one: any) => one.candidate_id))
      if (!body.pagination.has_more) break
      cursor = `&cursor=${encodeURIComponent(body.pagination.next_cursor)}`
    }
    t.deepEqual(paged, whole, filter)
  }
})

test('learnings-22, learnings-23: learnings by every filter, alone and together', async (t) => {
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  const byRule = async (content: string, rule: string): Promise<Learning> => {
    const candidate = await bring(daemon, { content })
    return lent.commit((tx) => {
      const matched_rule_name = rule
      const action = 'publish_active'
      lent.learnings().review(tx, candidate, {
        mode: 'enabled',
        action,
        reviewed_at_ms: 1,
        matched_rule_name,
        reason: 'It fits.',
      })
      return lent.learnings().publish(tx, candidate, { tier: 'active' })
    })
  }
  const p1 = { kind: 'project', id: 'p1' }
  const made = [
    await publish(daemon, { content: 'Alpha Red' }),
    await publish(daemon, { content: 'Beta', scope: p1 }, { publish_tier: 'provisional' }),
    await byRule('Gamma', 'Facts '),
    await byRule('Delta', 'facts'),
    await byRule('Epsilon', 'others'),
  ]
  const [alpha, beta, gamma, delta, epsilon] = made.map(({ learning_id }): string => learning_id)
  await daemon.request('POST', `/v1/learnings/${delta}/revoke`)
  const cases: readonly (readonly [query: string, found: readonly (string | undefined)[]])[] = [
    ['', [alpha, beta, gamma, delta, epsilon]],
    ['scope_kind=project&scope_id=p1', [beta]],
    ['status=active', [alpha, gamma, epsilon]],
    ['status=provisional', [beta]],
    ['status=revoked', [delta]],
    ['status=superseded', []],
    ['policy_decision=manual', [alpha, beta]],
    ['policy_decision=automatic', [gamma, delta, epsilon]],
    ['policy_decision=escalated', []],
    ['policy_actor=OPERATOR', [alpha, beta]],
    ['policy_actor=Daemon', [gamma, delta, epsilon]],
    ['policy_actor=nobody', []],
    ['matched_rule_name=FACTS', [gamma, delta]],
    ['matched_rule_name=%20facts%20&status=active', [gamma]],
    ['matched_rule_name=none', []],
    ['matched_rule_name=others&policy_actor=operator', []],
    ['matched_rule_name=facts&scope_kind=project&scope_id=p1', []],
    ['query=RED&status=active', [alpha]],
    ['query=project:p1', [beta]],
    ['kind=fact&query=LTA', [delta]],
    ['kind=decision', []],
  ]
  for (const [query, found] of cases) t.deepEqual(await idsOf(daemon, `/v1/learnings?${query}`), found, query)
  for (const [query, field] of refusals)
    t.deepEqual(await idsOf(daemon, `/v1/learnings?${query}`), [`400 invalid_learning_filter query.${field}`], query)
  const matching = (body: object) => daemon.request('POST', `/v1/learnings/revoke-matching`, body)
  t.deepEqual(codeOf(await matching({ scope_id: 's1', reason: 'x' })), [400, 'invalid_learning_filter'])
  t.deepEqual((await matching({ kind: 'decision' })).body, [])
  const { body } = await matching({ matched_rule_name: 'facts', reason: 'Too wide.' })
  t.is(body.length, 1)
  t.like(body[0], { learning_id: gamma, status: 'revoked', revoked_reason: 'Too wide.' })
  t.deepEqual(await idsOf(daemon, `/v1/learnings?status=active`), [alpha, epsilon])
})

test('learnings-21: so many at once, in order, until nothing fits; without a filter nothing', async (t) => {
  const lent = learningsLender()
  const daemon = await startTestDaemon(t, { plugins: lent.plugins, config: byHand })
  const { request } = daemon
  const first = await publish(daemon)
  const { learnings } = lent.learnings()
  const idOf = (n: number): string => `m${String(n).padStart(5, '0')}`
  await lent.commit((tx) => {
    for (let n = 0; n < 1_100; n += 1) tx.put(learnings, { ...first, learning_id: idOf(n), content: `Number ${n}` })
  })
  const matching = (body: object) => request('POST', `/v1/learnings/revoke-matching`, body)
  for (const body of [{}, { reason: 'All.' }, { query: ' ' }, { policy_actor: '', matched_rule_name: ' ' }])
    t.deepEqual(codeOf(await matching(body)), [400, 'invalid_learning_filter'], JSON.stringify(body))
  t.is(learnings.count('status', 'active'), 1_101)
  const answers = []
  for (const _ of [1, 2, 3]) answers.push((await matching({ query: 'number' })).body)
  t.deepEqual(
    answers.map(({ length }) => length),
    [1_000, 100, 0],
  )
  t.deepEqual(
    answers.flat().map(({ learning_id }) => learning_id),
    Array.from({ length: 1_100 }, (_, n) => idOf(n)),
  )
  const long = 'x'.repeat(1_600)
  await lent.commit((tx) => {
    const evidence_refs = Array.from({ length: 16 }, () => ({ note: 'y'.repeat(400) }))
    for (let n = 2_000; n < 2_900; n += 1)
      tx.put(learnings, { ...first, learning_id: idOf(n), content: `${long} ${n}`, evidence_refs })
  })
  const some = (await matching({ query: 'xxx' })).body.length
  t.true(some > 300 && some < 900, String(some))
  t.is((await matching({ query: 'xxx' })).body.length, Math.min(some, 900 - some))
})
